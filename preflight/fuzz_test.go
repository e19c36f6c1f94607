package preflight_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check/checktest"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

// FuzzReview: no object makes a reader, a check or the fit fail, and what is said about it
// is a text with a severity.
func FuzzReview(f *testing.F) {
	fixtures, err := filepath.Glob("checks/*/testdata/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, dir := range fixtures {
		for _, x := range checktest.Load(f, dir) {
			raw, err := json.Marshal(x.Input.Job.Source.Object)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(raw, true)
		}
	}
	f.Add([]byte(`{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":null,"spec":{"pytorchReplicaSpecs":{"Worker":null}}}`), false)
	view := snapshot(f, four)
	reviewer := &preflight.Reviewer{Checks: allChecks(f)}
	f.Fuzz(func(t *testing.T, raw []byte, update bool) {
		var object map[string]any
		if json.Unmarshal(raw, &object) != nil || object == nil {
			return
		}
		req := preflight.Request{Object: &unstructured.Unstructured{Object: object}, Cluster: view}
		if update {
			req.Old = &unstructured.Unstructured{Object: map[string]any{"apiVersion": object["apiVersion"], "kind": object["kind"]}}
		}
		report, err := reviewer.Review(t.Context(), req)
		if _, unknown := errors.AsType[*preflight.UnknownKindError](err); unknown {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if failures := report.Failures(); len(failures) > 0 {
			t.Errorf("our fault: %q", failures)
		}
		for _, found := range report.Lines() {
			if found.Message == "" || found.Severity < finding.Note || found.Check == "" {
				t.Errorf("says nothing: %+v", found)
			}
		}
		if _, err := json.Marshal(report); err != nil {
			t.Error(err)
		}
	})
}
