package reference

import (
	"os"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/checks"
)

// TestEveryCheckIsInTheReference: list and the generated page know every check, and its
// page shows when it fires and when it stays silent.
func TestEveryCheckIsInTheReference(t *testing.T) {
	entries, err := checkShelf().Entries()
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, e := range entries {
		pages[e.Name] = e.page
	}
	text, err := os.ReadFile("../../../../docs/reference/checks.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks.All() {
		page, listed := pages[c.Name]
		if !listed {
			t.Errorf("list does not name %s", c.Name)
		}
		for _, part := range []string{"### Fires", "### Stays silent", "# ←", "### Remedy", c.Remedy} {
			if !strings.Contains(page, part) {
				t.Errorf("the page of %s has no %q", c.Name, part)
			}
		}
		if !strings.Contains(string(text), "\n## "+c.Name+"\n") {
			t.Errorf("docs/reference/checks.md does not have %s: run make docs", c.Name)
		}
	}
}
