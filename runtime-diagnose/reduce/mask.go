package reduce

import "regexp"

const masked = "[masked]"

// exceptionName is an exception that is named like a secret: what follows is its message.
var exceptionName = regexp.MustCompile(`(?:Error|Exception): `)

// secretSetting is a setting that is named like a secret, up to its value.
const secretSetting = `(?:[\w-]*(?:password|passwd|secret|api[_-]?key|access[_-]?key(?:[_-]?id)?|private_key|credential)[\w-]*)["']?\s*(?:=|:\s?)\s*` //nolint:gosec // what secrets look like is none

// secretNames are the gates of settings that are named like a secret.
var secretNames = []string{"passw", "secret", "api_key", "api-key", "apikey", "access_key", "access-key", "accesskey", "credential", "private_key"}

// noSetting is a match of an unquoted value that is none: an exception named like a secret, or a
// volume so named of which the kubelet reports an error ("for volume %q : %w").
var noSetting = regexp.MustCompile(exceptionName.String() + `|^[^"]*" : (?:secrets?|configmaps?|object|references|failed|error|open|stat|mount\w*|fetching|couldn|timed|exit|unable|kubernetes\.io/\S+)$`)

// masks find secrets. Each keeps what is around the secret, so that the line stays
// readable, and none matches its own replacement. A gate is a cheap necessary condition,
// in lower case and of three bytes at least.
var masks = []struct {
	gates   []string
	re      *regexp.Regexp
	replace string
	spare   *regexp.Regexp    // a match that is no secret after all
	next    func(string) bool // what follows each gate in a match, roughly; nil: anything
}{
	// https://user:password@host
	{[]string{"://"}, regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/@:"']*:[^\s/@"']+@`), "${1}" + masked + "@", nil, userInfo},
	{[]string{"bearer", "basic"}, regexp.MustCompile(`(?i)\b(bearer|basic)( +)[A-Za-z0-9._~+/-]{8,}=*`), "${1}${2}" + masked, nil, blank},
	// AWS access key IDs: AKIA (long-lived) and ASIA (temporary) and 16 characters
	{[]string{"akia", "asia"}, regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`), masked, nil, nil},
	{[]string{"hf_", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "sk-", "xox", "nvapi-"}, regexp.MustCompile(`\b(?:hf_[A-Za-z0-9]{16,}|gh[pos]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|sk-[\w-]{16,}|xox[abprs]-[\w-]{10,}|nvapi-[\w-]{20,})`), masked, nil, nil},
	// JSON Web Tokens: three base64url parts, the first of which starts with {"
	{[]string{"eyj"}, regexp.MustCompile(`\beyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*`), masked, nil, nil},
	// Values in quotes, which may hold blanks and quotes behind a backslash.
	{secretNames, regexp.MustCompile(`(?i)(` + secretSetting + `")(?:[^"\\\[]|\\.)(?:[^"\\]|\\.)*"`), "${1}" + masked + `"`, exceptionName, named},
	{secretNames, regexp.MustCompile(`(?i)(` + secretSetting + `')(?:[^'\\\[]|\\.)(?:[^'\\]|\\.)*'`), "${1}" + masked + `'`, exceptionName, named},
	// A password in an assignment may be short and hold what ends other values.
	{[]string{"password=", "passwd="}, regexp.MustCompile(`(?i)([\w-]*(?:password|passwd)=)[^\s"'&\[\]()]*[^\s"'&\[\](),;]`), "${1}" + masked, nil, nil},
	// Azure's connection strings and signed URLs of Azure, AWS and Google
	{[]string{"accountkey=", "accesskey="}, regexp.MustCompile(`(?i)((?:account|access)key=)[^;\s"'\[]+`), "${1}" + masked, nil, nil},
	{[]string{"sig=", "signature=", "security-token="}, regexp.MustCompile(`(?i)([?&;](?:sig|signature|x-(?:amz|goog)-signature|x-(?:amz|goog)-security-token)=)[^&\s"'\[]+`), "${1}" + masked, nil, nil},
	// keys of Google, npm, Docker Hub and PyPI
	{[]string{"aiza", "npm_", "dckr_pat_", "pypi-"}, regexp.MustCompile(`\b(?:AIza[\w-]{35}|npm_[A-Za-z0-9]{30,}|dckr_pat_[\w-]{20,}|pypi-[\w-]{40,})`), masked, nil, nil},
	{[]string{"authorization"}, regexp.MustCompile(`(?i)(authorization["']?\s*[:=]\s*["']?(?:token|apikey|key) )[A-Za-z0-9._~+/-]{8,}=*`), "${1}" + masked, nil, assigned},
	{
		secretNames,
		regexp.MustCompile(`(?i)(` + secretSetting + `["']?)[^\s"',;&}\])\[]{4,}`),
		"${1}" + masked,
		noSetting,
		named,
	},
	{[]string{"token"}, regexp.MustCompile(`(?i)([\w-]*token["']?\s*(?:=|:\s?)\s*["']?)[\w./+~-]{20,}=*`), "${1}" + masked, nil, assigned},
	{[]string{"--password", "--token", "--secret", "--api-key"}, regexp.MustCompile(`(--(?:password|token|secret|api-key)[= ])[^\s\[][^\s]*`), "${1}" + masked, nil, valued},
}

// opening are the gates of masks.
var opening = newGates()

// Mask replaces secrets by "[masked]": credentials in URLs, bearer and basic
// authorisation, keys of well-known forms, values of settings that are named like a
// secret. Masking twice changes nothing more.
func Mask(text string) string {
	set := opening.open(text)
	for i := 0; set != 0; i, set = i+1, set>>1 {
		if set&1 == 0 {
			continue
		}
		m := &masks[i]
		text = m.re.ReplaceAllStringFunc(text, func(found string) string {
			if m.spare != nil && m.spare.MatchString(found) {
				return found
			}
			return m.re.ReplaceAllString(found, m.replace)
		})
	}
	return text
}
