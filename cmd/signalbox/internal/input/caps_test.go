package input

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// written is a file of so many bytes that begins and ends with some.
func written(t *testing.T, begin, end string, size int) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "job.yaml")
	if err := os.WriteFile(file, []byte(begin+strings.Repeat(" ", size-len(begin)-len(end))+end), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Lines of a file are quoted that is no longer than somebody reads; of a longer one a finding stands without its line.
func TestLinesOfALongFileAreNotQuoted(t *testing.T) {
	for size, want := range map[int]bool{8 << 20: true, 8<<20 + 1: false} {
		line, ok := (&Quotes{}).Line(written(t, "kind: PyTorchJob\n", "", size), 1)
		if ok != want || ok && line != "kind: PyTorchJob" {
			t.Errorf("of %d bytes the first line is quoted: %t (%q), want %t", size, ok, line, want)
		}
	}
}

// What a file that cannot be read says to hold is looked for in as much as anybody writes by hand.
func TestTheKindOfATemplateIsLookedForUpToABound(t *testing.T) {
	const kind = "\nkind: PyTorchJob\n"
	for size, want := range map[int]string{1 << 20: "PyTorchJob", 1<<20 + len(kind): ""} {
		if got := jobIn(written(t, "a: {{ b }}\n", kind, size)); got != want {
			t.Errorf("at the end of %d bytes stands %q, want %q", size, got, want)
		}
	}
}
