package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/test/fakellm"
)

// What a model can do is tried on a server of the protocol; what was recorded is told again without one.
func TestAModelIsTried(t *testing.T) {
	server, err := fakellm.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	try := func(model string, more ...string) (int, string) {
		settings := filepath.Join(dir, model+".yaml")
		if err := os.WriteFile(settings, []byte("llm: {provider: openai, baseURL: \""+server.URL+"\", model: "+model+", price: {in: 10, out: 10}}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		now := time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)
		sh := &shell.Shell{Name: "signalbox", In: strings.NewReader(""), Out: &out, Err: &errs, Now: func() time.Time { return now }}
		code := run(t.Context(), sh, append([]string{"model", "test", "--config", settings}, more...))
		return code, out.String() + errs.String()
	}
	code, said := try(fakellm.Broken)
	if code != shell.ExitFindings || !strings.Contains(said, "no   answers: ask model broken") {
		t.Errorf("a broken server: exit code %d: %s", code, said)
	}
	tapes := filepath.Join(dir, "tapes")
	code, said = try(fakellm.Grounded, "--record", tapes)
	if code != shell.ExitFine || !regexp.MustCompile(`(?m)^\d+ of 20 right; \d+ tokens in, \d+ out; 0\.0 s in all, 0\.0 s the longest; cost 0\.\d{4}$`).MatchString(said) ||
		!strings.Contains(said, "right  known: a full disk") || !strings.Contains(said, "wrong  a licence is used up") || !strings.Contains(said, "named nothing") {
		t.Errorf("exit code %d: %s", code, said)
	}
	_, cases, _ := strings.Cut(said, "\n\n")
	code, again := try(fakellm.Silent, "--replay", tapes)
	_, replayed, _ := strings.Cut(again, "\n\n")
	if diff := cmp.Diff(cases, replayed); code != shell.ExitFine || diff != "" {
		t.Errorf("replayed with exit code %d (-recorded +replayed):\n%s", code, diff)
	}
}
