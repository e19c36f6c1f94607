package checks_test

import (
	"encoding/csv"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/test/golden"
)

// rule is one row of testdata/rules.tsv: something that a system asks of a job, and the checks
// that say when it is not so.
type rule struct {
	system, text string
	checks       []string
	remark       string // why no check says so, or what the checks leave out
	source       string
}

func rules(t *testing.T) []rule {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "rules.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, 5
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []rule
	for _, row := range rows[1:] {
		one := rule{system: row[0], text: row[1], remark: row[3], source: row[4]}
		if row[2] != "" {
			one.checks = strings.Split(row[2], ",")
		}
		out = append(out, one)
	}
	return out
}

// TestEveryRuleHasItsCheck: the table names checks that there are, all of them, and a reason
// where none speaks.
func TestEveryRuleHasItsCheck(t *testing.T) {
	var names []string
	for _, c := range checks.All() {
		names = append(names, c.Name)
	}
	speaks, seen := map[string]bool{}, map[string]bool{}
	for _, r := range rules(t) {
		for _, name := range r.checks {
			if speaks[name] = true; !slices.Contains(names, name) {
				t.Errorf("%s: %s: no check is called %q", r.system, r.text, name)
			}
		}
		if len(r.checks) == 0 && len(strings.Fields(r.remark)) < 3 {
			t.Errorf("%s: %s: no check, and the remark is %q; want why", r.system, r.text, r.remark)
		}
		if u, err := url.Parse(r.source); err != nil || u.Scheme != "https" || u.Host == "" {
			t.Errorf("%s: %s: the source is %q; want a public link", r.system, r.text, r.source)
		}
		if key := r.system + ": " + r.text; seen[key] {
			t.Errorf("%s stands there twice", key)
		} else {
			seen[key] = true
		}
	}
	for _, name := range names {
		if !speaks[name] {
			t.Errorf("no rule of rules.tsv names %s: what asks for it?", name)
		}
	}
}

// TestTheSourcesPage: the table as a page of the reference.
func TestTheSourcesPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Sources of the checks\n\n<!-- Generated from preflight/checks/testdata/rules.tsv: go test ./preflight/checks -update. -->\n\n" +
		"What the systems ask of a job, and which [check](checks.md) says when it is not so. Where none does, why.\n")
	system := ""
	for _, r := range rules(t) {
		if r.system != system {
			system = r.system
			fmt.Fprintf(&b, "\n## %s\n\n| rule | checks | remark |\n|---|---|---|\n", system)
		}
		links := make([]string, len(r.checks))
		for i, name := range r.checks {
			links[i] = fmt.Sprintf("[%s](checks.md#%s)", name, name)
		}
		fmt.Fprintf(&b, "| [%s](%s) | %s | %s |\n", r.text, r.source, strings.Join(links, ", "), r.remark)
	}
	golden.Equal(t, filepath.Join("..", "..", "docs", "reference", "sources.md"), []byte(b.String()))
}
