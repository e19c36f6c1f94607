package collect

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What lies beside the logs of a folder and is about them, a label or settings, is no log; objects are objects by
// whatever name.
func TestAFolderMayHoldYAMLThatIsNoLog(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"log.txt":      "step 1 loss 2\n",
		"label.yaml":   "category: disk-full\nkey_line: 'OSError: [Errno 28] No space left on device'\n",
		"settings.yml": "- a\n- b\n",
		"empty.yaml":   "",
		"mine.yaml":    "apiVersion: v1\nkind: Pod\nmetadata: {name: train-0}\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	large, err := os.Create(filepath.Join(folder, "large.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(large.Truncate(maxObjects+1), large.Close()); err != nil {
		t.Fatal(err)
	}
	c, bundle, err := Folder(t.Context(), folder, func(in io.Reader) (io.Reader, error) { return in, nil })
	if err != nil || bundle {
		t.Fatal(err, bundle)
	}
	if len(c.Logs) != 1 || !strings.HasSuffix(c.Logs[0].Source.File, "log.txt") {
		t.Errorf("%d logs: %v", len(c.Logs), c.Logs)
	}
	if len(c.Pods) != 1 {
		t.Errorf("%d pods, want that of mine.yaml", len(c.Pods))
	}
	said := strings.Join(c.Missing, "\n")
	for _, part := range []string{"label.yaml is YAML without", "settings.yml is YAML without", "large.yaml has more than"} {
		if !strings.Contains(said, part) {
			t.Errorf("missing does not say %q: %s", part, said)
		}
	}
	if strings.Contains(said, "empty") || strings.Contains(said, "mine") {
		t.Error(said)
	}
}
