package main

import (
	"os"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// People search the changelog for the name that a warning showed them.
func TestChangelogNamesEverySlug(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks.All() {
		if !strings.Contains(string(text), "`"+c.Name+"`") {
			t.Errorf("CHANGELOG.md does not name the check %s", c.Name)
		}
	}
	for _, k := range kinds.All() {
		if !strings.Contains(string(text), k.Name) {
			t.Errorf("CHANGELOG.md does not name the kind %s", k.Name)
		}
	}
}
