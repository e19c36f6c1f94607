package policies_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/check/checktest"
	"github.com/signalbox-dev/signalbox/preflight/checks"
)

// TestTheLibraryWithoutDataRulesNothing holds Quiet against the compiled library, over all
// fixtures of the checks, in a namespace that enforces.
func TestTheLibraryWithoutDataRulesNothing(t *testing.T) {
	loaded, err := policies.Load(policies.Library())
	if err != nil {
		t.Fatal(err)
	}
	quiet, err := policies.Quiet()
	if err != nil {
		t.Fatal(err)
	}
	set, err := check.NewSet(checks.All()...)
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := filepath.Glob("../preflight/checks/*/testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	reviews := 0
	for _, dir := range dirs {
		for _, f := range checktest.Load(t, dir) {
			req := preflight.Request{Object: f.Input.Job.Source, Cluster: f.Input.Cluster, Namespace: map[string]string{preflight.ModeLabel: preflight.ModeEnforce}, User: "ana"}
			var reports []preflight.Report
			for _, engine := range []preflight.Engine{loaded, quiet} {
				r, err := (&preflight.Reviewer{Checks: set, Policies: engine}).Review(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				reports = append(reports, r)
			}
			reviews++
			if diff := cmp.Diff(reports[0].Rulings, reports[1].Rulings) + cmp.Diff(reports[0].Undecided, reports[1].Undecided) + cmp.Diff(reports[0].Revision, reports[1].Revision); diff != "" {
				t.Errorf("%s/%s (-compiled +quiet):\n%s", dir, f.Name, diff)
			}
		}
	}
	if reviews < 100 {
		t.Errorf("%d reviews; want all fixtures", reviews)
	}
}
