package diagnose_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/bare"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// expectation is what is true of a scenario.
type expectation struct {
	Says      string   `json:"says"` // for people: why it is
	Healthy   string   `json:"healthy"`
	Verdict   string   `json:"verdict"`
	Category  string   `json:"category"`
	Signature string   `json:"signature"`
	Standing  string   `json:"standing"`
	Owner     string   `json:"owner"`
	Retry     string   `json:"retry"`
	Pod       string   `json:"pod"`
	Line      string   `json:"line"`
	Shows     []string `json:"shows"` // in the text for people
	Never     []string `json:"never"` // in the text for people
}

// Situations of real clusters as data: what the platform says last holds, whatever a log or an earlier
// attempt says.
func TestScenarios(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob("testdata/scenarios/*/expect.yaml")
	if err != nil || len(all) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range all {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var want expectation
			if err := yaml.UnmarshalStrict(text, &want); err != nil {
				t.Fatalf("read %s: %v", file, err)
			}
			if want.Says == "" || want.Healthy == "" {
				t.Fatalf("%s: says and healthy are required", file)
			}
			want.compare(t, diagnose.Diagnose(t.Context(), scenario(t, dir), catalog, diagnose.Options{}))
		})
	}
}

// A text that must not be said shows what it prevents: the program says it of another scenario, or it stands in
// what the scenario gives to read, as a line that might be blamed. One that nothing could bring up guards nothing.
func TestWhatAScenarioRulesOutCouldBeSaid(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob("testdata/scenarios/*/expect.yaml")
	if err != nil {
		t.Fatal(err)
	}
	said, wants := map[string]string{}, map[string]expectation{}
	for _, file := range all {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var want expectation
		if err := yaml.UnmarshalStrict(text, &want); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Dir(file)
		wants[dir], said[dir] = want, diagnose.Text(diagnose.Diagnose(t.Context(), scenario(t, dir), catalog, diagnose.Options{}))
	}
	for dir, want := range wants {
		for _, part := range want.Never {
			found := given(t, dir, part)
			for other, text := range said {
				found = found || other != dir && strings.Contains(text, part)
			}
			if !found {
				t.Errorf("%s: never: %q is said of no other scenario and stands in nothing that this one gives to read", dir, part)
			}
		}
	}
}

// given says that a text stands in a file of a scenario besides what is expected of it.
func given(t *testing.T, dir, part string) bool {
	t.Helper()
	found := false
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == "expect.yaml" {
			return err
		}
		text, err := os.ReadFile(name)
		found = found || strings.Contains(string(text), part)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (e expectation) compare(t *testing.T, r diagnose.Result) {
	t.Helper()
	text := diagnose.Text(r)
	got := expectation{Healthy: diagnose.HealthyWord(r.Verdict), Verdict: string(r.Verdict), Category: r.Category}
	if r.Root != nil {
		got.Signature, got.Standing, got.Pod, got.Line = r.Root.Signature, string(r.Root.Standing), r.Root.Source.Pod, r.Root.Line
		got.Owner, got.Retry = string(r.Root.Owner), string(r.Root.Retry)
	}
	for what, pair := range map[string][2]string{
		"healthy": {got.Healthy, e.Healthy}, "verdict": {got.Verdict, e.Verdict}, "category": {got.Category, e.Category},
		"signature": {got.Signature, e.Signature}, "standing": {got.Standing, e.Standing}, "pod": {got.Pod, e.Pod},
		"owner": {got.Owner, e.Owner}, "retry": {got.Retry, e.Retry},
	} {
		if pair[1] != "" && pair[0] != pair[1] {
			t.Errorf("%s = %q, want %q", what, pair[0], pair[1])
		}
	}
	if !strings.Contains(got.Line, e.Line) {
		t.Errorf("line = %q, want %q in it", got.Line, e.Line)
	}
	for _, part := range e.Shows {
		if !strings.Contains(text, part) {
			t.Errorf("the text does not show %q", part)
		}
	}
	for _, part := range e.Never {
		if strings.Contains(text, part) {
			t.Errorf("the text says %q", part)
		}
	}
	if t.Failed() {
		t.Logf("%s\n%s", e.Says, text)
	}
}

// scenario reads a folder: a bundle, or what people hand over as files.
func scenario(t *testing.T, dir string) diagnose.Case {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "bundle.json")); err == nil {
		c, err := collect.Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := diagnose.Case{Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	for _, f := range files {
		name := filepath.Base(f)
		if name == "expect.yaml" {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(name, "log") {
			c.AddLog(name, text)
		} else {
			bare.Add(&c, name, text)
		}
	}
	c.Adopt()
	return c
}
