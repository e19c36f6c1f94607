package redact

import "strings"

// form is a token that can be told by its own beginning: vendors give them one, so that scanners find
// them. The forms are those that vendors document and that gitleaks 8.30.1 looks for
// (https://github.com/gitleaks/gitleaks/blob/v8.30.1/config/gitleaks.toml), and those of the services that
// training jobs use.
type form struct {
	prefix string
	of     *bytesOf // what follows
	least  int      // how much of it
	// plain says that the prefix is an ordinary word as well: what follows has to hold a digit or a capital.
	plain bool
	pair  bool // the secret half stands beside it
}

var forms = []form{
	// AWS, and what speaks its protocol
	{prefix: "AKIA", of: &alnum, least: 16, pair: true},
	{prefix: "ASIA", of: &alnum, least: 16, pair: true},
	{prefix: "ABIA", of: &alnum, least: 16},
	{prefix: "ACCA", of: &alnum, least: 16},
	{prefix: "ABSK", of: &base64s, least: 60},
	{prefix: "bedrock-api-key-", of: &base64s, least: 20},
	{prefix: "IQoJb3JpZ2luX2Vj", of: &base64s, least: 40},
	// Alibaba, Tencent, Volcano Engine
	{prefix: "LTAI", of: &alnum, least: 12},
	{prefix: "AKID", of: &alnum, least: 28},
	{prefix: "AKLT", of: &alnum, least: 20},
	// Hugging Face, NVIDIA, Weights and Biases, Replicate, models behind an API
	{prefix: "hf_", of: &alnum, least: 16},
	{prefix: "api_org_", of: &alnum, least: 20},
	{prefix: "nvapi-", of: &urlSafe, least: 20},
	{prefix: "r8_", of: &alnum, least: 20, plain: true},
	{prefix: "sk-", of: &urlSafe, least: 16, plain: true},
	{prefix: "gsk_", of: &alnum, least: 20, plain: true},
	{prefix: "pplx-", of: &alnum, least: 20, plain: true},
	{prefix: "xai-", of: &alnum, least: 30, plain: true},
	{prefix: "fw_", of: &alnum, least: 20, plain: true},
	{prefix: "wandb_v1_", of: &word, least: 20},
	// GitHub, GitLab, Bitbucket and what builds
	{prefix: "ghp_", of: &alnum, least: 20},
	{prefix: "gho_", of: &alnum, least: 20},
	{prefix: "ghu_", of: &alnum, least: 20},
	{prefix: "ghs_", of: &alnum, least: 20},
	{prefix: "ghr_", of: &alnum, least: 20},
	{prefix: "github_pat_", of: &word, least: 20},
	{prefix: "glpat-", of: &dotted, least: 16},
	{prefix: "glptt-", of: &urlSafe, least: 16},
	{prefix: "gldt-", of: &urlSafe, least: 16},
	{prefix: "glrt-", of: &dotted, least: 16},
	{prefix: "glcbt-", of: &urlSafe, least: 16},
	{prefix: "glft-", of: &urlSafe, least: 16},
	{prefix: "glffct-", of: &urlSafe, least: 16},
	{prefix: "glimt-", of: &urlSafe, least: 16},
	{prefix: "glagent-", of: &urlSafe, least: 16},
	{prefix: "gloas-", of: &urlSafe, least: 16},
	{prefix: "glsoat-", of: &urlSafe, least: 16},
	{prefix: "GR1348941", of: &urlSafe, least: 16},
	{prefix: "_gitlab_session=", of: &alnum, least: 16},
	{prefix: "ATATT3", of: &tokenish, least: 40},
	{prefix: "ATCTT3", of: &tokenish, least: 40},
	{prefix: "ATBB", of: &alnum, least: 24},
	{prefix: "ccipat_", of: &word, least: 30},
	{prefix: "bkua_", of: &hex, least: 30},
	{prefix: "sgp_", of: &word, least: 30, plain: true},
	{prefix: "sonar_", of: &alnum, least: 30, plain: true},
	{prefix: "squ_", of: &hex, least: 40},
	{prefix: "sqp_", of: &hex, least: 40},
	{prefix: "sqa_", of: &hex, least: 40},
	// Packages and registries
	{prefix: "npm_", of: &alnum, least: 30},
	{prefix: "pypi-", of: &urlSafe, least: 40},
	{prefix: "dckr_pat_", of: &urlSafe, least: 20},
	{prefix: "dckr_oat_", of: &urlSafe, least: 20},
	{prefix: "rubygems_", of: &hex, least: 40},
	{prefix: "CLOJARS_", of: &alnum, least: 40},
	{prefix: "AKCp", of: &alnum, least: 60},
	{prefix: "cmVmd", of: &alnum, least: 50},
	{prefix: "oy2", of: &alnum, least: 40, plain: true},
	// Google
	{prefix: "AIza", of: &urlSafe, least: 30},
	{prefix: "ya29.", of: &urlSafe, least: 20},
	{prefix: "GOCSPX-", of: &urlSafe, least: 20},
	{prefix: "1//0", of: &urlSafe, least: 30},
	// Chat and mail
	{prefix: "xoxb-", of: &urlSafe, least: 10},
	{prefix: "xoxa-", of: &urlSafe, least: 10},
	{prefix: "xoxp-", of: &urlSafe, least: 10},
	{prefix: "xoxr-", of: &urlSafe, least: 10},
	{prefix: "xoxs-", of: &urlSafe, least: 10},
	{prefix: "xoxe-", of: &urlSafe, least: 10},
	{prefix: "xoxe.", of: &dotted, least: 10},
	{prefix: "xapp-", of: &urlSafe, least: 20},
	{prefix: "SG.", of: &dotted, least: 40},
	{prefix: "key-", of: &hex, least: 32},
	{prefix: "pubkey-", of: &hex, least: 32},
	{prefix: "xkeysib-", of: &urlSafe, least: 40},
	{prefix: "EZAK", of: &alnum, least: 40},
	{prefix: "EZTK", of: &alnum, least: 40},
	{prefix: "EAAM", of: &alnum, least: 60},
	{prefix: "EAAC", of: &alnum, least: 60},
	{prefix: "EAAA", of: &urlSafe, least: 40},
	// Money
	{prefix: "sk_live_", of: &alnum, least: 10},
	{prefix: "sk_test_", of: &alnum, least: 10},
	{prefix: "sk_prod_", of: &alnum, least: 10},
	{prefix: "rk_live_", of: &alnum, least: 10},
	{prefix: "rk_test_", of: &alnum, least: 10},
	{prefix: "rk_prod_", of: &alnum, least: 10},
	{prefix: "whsec_", of: &base64s, least: 24},
	{prefix: "sq0csp-", of: &urlSafe, least: 20},
	{prefix: "sq0atp-", of: &urlSafe, least: 20},
	{prefix: "shpat_", of: &hex, least: 30},
	{prefix: "shpss_", of: &hex, least: 30},
	{prefix: "shpca_", of: &hex, least: 30},
	{prefix: "shppa_", of: &hex, least: 30},
	{prefix: "FLWSECK_TEST-", of: &urlSafe, least: 12},
	{prefix: "FLWPUBK_TEST-", of: &urlSafe, least: 12},
	{prefix: "duffel_test_", of: &tokenish, least: 40},
	{prefix: "duffel_live_", of: &tokenish, least: 40},
	{prefix: "live_", of: &tokenish, least: 40, plain: true},
	{prefix: "shippo_live_", of: &hex, least: 40},
	{prefix: "shippo_test_", of: &hex, least: 40},
	// Platforms
	{prefix: "dapi", of: &urlSafe, least: 32},
	{prefix: "hvs.", of: &urlSafe, least: 20},
	{prefix: "hvb.", of: &urlSafe, least: 20},
	{prefix: "dop_v1_", of: &hex, least: 40},
	{prefix: "doo_v1_", of: &hex, least: 40},
	{prefix: "dor_v1_", of: &hex, least: 40},
	{prefix: "glsa_", of: &word, least: 32},
	{prefix: "glc_", of: &base64s, least: 32},
	{prefix: "sntrys_", of: &tokenish, least: 40},
	{prefix: "sntryu_", of: &hex, least: 40},
	{prefix: "pul-", of: &hex, least: 40},
	{prefix: "tskey-", of: &urlSafe, least: 16},
	{prefix: "NRAK-", of: &alnum, least: 20},
	{prefix: "NRJS-", of: &alnum, least: 16},
	{prefix: "NRII-", of: &urlSafe, least: 16},
	{prefix: "dp.pt.", of: &alnum, least: 40},
	{prefix: "dp.st.", of: &dotted, least: 40},
	{prefix: "dp.sa.", of: &alnum, least: 40},
	{prefix: "dt0c01.", of: &dotted, least: 60},
	{prefix: "hrku-", of: &urlSafe, least: 40},
	{prefix: "flyv1_", of: &base64s, least: 40},
	{prefix: "fo1_", of: &urlSafe, least: 40},
	{prefix: "fm1r_", of: &base64s, least: 60},
	{prefix: "fm1a_", of: &base64s, least: 60},
	{prefix: "fm2_", of: &base64s, least: 60},
	{prefix: "v1.0-", of: &urlSafe, least: 100},
	{prefix: "lin_api_", of: &alnum, least: 30},
	{prefix: "PMAK-", of: &urlSafe, least: 40},
	{prefix: "figd_", of: &urlSafe, least: 30},
	{prefix: "figdr_", of: &urlSafe, least: 30},
	{prefix: "ntn_", of: &alnum, least: 40},
	{prefix: "secret_", of: &dotted, least: 40},
	{prefix: "K00", of: &alnum, least: 28, plain: true},
	{prefix: "ms-", of: &urlSafe, least: 36, plain: true},
	{prefix: "tk-us-", of: &urlSafe, least: 40},
	{prefix: "p8e-", of: &alnum, least: 30},
	{prefix: "fio-u-", of: &tokenish, least: 40},
	{prefix: "pscale_tkn_", of: &tokenish, least: 30},
	{prefix: "pscale_oauth_", of: &tokenish, least: 30},
	{prefix: "pscale_pw_", of: &tokenish, least: 30},
	{prefix: "rdme_", of: &alnum, least: 60},
	{prefix: "sdp-", of: &urlSafe, least: 60, plain: true},
	{prefix: "dnkey-", of: &tokenish, least: 60},
	{prefix: "t1.", of: &dotted, least: 60, plain: true},
	{prefix: "PRMA", of: &alnum, least: 40},
	{prefix: "settlemint_", of: &alnum, least: 8, plain: true},
	{prefix: "sm_aat_", of: &alnum, least: 12},
	{prefix: "sm_pat_", of: &alnum, least: 12},
	{prefix: "sm_sat_", of: &alnum, least: 12},
	{prefix: "ops_eyJ", of: &base64s, least: 40},
	{prefix: "age-secret-key-", of: &alnum, least: 50},
	{prefix: "CFPAT-", of: &urlSafe, least: 40},
	{prefix: "4b1d", of: &alnum, least: 38, plain: true},
	{prefix: "pat.", of: &dotted, least: 60, plain: true},
	{prefix: "sat.", of: &dotted, least: 60, plain: true},
	{prefix: "ZXlKaGJHY2lPaU", of: &base64s, least: 20}, // base64 of a JWT: of {"alg":, {"typ": and {"kid":
	{prefix: "ZXlKMGVYQWlPaU", of: &base64s, least: 20},
	{prefix: "ZXlKcmFXUWlPaU", of: &base64s, least: 20},
	{prefix: "access-sandbox-", of: &urlSafe, least: 36}, // Plaid
	{prefix: "access-development-", of: &urlSafe, least: 36},
	{prefix: "access-production-", of: &urlSafe, least: 36},
	{prefix: "pnu_", of: &alnum, least: 30, plain: true},
	{prefix: "sha256~", of: &urlSafe, least: 40},
	{prefix: "API-", of: &uppersAndDigits, least: 25, plain: true},
	{prefix: "xoxo-", of: &urlSafe, least: 10},
	{prefix: "ico-", of: &alnum, least: 32},
	{prefix: "s-s4t2", of: &urlSafe, least: 66}, // 42
}

// byForm masks a token of a form, whose beginning stands at a place.
func byForm(s *scan, f *form, at int) {
	end := at + len(f.prefix)
	if insideWord(s.text, at) && !s.masksUpTo(at) {
		return
	}
	to := s.run(f.of, end)
	if to-end < f.least {
		return
	}
	if told := s.text[end:min(to, end+256)]; f.plain && !mixed(told) && (len(told) < 24 || !alnum.only(told)) {
		return
	}
	for to < len(s.text) && s.text[to] == '=' {
		to++
	}
	s.mask(at, to)
	if f.pair { // what is given out with it is told by its length only
		besideKey(s, to)
	}
}

// insideWord says that a word goes on across a place.
func insideWord(text string, at int) bool {
	return at > 0 && (alnum[text[at-1]] || text[at-1] == '_') && !percent(text, at) && (at < 2 || text[at-2] != '\\')
}

// percent says that what stands before a place is a percent-encoded byte.
func percent(text string, at int) bool {
	return at >= 3 && text[at-3] == '%' && hex[text[at-2]] && hex[text[at-1]]
}

// besideKey masks the secret access key that stands beside an AWS access key ID.
func besideKey(s *scan, at int) {
	for end := min(len(s.text), at+200); at < end; {
		to := s.run(&base64s, at)
		if to-at == 40 && mixed(s.text[at:to]) && uppers.has(s.text[at:to]) {
			s.mask(at, to)
			return
		}
		at = to + 1
	}
}

// mixed says that a text holds a digit or a capital between others: no word does.
func mixed(text string) bool {
	return digits.has(text) || uppers.has(text) && lowers.has(text)
}

// byJWT masks a JSON Web Token: three base64url parts, the first of which begins with {" .
func byJWT(s *scan, at int) int {
	if insideWord(s.text, at) {
		return at
	}
	head := urlSafe.run(s.text, at)
	if head-at < 11 || head == len(s.text) || s.text[head] != '.' {
		if head-at >= 70 { // a key of Grafana, or half a token
			s.mask(at, s.run(&tokenish, head))
		}
		return head
	}
	body := urlSafe.run(s.text, head+1)
	if body-head-1 < 4 {
		return body
	}
	end := body
	if end < len(s.text) && s.text[end] == '.' {
		end = urlSafe.run(s.text, end+1)
	}
	s.mask(at, end)
	return end
}

// around masks the word around a mark that stands within a token.
func around(of *bytesOf, before, behind int) func(*scan, int) int {
	return func(s *scan, at int) int {
		from, to := of.runBack(s.text, at), of.run(s.text, at)
		if at-from >= before && to-at >= behind {
			s.mask(max(from, 0), to)
		}
		return to
	}
}

// byAirtable masks pat, 14 letters and digits, a point and 64 hexadecimal digits
// (https://airtable.com/developers/web/guides/personal-access-tokens).
func byAirtable(s *scan, at int) int {
	if insideWord(s.text, at) {
		return at
	}
	dot := alnum.run(s.text, at)
	if dot-at != len("pat")+14 || dot == len(s.text) || s.text[dot] != '.' {
		return dot
	}
	to := hex.run(s.text, dot+1)
	if to-dot-1 == 64 {
		s.mask(at, to)
	}
	return to
}

// byOldVault masks a token of Vault before 1.10: s, a point and 24 letters and digits, which no method has for a name
// (https://developer.hashicorp.com/vault/docs/concepts/tokens#token-prefixes).
func byOldVault(s *scan, at int) int {
	if insideWord(s.text, at) {
		return at
	}
	from := at + len("s.")
	to := alnum.run(s.text, from)
	if v := s.text[from:to]; len(v) == 24 && uppers.has(v) && lowers.has(v) && digits.has(v) && (to == len(s.text) || s.text[to] != '(' && s.text[to] != '_') {
		s.mask(at, to)
	}
	return to
}

// byTwilio masks SK and 32 hexadecimal digits, and the secret behind an account.
func byTwilio(s *scan, at int) int {
	to := hex.run(s.text, at+2)
	if at > 0 && alnum[s.text[at-1]] || to-at != 34 || to < len(s.text) && alnum[s.text[to]] {
		return to
	}
	if lower[s.text[at]] == 'a' { // an account is public; what may follow it is not
		if end := hex.run(s.text, min(to+1, len(s.text))); to < len(s.text) && s.text[to] == ':' && end-to == 33 {
			s.mask(to+1, end)
		}
		return to
	}
	s.mask(at, to)
	return to
}

// hooks are addresses whose path is the secret.
var hooks = []string{
	"hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/", "/open-apis/bot/v2/hook/",
	"api.telegram.org/bot", "webhook.office.com/webhookb2/", "hooks.zapier.com/hooks/catch/", "/bot/hook/",
}

func byHook(s *scan, at int) int {
	for _, h := range hooks {
		if beginsWith(s.text[at:], h) {
			from := at + len(h)
			to := from
			for to < len(s.text) && !blanks[s.text[to]] && !strings.ContainsRune("\"'<>`\\,;)]}", rune(s.text[to])) {
				to++
			}
			if to-from >= 8 {
				s.mask(from, to)
			}
			return to
		}
	}
	return at
}

// byKeyBody masks base64 that begins as a private key does: PKCS 1, PKCS 8 and SEC 1 in DER, OpenSSH's own, and
// base64 of a PEM block, as kubeconfig has it.
func byKeyBody(s *scan, at int) int {
	if insideWord(s.text, at) {
		return at
	}
	to := base64s.run(s.text, at)
	body := s.text[at:to]
	switch {
	case len(body) < 24:
		return to
	case strings.HasPrefix(body, "MII") && (strings.HasPrefix(body[5:], "IBAA") || strings.HasPrefix(body[6:], "IBAA") || strings.HasPrefix(body[6:], "IBAD")),
		strings.HasPrefix(body, "MHcCAQEE"), strings.HasPrefix(body, "MC4CAQAw"), strings.HasPrefix(body, "MIGHAgEAMBMG"), strings.HasPrefix(body, "MIGkAgEBBD"),
		strings.HasPrefix(body, "b3BlbnNzaC1rZXktdjE"):
	case strings.HasPrefix(body, "LS0tLS1CRUdJTi") && !strings.HasPrefix(body, "LS0tLS1CRUdJTiBDRVJU") && !strings.HasPrefix(body, "LS0tLS1CRUdJTiBQVUJMSUMg"):
	default:
		return to
	}
	for to < len(s.text) && s.text[to] == '=' {
		to++
	}
	s.mask(at, to)
	return to
}

// byPEM masks a private key that stands on one line, or the beginning of one.
func byPEM(s *scan, at int) int {
	begin := max(0, at-40)
	i := strings.LastIndex(s.text[begin:at], "-----BEGIN ")
	if i < 0 {
		return at
	}
	begin += i
	rest := s.text[at:]
	i = -1
	if !s.noEnd {
		i = strings.Index(rest, "-----END ")
	}
	if s.noEnd = i < 0; i >= 0 {
		end := at + i + len("-----END ")
		if j := strings.Index(s.text[end:], "-----"); j >= 0 && j < 50 {
			end += j + len("-----")
		}
		s.mask(begin, end)
		return end
	}
	// The rest of the line is the key, or nothing; a quotation ends with its quote.
	end := len(s.text)
	if i := strings.IndexAny(rest, `"'`); i >= 0 {
		end = at + i
	}
	s.mask(begin, end)
	return end
}
