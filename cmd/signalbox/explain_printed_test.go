package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/reference"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
)

// namesIn find the names in what commands print, as text, JSON, SARIF, Markdown and on a job.
var namesIn = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^\s*(?:error|warning|note|deny|warn)\[([a-z][a-z0-9-]+)\] `),
	regexp.MustCompile(`(?m)^[^\n]*: not healthy \(([a-z0-9-]+)(?:: [^\n]+)?\)$`),
	regexp.MustCompile(`(?m)^(?:established|supported|hypothesis) \(([a-z0-9-]+)\)`),
	regexp.MustCompile(`(?m)^(established|supported|hypothesis) \(`),
	regexp.MustCompile(`(?m)^\S+ \S+ \([^)\n]+\): ([a-z-]+)$`),
	regexp.MustCompile(`(?m)^  fit     ([a-z-]+): `),
	regexp.MustCompile(`"(?:check|signature|category|verdict|standing|rule|decision|ruleId|retry|owner|severity|effect|level)": "([A-Za-z][A-Za-z0-9-]+)"`),
	regexp.MustCompile(`(?m)^\(exit code ([0-9]+)\)$`),
	regexp.MustCompile(`(?m)^code ([0-9]+) signalbox`),
	regexp.MustCompile(`Warning: \[([a-z0-9-]+)\]`),
	regexp.MustCompile(`(?m)^\s+(signalbox\.dev/[a-z-]+): `),
}

// TestEveryNameThatTheTestsSeeIsExplained collects the names from every output that the repository shows or expects,
// and asks for each.
func TestEveryNameThatTheTestsSeeIsExplained(t *testing.T) {
	seen := map[string]string{}
	for _, folder := range []string{"README.md", "docs", "examples", "test/cli", "preflight/testdata", "runtime-diagnose/testdata/stories", "test/promises"} {
		err := filepath.WalkDir("../../"+folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || entry.Name() == "sarif-schema-2.1.0.json" {
				return err
			}
			text, err := os.ReadFile(path)
			for _, names := range namesIn {
				for _, m := range names.FindAllStringSubmatch(string(text), -1) {
					seen[m[1]] = path
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) < 60 {
		t.Fatalf("only %d names were found", len(seen))
	}
	known := map[string]bool{}
	for _, name := range reference.Names(shelves()) {
		known[strings.ToLower(name)] = true
	}
	for name, path := range seen {
		if !known[strings.ToLower(name)] && !madeUp[name] {
			t.Errorf("%s shows %q, and explain does not know it", path, name)
		}
	}
}

// madeUp are names that examples give to what somebody else writes.
var madeUp = map[string]bool{
	"msg":        true, // what a policy of Rego returns
	"major":      true, // GitLab's word for a severity
	"whole-node": true, // a policy that the how-to writes
}

// TestTheWordsThatLeadALineAreExplained asks for what stands before the lines of an answer, and above its columns.
func TestTheWordsThatLeadALineAreExplained(t *testing.T) {
	for _, name := range []string{
		"asked", "because", "limit", "short", "nodes", "plan", "preempts", "change", "assumed",
		"pending", "waiting", "stopped", "paused", "suspended", "missing", "what to do", "after it",
		"WAITS FOR", "FIRST POD", "SAYS",
		"AGE", "STATE", "HEALTHY", "CATEGORY", "DEVICES", "SINCE", "OWNER", "NODE", "QUEUE", "hurt", "GPUS HELD", "GPU HOURS",
		"for the author of the job", "cordoned", "tainted",
	} {
		var out, errs strings.Builder
		sh := &shell.Shell{Name: "signalbox", Out: &out, Err: &errs, Now: time.Now}
		if code := run(t.Context(), sh, []string{"explain", name}); code != shell.ExitFine || errs.Len() > 0 { // something of another name is told on standard error
			t.Errorf("explain does not know %q: %s", name, errs.String())
		}
	}
}
