package redact_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// alphabets are what {kind:n} in the files of testdata stands for.
var alphabets = map[string]string{
	"an": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "lo": "abcdefghijklmnopqrstuvwxyz0123456789", "up": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
	"hex": "0123456789abcdef", "HEX": "0123456789ABCDEF", "dig": "0123456789", "b32": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
	"b64": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", "url": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
	"bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", "pw": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%*+=^_.~-",
}

var kinds = regexp.MustCompile(`\{(uuid|[a-zA-Z0-9]+:\d+)\}`)

func random(r *rand.Rand, kind string, n int) string {
	alphabet := alphabets[kind]
	for {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		// A password is none that a shell would take for a variable, and what is short has a letter and a digit.
		text := string(b)
		if n < 6 || kind == "dig" || kind == "HEX" || kind == "b32" || kind == "up" || strings.ContainsAny(text, "0123456789") && strings.ContainsAny(text, "abcdefghijklmnopqrstuvwxyzABCDEF") && letterOrDigit(text[0]) && letterOrDigit(text[n-1]) {
			return text
		}
	}
}

func letterOrDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// canary is a text with secrets in it.
type canary struct {
	line    int
	text    string
	secrets []string
}

func expand(r *rand.Rand, text string) string {
	return kinds.ReplaceAllStringFunc(text, func(found string) string {
		if found == "{uuid}" {
			return fmt.Sprintf("%s-%s-4%s-a%s-%s", random(r, "hex", 8), random(r, "hex", 4), random(r, "hex", 3), random(r, "hex", 3), random(r, "hex", 12))
		}
		kind, n, _ := strings.Cut(strings.Trim(found, "{}"), ":")
		count, _ := strconv.Atoi(n)
		if alphabets[kind] == "" || count == 0 {
			return found
		}
		return random(r, kind, count)
	})
}

func canaries(t testing.TB, file string, seed uint64) (out []canary) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		line = strings.NewReplacer("␊", "\n", "␛", "\x1b").Replace(line)
		text := expand(rand.New(rand.NewPCG(seed, uint64(n))), line)
		c := canary{line: n, text: strings.NewReplacer("«", "", "»", "").Replace(text)}
		for rest := text; ; {
			_, behind, ok := strings.Cut(rest, "«")
			if !ok {
				break
			}
			secret, behind, _ := strings.Cut(behind, "»")
			c.secrets = append(c.secrets, secret)
			rest = behind
		}
		out = append(out, c)
	}
	return out
}

// leaked is how much of a secret is left: any eight characters of it are too many.
func leaked(text, secret string) string {
	text = redact.Clean(text)
	for part := range strings.SplitSeq(redact.Clean(secret), "\n") {
		n := min(8, len(part))
		for i := 0; i+n <= len(part) && n > 2; i++ {
			if strings.Contains(text, part[i:i+n]) {
				return part[i : i+n]
			}
		}
	}
	return ""
}

// ways are the ways in which a text is masked.
var ways = map[string]func(string) string{
	"a text": redact.Text,
	"a log": func(text string) string {
		var out strings.Builder
		if _, err := redact.Copy(&out, strings.NewReader(text)); err != nil {
			return err.Error()
		}
		return out.String()
	},
}

func leaks(t testing.TB, file string, seeds uint64) (all, lost int) {
	for seed := range seeds {
		for _, c := range canaries(t, file, seed) {
			for way, mask := range ways {
				got := mask(c.text)
				for _, secret := range c.secrets {
					all++
					if part := leaked(got, secret); part != "" {
						lost++
						t.Logf("%s:%d: %s of %q shows %q:\n%s", file, c.line, way, secret, part, got)
					}
				}
				if again := mask(got); again != got {
					t.Errorf("%s:%d: masked twice:\n%s\n%s", file, c.line, got, again)
				}
			}
		}
	}
	return all, lost
}

func TestNoCanaryLeaves(t *testing.T) {
	for file, seeds := range map[string]uint64{"testdata/canaries.txt": 3, "testdata/held.txt": 3, "testdata/gitleaks.txt": 3, "testdata/outsiders.txt": 3} {
		t.Run(file, func(t *testing.T) {
			if all, lost := leaks(t, file, seeds); lost > 0 || all < 500 {
				t.Errorf("%d of %d secrets are left", lost, all)
			}
		})
	}
}

func TestWhatIsNoSecretStays(t *testing.T) {
	for _, file := range []string{"testdata/twins.txt", "testdata/calm.txt"} {
		for _, c := range canaries(t, file, 1) {
			for way, mask := range ways {
				if got := mask(c.text); got != c.text {
					t.Errorf("%s:%d: %s of %q is %q", file, c.line, way, c.text, got)
				}
			}
		}
	}
}

// Of eleven rules of gitleaks nothing is masked: what they find is written to be shown, as the name of an account is, and
// who has it can do nothing with it alone.
func TestPublicHalvesStay(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for rule, line := range map[string]string{
		"adobe-client-id":       "adobe_client_id: {hex:32}", // client IDs of OAuth: https://www.rfc-editor.org/rfc/rfc6749#section-2.2
		"asana-client-id":       "asana_client_id: {dig:16}",
		"bitbucket-client-id":   "bitbucket_client_id: {lo:32}",
		"discord-client-id":     "discord_client_id: {dig:18}",
		"linkedin-client-id":    "linkedin_client_id: {lo:14}",
		"looker-client-id":      "looker_client_id: {lo:20}",
		"messagebird-client-id": "messagebird_client_id: {uuid}",
		"new-relic-user-api-id": "new_relic_user_api_id: {lo:64}", // the name beside an API key
		"plaid-client-id":       "plaid_client_id: {lo:24}",
		"sendbird-access-id":    "sendbird_app_id: {uuid}",   // its clients are given it
		"sumologic-access-id":   "sumo_access_id: su{an:12}", // the name beside an access key
	} {
		if text := expand(r, line); redact.Line(text) != text {
			t.Errorf("%s: %q is %q", rule, text, redact.Line(text))
		}
	}
}
