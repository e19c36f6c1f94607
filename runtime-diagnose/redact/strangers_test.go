package redact_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// stranger is a text of testdata/strangers.jsonl, which somebody wrote who had not read the rules. Of the 92 whose IDs
// begin with own-, 11 showed a secret at the first run; of the 103 that begin with gulf-, 9, and 2 of 105 kinds of ordinary
// lines were masked.
type stranger struct {
	ID      string   `json:"id"`
	Text    string   `json:"text"`
	Secrets []string `json:"secrets"`
}

func strangers(t testing.TB, file string) (out []stranger) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var s stranger
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

func TestNoCanaryOfStrangersLeaves(t *testing.T) {
	all, lost := 0, 0
	for _, s := range strangers(t, "testdata/strangers.jsonl") {
		leaks := false
		for way, mask := range ways {
			got := mask(s.Text)
			plain := s.Text // what two secrets, or a secret and what is none, begin with alike gives nothing away
			for _, secret := range s.Secrets {
				plain = strings.ReplaceAll(plain, secret, "")
			}
			for _, secret := range s.Secrets {
				if part := leaked(got, secret); part != "" && !strings.Contains(plain, part) {
					leaks = true
					t.Errorf("%s: %s of %q shows %q:\n%s", s.ID, way, secret, part, got)
				}
			}
			if again := mask(got); again != got {
				t.Errorf("%s: masked twice:\n%s\n%s", s.ID, got, again)
			}
		}
		if all++; leaks {
			lost++
		}
	}
	t.Logf("%d of %d texts show a secret", lost, all)
	if all < 300 {
		t.Errorf("%d texts, want 300 at least", all)
	}
}

// Lines that strangers chose of public logs, in which no secret is, come out as they are, but for their colours.
func TestOrdinaryLinesOfStrangersStay(t *testing.T) {
	all, hit := 0, 0
	for _, s := range strangers(t, "testdata/ordinary.jsonl") {
		for way, mask := range ways {
			if got := mask(s.Text); got != s.Text && got != redact.Clean(s.Text) {
				t.Errorf("%s: %s of\n%s\nis\n%s", s.ID, way, s.Text, got)
				hit++
			}
		}
		all++
	}
	if t.Logf("%d of %d lines are masked", hit, all); all < 300 {
		t.Errorf("%d lines, want 300 at least", all)
	}
}
