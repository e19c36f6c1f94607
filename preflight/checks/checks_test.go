package checks_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/check/checktest"
	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/test/golden"
)

func TestEveryCheckKeepsItsPromises(t *testing.T) {
	if _, err := check.NewSet(checks.All()...); err != nil {
		t.Fatal(err)
	}
	var kindNames []string
	for _, k := range kinds.All() {
		kindNames = append(kindNames, k.GroupKind())
	}
	var names []string
	for _, c := range checks.All() {
		names = append(names, c.Name)
		t.Run(c.Name, func(t *testing.T) {
			if len(c.Doc) < 80 {
				t.Errorf("testdata/%s/README.md in its family says %q; want why the rule exists", c.Name, c.Doc)
			}
			family := filepath.Dir(filepath.Dir(checks.Dir(c.Name)))
			if !declares(t, filepath.Join(family, strings.ReplaceAll(c.Name, "-", "_")+".go"), c.Name) && !declares(t, filepath.Join(family, tables[family]), c.Name) {
				t.Errorf("the check is neither in a file of its name nor in a table of %s", family)
			}
			for _, k := range c.Kinds {
				if !slices.Contains(kindNames, k) {
					t.Errorf("names kind %s, which no reader covers", k)
				}
			}
			checktest.Run(t, c, checks.Dir(c.Name))
		})
	}
	slices.Sort(names)
	if diff := cmp.Diff(folders(t), names); diff != "" {
		t.Errorf("folders of testdata and checks (-folders +checks):\n%s", diff)
	}
}

// tables are the files of checks that differ in a row only, by family.
var tables = map[string]string{"names": "missing.go", "queueing": "limits.go"}

func declares(t *testing.T, file, name string) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	return err == nil && strings.Contains(string(text), strconv.Quote(name))
}

// TestOneFixtureShowsOneMistake runs all checks over all fixtures: an example that trips a
// second rule teaches the wrong lesson.
func TestOneFixtureShowsOneMistake(t *testing.T) {
	set, err := check.NewSet(checks.All()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range set.Checks() {
		for _, f := range checktest.Load(t, checks.Dir(c.Name)) {
			for _, o := range set.Run(t.Context(), f.Input) {
				if o.Err != nil {
					t.Errorf("%s on %s/%s: %v", o.Check, c.Name, f.Name, o.Err)
				}
				for _, found := range o.Findings {
					if o.Check != c.Name && !leftOut[o.Check] && !alsoFires[c.Name+"/"+f.Name][o.Check] {
						t.Errorf("%s/%s also trips %s: %s", c.Name, f.Name, o.Check, found.Line())
					}
				}
			}
		}
	}
}

// TestAllMessagesAreReadAsProse: what every check says about every fixture of its own, with the
// fixture's parameters, is one golden file.
func TestAllMessagesAreReadAsProse(t *testing.T) {
	set, err := check.NewSet(checks.All()...)
	if err != nil {
		t.Fatal(err)
	}
	var prose strings.Builder
	for _, c := range set.Checks() {
		for _, f := range checktest.Load(t, checks.Dir(c.Name)) {
			outcomes, err := f.Alone(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range outcomes {
				for _, found := range o.Findings {
					prose.WriteString(found.Severity.String() + " " + found.Line() + "\n    → " + found.Remedy + "\n")
				}
			}
		}
	}
	golden.Equal(t, filepath.Join("testdata", "messages.golden"), []byte(prose.String()))
}

// leftOut are notes about what a short example on a small cluster need not write.
var leftOut = map[string]bool{"resources-missing": true, "memory-missing-beside-gpus": true, "no-deadline-on-whole-cluster": true}

// alsoFires declares fixtures that show two rules, by fixture and second check.
var alsoFires = map[string]map[string]bool{
	// Silent, because the nodes come back; not silent about there being no room now.
	"every-matching-node-tainted/stays-silent-on-a-cordoned-node": {"gang-does-not-fit": true},
	"node-selector-matches-no-node/stays-silent-on-a-match":       {"gang-does-not-fit": true},
	"pod-exceeds-every-node/stays-silent-on-a-whole-node":         {"gang-does-not-fit": true},
	// The operator's value wins: nothing fails, and there is something to know.
	"rank-same-everywhere/stays-silent-on-the-operator": {"overwritten-environment": true},
	// Both are about what a job does when it is resumed, so it is paused.
	"job-held/stays-silent-on-debug":            {"debug-holds-gpus": true},
	"resume-specs-changed/fires-on-new-command": {"job-held": true},
	"role-reference-missing/fires-on-a-type":    {"job-held": true},
}

// folders are the folders of testdata of all families.
func folders(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("*", "testdata", "*"))
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(found))
	for i, name := range found {
		out[i] = filepath.Base(name)
	}
	slices.Sort(out)
	return out
}
