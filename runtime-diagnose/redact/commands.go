package redact

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// window is how far behind a gate a rule with a regular expression looks.
const window = 2 << 10

// groups masks what the groups of a regular expression match, from a gate on.
func groups(re *lazy.Regexp) func(*scan, int) int {
	return func(s *scan, at int) int {
		end := min(len(s.text), at+window)
		for _, m := range re.FindAllStringSubmatchIndex(s.text[at:end], -1) {
			for g := 2; g < len(m); g += 2 {
				if m[g] >= 0 && m[g] < m[g+1] && !placeholder(s.text[at+m[g]:at+m[g+1]]) {
					s.mask(at+m[g], at+m[g+1])
				}
			}
		}
		return end
	}
}

// value is a word of a command line, in quotes or without; the groups are what is masked.
const value = `(?:'([^']+)'|"([^"]+)"|([^\s'"|;&<>-][^\s'"|;&<>]*))`

// command masks what the groups of an expression match, behind a command in whose line one of some texts stands.
func command(pattern string, needs ...string) func(*scan, int) int {
	find := groups(lazy.MustCompile(strings.ReplaceAll(pattern, "VALUE", value)))
	return func(s *scan, at int) int {
		end := min(len(s.text), at+window)
		if len(needs) > 0 && !slices.ContainsFunc(needs, func(n string) bool { return strings.Contains(s.text[at:end], n) }) {
			return end
		}
		return find(s, at)
	}
}

// nameGates stand in every name of a secret.
var nameGates = []string{"pass", "pwd", "psw", "secret", "cred", "key", "token", "auth", "session", "sid", "csrf", "xsrf", "cookie", "otp", "sas", "jwt", "dockerc"}

// lineGates stand in those names of a secret that have none of the others, and that Lines knows and no rule: so a line in which no
// gate stands names no secret. The second is the sign for Kelvin, of which the small letter is a k.
var lineGates = []string{"bearer", "\u212a"}

// rules is the one table of what secrets look like, beside the forms.
var rules = []rule{
	{nameGates, byName},
	{lineGates, func(s *scan, _ int) int { return len(s.text) }},
	{[]string{"eyj"}, byJWT},
	{[]string{"mii", "mhccaqee", "mc4caqaw", "b3blbnnzac1rzxktdje", "ls0tls1crudjti"}, byKeyBody},
	{[]string{"private key"}, byPEM},
	{[]string{"://"}, byURL},
	{[]string{"cookie"}, byCookie},
	{[]string{"authorization"}, byAuthorization},
	{[]string{"bearer ", "basic "}, byScheme},
	{[]string{"sig=", "signature=", "security-token=", "credential=", "accesskeyid="}, bySignature},
	{[]string{"hooks.slack.com/", "discord.com/api", "discordapp.com/api", "/open-apis/bot", "api.telegram.org/bot", "webhook.office.com/", "hooks.zapier.com/", "/bot/hook/"}, byHook},
	{hexGates("sk", "ac"), byTwilio},
	{[]string{"0q~", "1q~", "2q~", "3q~", "4q~", "5q~", "6q~", "7q~", "8q~", "9q~"}, around(&tokenish, 3, 30)}, // Microsoft Entra
	{[]string{".atlasv1."}, around(&tokenish, 10, 40)},                                                         // HCP Terraform
	{[]string{".acc_", ".acc-"}, around(&tokenish, 10, 40)},                                                    // Authress
	{[]string{"_mmk"}, around(&word, 36, 4)},                                                                   // MaxMind
	{[]string{"pat"}, byAirtable},
	{alnumGates("s."), byOldVault},
	{encodedGates(), byEncoding},
	{wordGates(), byWord},
	{[]string{"@tcp(", "@unix("}, byDSN},
	// Options of commands whose secrets have no name.
	{[]string{"mysql", "mariadb", "mycli"}, command(`^[a-z]*\b[^|;]*?\s-p(?:'([^']+)'|"([^"]+)"|([^\s'"-]\S*))`, "-p")},
	{
		[]string{"docker login", "podman login", "nerdctl login", "buildah login", "skopeo login", "registry login", "repo add", "az login", "oc login", "mongo ", "mongosh ", "mongodump ", "sshpass", "clickhouse-client"},
		command(`^[^|;]*?\s-p[ =]?VALUE`, "-p"),
	},
	{[]string{" login "}, command(`^ login\s[^|;]*?\s(?:-u|--user\w*)[ =]?\S+\s[^|;]*?-p[ =]?VALUE`, "-p")},
	{[]string{"7z ", "7za ", "rar "}, command(`^[a-z0-9]+\s[^|;]*?\s?-p(?:'([^']+)'|"([^"]+)"|([^\s'"-]\S*))`, "-p")},
	{[]string{"zip "}, command(`^zip\s[^|;]*?-P[ =]?VALUE`, "-P")},
	{[]string{"b2 authorize", "b2 account"}, command(`^b2 (?:authorize[-_]account|account authorize)\s+(?:-\S+\s+)*\S+\s+VALUE`)},
	{[]string{"credentials(", "auth(", "client(", "login("}, byCall},
	{digitGates("/bot"), groups(lazy.MustCompile(`(?i)^/bot(\d{6,12}:[\w-]{30,})`))}, // Telegram
	// ~/.pgpass (https://www.postgresql.org/docs/current/libpq-pgpass.html)
	{[]string{":5432:", ":5433:", ":6432:", ":*:"}, groups(lazy.MustCompile(`^:(?:\d+|\*):[\w*-]+:[\w.*@-]+:(\S{6,})`))},
	// What passwords are kept as: crypt(5), Apache's, LDAP's.
	{[]string{"$1$", "$5$", "$6$", "$7$", "$y$", "$2a$", "$2b$", "$2y$", "$apr1$", "$argon2"}, byHash},
	{[]string{"{ssha", "{sha", "{smd5}", "{md5}", "{crypt}", "{pbkdf2", "{bcrypt}", "{argon2}"}, groups(lazy.MustCompile(`^(?i)(\{[a-z0-9-]+\}[./A-Za-z0-9$=,+-]{16,})`))},
	{[]string{"redis-cli"}, command(`^redis-cli\b[^|;]*?\s-a\s+VALUE`, "-a")},
	{[]string{"curl "}, command(`^(?i:curl)\b[^|;]*?\s(?:-u|--user|--proxy-user)[ =]?(?:'[^':]+:([^']+)'|"[^":]+:([^"]+)"|[^\s'":]+:([^\s'"]+)|["']?([^\s'":]{24,}):(?:["'\s]|$))`, "-u", "user")},
	{[]string{"openssl"}, command(`^openssl\b[^|;]*?(?:\spass:(\S+)|\s-k\s+VALUE)`, " pass:", "-k")},
	{[]string{" pass:"}, command(`^ pass:(\S+)`)},
	{[]string{"smbclient"}, command(`^smbclient\b[^|;]*?\s-U\s*[^\s%]+%(\S+)`, "-U")},
	{[]string{"ldapsearch", "ldapmodify", "ldapadd", "ldapwhoami"}, command(`^ldap[a-z]+\b[^|;]*?\s-w\s+VALUE`, "-w")},
	{[]string{"htpasswd"}, command(`^htpasswd\b[^|;]*?\s-\w*b\w*\s+\S+\s+\S+\s+VALUE`)},
	{[]string{"net use "}, command(`^net use\b[^|;]*?/user:\S+\s+VALUE`)},
	{[]string{"mc alias", "mc config"}, command(`^mc (?:alias set|config host add)\s+\S+\s+\S+\s+VALUE\s+VALUE`)},
	{[]string{"ossutil", "obsutil", "coscli"}, command(`^[a-z0-9]+\b[^|;]*?\s-k[ =]VALUE`)},
	{[]string{"ossutil", "obsutil", "coscli"}, command(`^[a-z0-9]+\b[^|;]*?\s-i[ =]VALUE`)},
	{[]string{"a3-"}, groups(lazy.MustCompile(`^(A3-[A-Z0-9]{6}-[A-Z0-9]{6,11}(?:-[A-Z0-9]{5}){3,4})`))}, // 1Password
	{[]string{"account.key."}, command(`^(?i:account\.key\.)[\w.-]+\s*[=:]\s*VALUE`)},                    // Azure's, of Hadoop
	{[]string{"wandb login"}, command(`^wandb login\b[^|;]*?\s([0-9a-f]{40}|wandb_v1_\w+)`)},
	{[]string{"vault login"}, command(`^vault login\s+(?:-\S+\s+)*([a-z]{1,3}\.[\w-]{20,})`)},
	{[]string{"unseal key"}, command(`^(?i:unseal key)s?\s*\d*\s*:\s*(\S+)`)},
	{[]string{"<<<"}, byHereString},
	{[]string{"echo "}, command(`^echo\s+(?:-n\s+)?VALUE\s*\|\s*(?:sudo\s+-\w*S|kinit\b|passwd\s+--stdin|\S[^|]*--password-stdin|\S*cryptsetup)`, "|")},
	{[]string{"ipmitool", "ipmipower", "ipmi-sensors"}, command(`^ipmi[a-z-]+\b[^|;]*?\s-[Pp][ =]?VALUE`, "-P", "-p")},
	{[]string{"etcdctl", "influx "}, command(`^[a-z]+\b[^|;]*?\s--user[ =](?:'[^':]+:([^']+)'|"[^":]+:([^"]+)"|[^\s'":]+:([^\s'"]+))`, "--user")},
	{[]string{"lftp "}, command(`^lftp\b[^|;]*?\s-u\s*[^\s,]+,(\S+)`, "-u")},
	{[]string{"converttosecurestring", "convertto-securestring"}, command(`^(?i:convertto-?securestring)\s+(?:-string\s+)?VALUE`)},
	{[]string{"from-literal"}, command(`^from-literal[= ]["']?[^=\s]+=VALUE`)},
	{[]string{"auth plain ", "auth login "}, command(`^(?i:auth (?:plain|login))\s+([A-Za-z0-9+/]{8,}=*)`)},
	// A key of anaconda.org in an address, and the token of a node of k3s (https://docs.k3s.io/cli/token).
	{[]string{"/t/"}, groups(lazy.MustCompile(`^/t/((?:[a-z]{2}-)?[0-9a-f][0-9a-f-]{19,})(?:/|\s|$)`))},
	{[]string{"access_token="}, groups(lazy.MustCompile(`^access_token=(\d{15,16}(?:\||%)[\w-]{20,40})`))},                           // of an app of Facebook
	{[]string{"__contribsys__com"}, groups(lazy.MustCompile(`(?i)^__contribsys__com["']?\s*[=:]\s*["']?([a-f0-9]{8}:[a-f0-9]{8})`))}, // Sidekiq
	{[]string{"sonar.login", "sonar_login"}, groups(lazy.MustCompile(`(?i)^sonar[._]login["']?\s*[=:]\s*["']?([a-z0-9_=-]{40,44})`))},
	{[]string{"k10"}, groups(lazy.MustCompile(`(?i)^K10[0-9a-f]{64}::([^\s"']+)`))},
	{[]string{`"kind":"secret"`, `"kind": "secret"`, `\"kind\":\"secret\"`, `\"kind\": \"secret\"`}, bySecretManifest},
	{[]string{"extpass"}, command(`^extpass\s+["']?echo\s+([^\s"']+)`)},
	{[]string{"secretstr(", "secretbytes("}, command(`^(?i:secret(?:str|bytes))\(b?['"]([^'"]+)['"]`)},
	{endGates("=="), byWholeKey},
	{[]string{"password for ", "password of ", "passphrase for ", "passphrase of "}, groups(lazy.MustCompile(`^(?i:pass(?:word|phrase) (?:for|of) (?:[\w.@'-]+ ){1,5}(?:is|was)) ["']?([^\s"',]*\d[^\s"',]{3,})`))},
	{[]string{"jdbc:oracle:thin:"}, groups(lazy.MustCompile(`(?i)^jdbc:oracle:thin:[^/@\s]+/([^@\s]+)@`))},
}

// byWholeKey masks 64 bytes in base64, which the keys of Azure's storage, buses and hubs are; a checksum of npm says that it
// is one.
func byWholeKey(s *scan, at int) int {
	from, to := base64s.runBack(s.text, at), at+len("x==")
	if to-from == 88 && !strings.HasSuffix(s.text[:from], "sha512-") {
		s.mask(from, to)
	}
	return to
}

// endGates are the ends of tokens behind a letter or a digit of base64.
func endGates(end string) (out []string) {
	for _, c := range "abcdefghijklmnopqrstuvwxyz0123456789+/" {
		out = append(out, string(c)+end)
	}
	return out
}

// hexGates are the beginnings of tokens that go on with a hexadecimal digit.
func hexGates(begins ...string) (out []string) {
	for _, b := range begins {
		for _, c := range "0123456789abcdef" {
			out = append(out, b+string(c))
		}
	}
	return out
}

// digitGates are the beginnings of tokens that go on with a digit.
func digitGates(begin string) (out []string) {
	for _, c := range "0123456789" {
		out = append(out, begin+string(c))
	}
	return out
}

var hashed = lazy.MustCompile(`^(?i)\$(?:apr1|argon2i?d?|[1567y]|2[aby])\$[./A-Za-z0-9$=,+-]{20,}`)

// byHash masks what a password is kept as (crypt(5)).
func byHash(s *scan, at int) int {
	to := at + len(hashed.FindString(s.text[at:min(len(s.text), at+window)]))
	s.mask(at, to)
	return to
}

// argument is one in quotation marks of a call.
var argument = lazy.MustCompile(`^\s*(?:\w+\s*=\s*)?b?(?:'([^']*)'|"([^"]*)")\s*(,)?`)

// byCall masks what a program logs in with: what looks random, and the second of two words of login().
func byCall(s *scan, at int) int {
	p := at + strings.IndexByte(s.text[at:], '(') + 1
	for n := 1; n <= 4; n++ {
		m := argument.FindStringSubmatchIndex(s.text[p:min(len(s.text), p+window)])
		if m == nil {
			break
		}
		from, to := max(m[2], m[4]), max(m[3], m[5])
		if v := s.text[p+from : p+to]; n == 2 && beginsWith(s.text[at:], "login(") && len(v) >= 4 || random(v, 24) && alnum.only(v) {
			s.mask(p+from, p+to)
		}
		if p += m[1]; m[6] < 0 {
			break
		}
	}
	return p
}

// alnumGates are the beginnings of tokens that go on with a letter or a digit.
func alnumGates(begin string) (out []string) {
	for _, c := range "abcdefghijklmnopqrstuvwxyz0123456789" {
		out = append(out, begin+string(c))
	}
	return out
}

var hereString = command(`^<<<\s*VALUE`)

// byHereString masks what a command that asks for a password is given.
func byHereString(s *scan, at int) int {
	before := strings.ToLower(s.text[max(0, at-200):at])
	for _, asks := range []string{"passw", "kinit", "sudo", "login", "stdin", "cryptsetup"} {
		if strings.Contains(before, asks) {
			return hereString(s, at)
		}
	}
	return at + 3
}

// byDSN masks the password of user:password@tcp(host), as Go's MySQL driver has it.
func byDSN(s *scan, at int) int {
	from := at
	for from > 0 && at-from < 200 && !blanks[s.text[from-1]] && strings.IndexByte("\"'`<>", s.text[from-1]) < 0 {
		from--
	}
	if i := strings.IndexByte(s.text[from:at], ':'); i >= 0 {
		from += i + 1
		if j := strings.Index(s.text[from:at], "//"); j == 0 {
			from += 2
			if i := strings.IndexByte(s.text[from:at], ':'); i >= 0 {
				from += i + 1
			}
		}
		s.mask(from, at)
	}
	return at
}

// inAddress is what an address may hold.
var inAddress = until("\"'<>`|\\")

// inSignature is what a signature may hold.
var inSignature = until("&\"'[<>")

// byURL masks who asks, in https://user:password@host and https://token@host.
func byURL(s *scan, at int) int {
	from := at + 3
	to := min(s.run(&inAddress, from), from+window)
	authority := s.text[from:to]
	if strings.IndexByte(authority, '@') < 0 { // nor has any address that begins in the first half of it
		return max(from, min(to, from+window/2))
	}
	if i := strings.IndexAny(authority, "/?#"); i >= 0 {
		head := authority[:i]
		colon := strings.IndexByte(head, ':')
		if strings.IndexByte(head, '@') < 0 {
			// A password may hold a slash; a port is a number.
			behind := strings.IndexByte(authority[i:], '@')
			if behind < 0 || authority[i] == '?' && strings.ContainsAny(authority[i+1:i+behind], "=&/") || colon < 0 || digits.only(head[colon+1:]) || strings.Count(head, ":") > 1 {
				return from
			}
			head = authority[:i+behind+1]
			if j := strings.IndexAny(authority[i+behind:], "/?#"); j >= 0 && strings.Contains(authority[i+behind:][:j], "@") {
				head = authority[:i+behind+strings.LastIndexByte(authority[i+behind:][:j], '@')+1]
			}
		}
		authority = head
	}
	end := strings.LastIndexByte(authority, '@')
	if end <= 0 {
		return from
	}
	user := authority[:end]
	if strings.Contains(user, ":") && !strings.HasSuffix(user, ":") || len(user) >= 16 && digits.has(user) && letters.has(user) && !strings.Contains(user, ".") {
		s.mask(from, from+end)
	}
	return from + end
}

var cookie = lazy.MustCompile(`^(?i:cookie)s?\d?["']?\]?\s*[:=]\s*(?:b?["'{]+)?`)

// byCookie masks the values of cookies; their names and attributes stay.
func byCookie(s *scan, at int) int {
	head := cookie.FindString(s.text[at:min(len(s.text), at+40)])
	if head == "" {
		return at
	}
	p := at + len(head)
	for p < len(s.text) {
		p = blanks.run(s.text, p)
		name := p
		for p < len(s.text) && !blanks[s.text[p]] && strings.IndexByte("=;,", s.text[p]) < 0 {
			p++
		}
		if p >= len(s.text) || s.text[p] != '=' {
			return p
		}
		attribute := attributes[strings.ToLower(s.text[name:p])]
		from := p + 1
		if from < len(s.text) && s.text[from] == '"' {
			from++
		}
		to := from
		for to < len(s.text) && !blanks[s.text[to]] && strings.IndexByte(";\"'\\", s.text[to]) < 0 {
			to++
		}
		if !attribute && to-from >= 3 && !placeholder(s.text[from:to]) {
			s.mask(from, to)
		}
		p = to
		for p < len(s.text) && strings.IndexByte("\";, ", s.text[p]) >= 0 {
			p++
		}
		if attribute { // a date has blanks
			if i := strings.IndexByte(s.text[p:min(len(s.text), p+40)], ';'); i >= 0 {
				p += i + 1
			}
		}
	}
	return p
}

var attributes = words("path domain expires max-age samesite httponly secure version priority")

// headerAt is where the value of a header begins behind its name, and the quotation mark that stands before it, escaped as it is; -1: no
// value stands there.
func headerAt(text string) (from int, quote string) {
	at := slashes(text, 0)
	if at < len(text) && (text[at] == '"' || text[at] == '\'') {
		at++
	}
	at = spaces.run(text, at)
	switch {
	case at < len(text) && (text[at] == ':' || text[at] == '=' || text[at] == ','):
		at++
	case beginsWith(text[at:], "%3a"):
		at += len("%3A")
	default:
		return -1, ""
	}
	at = spaces.run(text, at)
	escaped := slashes(text, at)
	mark := escaped
	if mark < len(text) && text[mark] == 'b' {
		mark++
	}
	if mark < len(text) && (text[mark] == '"' || text[mark] == '\'') {
		return mark + 1, text[at:escaped] + text[mark:mark+1]
	}
	return at, ""
}

// slashes is up to where backslashes stand.
func slashes(text string, at int) int {
	for at < len(text) && text[at] == '\\' {
		at++
	}
	return at
}

// endsHeader end the value of a header without quotation marks. Looked for one by one, they are found faster than by a set.
const endsHeader = "'\\`"

// inScheme is what stands behind a scheme in it.
var inScheme = until("\",;")

// byAuthorization masks what stands behind the scheme of an Authorization header.
func byAuthorization(s *scan, at int) int {
	at = min(len(s.text), at+len("authorization"))
	from, quote := headerAt(s.text[at:min(len(s.text), at+47)])
	if from < 0 {
		return at
	}
	from += at
	end := min(len(s.text), from+window)
	if quote != "" {
		if i := closingAt(s.text[:end], from, quote); i >= 0 {
			end = i
		}
	} else {
		for i := range len(endsHeader) {
			if at := strings.IndexByte(s.text[from:end], endsHeader[i]); at >= 0 {
				end = from + at
			}
		}
	}
	scheme, rest, two := strings.Cut(s.text[from:end], " ")
	switch {
	case !two:
		if v := strings.TrimRight(scheme, "\",;"); len(v) >= 8 && mixed(v) && !placeholder(v) {
			s.mask(from, from+len(v))
		}
	case strings.IndexByte(rest, '=') >= 0 && (strings.Contains(rest, "="+"\"") || strings.Contains(rest, "Credential=")) || strings.EqualFold(scheme, "digest"):
		s.mask(from+len(scheme)+1, end)
	default:
		start := from + len(scheme) + 1
		start = blanks.run(s.text, start)
		to := inScheme.run(s.text[:end], start)
		if v := s.text[start:to]; len(v) >= 8 && (mixed(v) || strings.EqualFold(scheme, "bearer") || len(v) >= 16) && !placeholder(v) {
			s.mask(start, to)
		} else if len(scheme) >= 16 && mixed(scheme) {
			s.mask(from, from+len(scheme))
		}
	}
	return end
}

// byScheme masks what stands behind "Bearer" and "Basic" anywhere.
func byScheme(s *scan, at int) int {
	if at > 0 && alnum[s.text[at-1]] {
		return at
	}
	from := at + strings.IndexByte(s.text[at:], ' ')
	from = blanks.run(s.text, from)
	to := tokenish.run(s.text, from)
	if n := len(s.spans); n > 0 && s.spans[n-1].from <= from && to <= s.spans[n-1].to {
		return to // as behind the name of the header
	}
	v := strings.TrimRight(s.text[from:to], ".")
	if len(v) < 8 || !(digits.has(v) && letters.has(v) || lowers.has(v) && uppers.has(v[1:]) || len(v) >= 32) || path(v) {
		return to
	}
	s.mask(from, from+len(v))
	return to
}

// bySignature masks what signs a URL.
func bySignature(s *scan, at int) int {
	name := dotted.runBack(s.text, at)
	from := at + strings.IndexByte(s.text[at:], '=') + 1
	if name == 0 || strings.IndexByte("?&;", s.text[name-1]) < 0 {
		return from
	}
	to := s.word(&inSignature, from)
	s.mask(from, to)
	return to
}

// encoded are the names of secrets that base64 may hide. Each has three forms, by where in three bytes
// it begins; of each form the characters that do not depend on what stands around are the gate.
var encoded = []string{"password", "passwd", "secret", "token\"", "api_key", "apikey", "PRIVATE KEY", "Password", "PASSWORD", "SECRET", "TOKEN"}

func encodedGates() (out []string) {
	for _, name := range encoded {
		for shift := range 3 {
			text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(" ", shift) + name))
			from, to := (shift*8+5)/6, (shift+len(name))*8/6
			out = append(out, strings.ToLower(text[from:to]))
		}
	}
	return out
}

// byEncoding masks base64 of a text that holds a secret.
func byEncoding(s *scan, at int) int {
	from, to := base64s.runBack(s.text, at), base64s.run(s.text, at)
	if to-from < 16 || to-from > 64<<10 {
		return to
	}
	body := s.text[from : to-(to-from)%4]
	if len(body) < to-from {
		body = s.text[from:to]
	}
	plain, err := base64.RawStdEncoding.DecodeString(body)
	if err != nil {
		if plain, err = base64.RawStdEncoding.DecodeString(body[:len(body)/4*4]); err != nil {
			return to
		}
	}
	inner := string(plain)
	if !strings.Contains(inner, "PRIVATE KEY") {
		// One level: what base64 hides in base64 is not looked for.
		var n scan
		n.text = inner
		for i, read := 0, 0; i < len(inner); i++ {
			if i >= read && slices.ContainsFunc(nameGates, func(g string) bool { return beginsWith(inner[i:], g) }) {
				read = byName(&n, i)
			}
		}
		if len(n.spans) == 0 {
			return to
		}
	}
	for to < len(s.text) && s.text[to] == '=' {
		to++
	}
	s.mask(from, to)
	return to
}
