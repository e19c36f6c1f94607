package webhook

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

func TestAnAnswerAboutTheFitIsReadAsItWasGiven(t *testing.T) {
	cases := map[string]struct {
		result fit.Result
		want   string // as a shell prints it
	}{
		"fits":    {fit.Result{Verdict: fit.Fits, Placed: 6, Wanted: 6, Plan: []fit.Placement{{Group: "Worker", Node: "secret-node", Count: 6}}}, "6 of 6 pods fit"},
		"full":    {fit.Result{Verdict: fit.Full, Placed: 4, Wanted: 6, Reason: "others hold the GPUs", WaitsForOthers: true}, "4 of 6 pods fit now: others hold the GPUs"},
		"unknown": {fit.Result{Wanted: 6, Assumed: []string{"the view is old"}}, "not known whether 6 pods fit: the view is old"},
		"over a quota": {
			fit.Result{Verdict: fit.Fits, Placed: 2, Wanted: 2, Violations: []quota.Violation{{Rule: quota.RuleQuota, When: quota.Never, Kind: "ResourceQuota", Namespace: "ml", Name: "gpu", Message: "16 asked; 8 allowed"}}},
			"more than the ResourceQuota allows; the nodes would take 2 of 2 pods: ResourceQuota ml/gpu: 16 asked; 8 allowed",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := FitOf(append([]string{"[shm-missing] spec: no shared memory"}, fitLines(&tc.result)...))
			if !ok {
				t.Fatal("no answer is read")
			}
			if diff := cmp.Diff(tc.want, got.String()); diff != "" {
				t.Errorf("FitOf (-want +got):\n%s", diff)
			}
			if got.WaitsForOthers != tc.result.WaitsForOthers || got.Blocked() != tc.result.Blocked() {
				t.Errorf("waits %t, blocked %t; want %t and %t", got.WaitsForOthers, got.Blocked(), tc.result.WaitsForOthers, tc.result.Blocked())
			}
		})
	}
	if _, ok := FitOf([]string{"[gang-does-not-fit] spec: 0 of 6 pods fit"}); ok {
		t.Error("warnings of an apply are taken for an answer")
	}
}
