package policies_test

import (
	"os"
	"testing"

	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks"
)

func TestLibrary(t *testing.T) {
	set, err := check.NewSet(checks.All()...)
	if err != nil {
		t.Fatal(err)
	}
	results, _, err := policies.Test(t.Context(), os.DirFS("library"), set)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		t.Run(r.Fixture, func(t *testing.T) {
			if r.Problem != "" {
				t.Error(r.Problem)
			}
		})
	}
	of := map[string]bool{}
	for _, r := range results {
		of[r.Policy] = true
	}
	if len(of) < 23 || len(results) < 110 {
		t.Errorf("%d fixtures of %d policies were tested; want 110 of 23 at least", len(results), len(of))
	}
}
