package webhook

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks"
)

// People copy samples: no check may have anything to say about them.
func TestSamplesAreGoodJobs(t *testing.T) {
	set, err := check.NewSet(checks.All()...)
	if err != nil {
		t.Fatal(err)
	}
	reviewer := &preflight.Reviewer{Checks: set}
	paths, err := filepath.Glob("../config/samples/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			u := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(text, &u.Object); err != nil {
				t.Fatal(err)
			}
			u.SetNamespace("default")
			report, err := reviewer.Review(t.Context(), preflight.Request{Object: u, Namespace: map[string]string{}})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range report.Findings {
				t.Errorf("%s: %s. %s", f.Severity, f.Line(), f.Remedy)
			}
			if report.Ran == 0 {
				t.Error("no check ran")
			}
		})
	}
}
