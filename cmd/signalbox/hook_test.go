package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
)

// TestTheHookPassesOverWhatHoldsNoObject runs what .pre-commit-hooks.yaml says as pre-commit does, which names all files
// that changed: a hook that refuses a values.yaml would be taken out on the first day. It names them at once, because a
// job may refer to what another file holds.
func TestTheHookPassesOverWhatHoldsNoObject(t *testing.T) {
	t.Setenv("KUBECONFIG", os.DevNull)
	text, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var hooks []struct {
		ID     string `yaml:"id"`
		Entry  string `yaml:"entry"`
		Serial bool   `yaml:"require_serial"`
	}
	if err := yaml.Unmarshal(text, &hooks); err != nil || len(hooks) == 0 {
		t.Fatalf("hooks: %v, %v", hooks, err)
	}
	values := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(values, []byte("image: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const mistaken = "../../examples/colossalai-mistakes/job.yaml"
	for _, hook := range hooks {
		entry := strings.Fields(hook.Entry)
		if entry[0] != "signalbox" || !hook.Serial {
			t.Errorf("%s runs %s, with all files at once %t", hook.ID, hook.Entry, hook.Serial)
		}
		for files, want := range map[string]int{values: shell.ExitFine, values + " " + mistaken: shell.ExitFindings} {
			var out, errs bytes.Buffer
			sh := &shell.Shell{Name: "signalbox", Out: &out, Err: &errs, Now: time.Now}
			if code := run(t.Context(), sh, append(entry[1:len(entry):len(entry)], strings.Fields(files)...)); code != want {
				t.Errorf("%s on %s: exit code %d, want %d\n%s", hook.ID, files, code, want, errs.String())
			}
		}
	}
}
