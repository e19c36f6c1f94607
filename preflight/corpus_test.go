package preflight_test

import (
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// manifestDirs are where labelled manifests may lie, seen from this folder.
var manifestDirs = []string{os.Getenv("SIGNALBOX_MANIFESTS"), "../../shared/corpus/manifests", "../test/corpus/manifests"}

// TestRealManifests reviews real manifests without a cluster view: no reader or check
// fails, and nothing that runs is called an error. A missed mistake is fine here.
func TestRealManifests(t *testing.T) {
	dir := manifestDir()
	if dir == "" {
		t.Skip("no manifests here; SIGNALBOX_MANIFESTS names their folder")
	}
	fails, labels := labelsIn(t, filepath.Join(dir, "LABELS.tsv"))
	reviewer := &preflight.Reviewer{Checks: allChecks(t)}
	files, err := filepath.Glob(filepath.Join(dir, "dev", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	view := snapshot(t, four)
	jobs, findings := 0, 0
	for _, file := range files {
		base := filepath.Base(file)
		for _, r := range reviewFile(t, reviewer, file, preflight.Request{Cluster: view, Live: true}) {
			for _, f := range r.Failures() {
				t.Errorf("%s, with a cluster: %s", base, f)
			}
		}
		for _, r := range reviewFile(t, reviewer, file, preflight.Request{}) {
			jobs++
			for _, f := range r.Failures() {
				t.Errorf("%s: %s", base, f)
			}
			for _, f := range r.Findings {
				findings++
				t.Logf("%s: %s %s   {%s}", base, f.Severity, f.Line(), labels[base])
				if f.Severity == finding.Error && !fails[base] {
					t.Errorf("%s: an error on a manifest that is not known to fail: %s", base, f.Line())
				}
			}
		}
	}
	t.Logf("%d files, %d jobs, %d findings", len(files), jobs, findings)
	if jobs < 100 {
		t.Errorf("%d jobs were read; want 100 at least: do the readers still cover the kinds?", jobs)
	}
}

func manifestDir() string {
	for _, d := range manifestDirs {
		if _, err := os.Stat(filepath.Join(d, "LABELS.tsv")); d != "" && err == nil {
			return d
		}
	}
	return ""
}

// labelsIn says which files are known to fail, and what is known of each.
func labelsIn(t *testing.T, file string) (fails map[string]bool, issues map[string]string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	fails, issues = map[string]bool{}, map[string]string{}
	for _, row := range rows {
		if len(row) < 5 {
			continue
		}
		fails[row[0]] = fails[row[0]] || row[3] == "would-fail"
		issues[row[0]] += row[1] + " "
	}
	return fails, issues
}

func reviewFile(t *testing.T, reviewer *preflight.Reviewer, file string, req preflight.Request) (out []preflight.Report) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for doc, err := range manifest.Read(file, strings.NewReader(string(text))) {
		if err != nil || doc.List {
			continue // what is no YAML is not for a review
		}
		req.Object, req.Source = doc.Object, doc.Where()
		r, err := reviewer.Review(t.Context(), req)
		if _, unknown := errors.AsType[*preflight.UnknownKindError](err); unknown {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func allChecks(t testing.TB) *check.Set {
	t.Helper()
	set, err := check.NewSet(checks.All()...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}
