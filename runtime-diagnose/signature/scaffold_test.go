package signature_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestNoScaffoldTextShips: what new.go writes for others to replace is found in no signature.
func TestNoScaffoldTextShips(t *testing.T) {
	from, err := os.ReadFile("new.go")
	if err != nil {
		t.Fatal(err)
	}
	scaffold := []string{
		"what happened, in a few words", "What a match proves, with facts", "What it does not, however much it looks so.",
		"One step a line, imperative.", "https://example.org/the-source-that-prints-it",
	}
	for _, text := range scaffold {
		if !bytes.Contains(from, []byte(text)) {
			t.Errorf("new.go does not write %q any more", text)
		}
	}
	files, err := filepath.Glob(filepath.Join("catalog", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range scaffold {
			if bytes.Contains(content, []byte(text)) {
				t.Errorf("%s still holds the scaffold's %q", file, text)
			}
		}
	}
	if len(files) < 50 {
		t.Errorf("%d signatures were looked at; want 50 at least", len(files))
	}
}
