package diagnose_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// A Framework between two attempts says how long it waits, and until when where it says since when.
func TestWhenTheNextAttemptBegins(t *testing.T) {
	for name, tc := range map[string]struct {
		state, since string
		delay        any
		want         string // empty: nothing is said of a next attempt
	}{
		"it says since when":           {"AttemptCompleted", "2026-03-01T12:00:00Z", int64(90), "It waits 90 s between attempts: the next attempt begins at 12:01:30."},
		"as JSON numbers are read":     {"AttemptCompleted", "2026-03-01T12:00:00Z", float64(90), "It waits 90 s between attempts: the next attempt begins at 12:01:30."},
		"without a delay between them": {"AttemptCompleted", "2026-03-01T12:00:00Z", int64(0), "It waits 0 s between attempts: the next attempt begins at 12:00:00."},
		"it does not say since when":   {"AttemptCompleted", "", int64(90), "It waits 90 s before the next attempt."},
		"no delay is written":          {"AttemptCompleted", "2026-03-01T12:00:00Z", nil, ""},
		"a delay that is no number":    {"AttemptCompleted", "2026-03-01T12:00:00Z", "soon", ""},
		"an attempt runs":              {"AttemptRunning", "2026-03-01T12:00:00Z", int64(90), ""},
		"it is over":                   {"Completed", "2026-03-01T12:00:00Z", int64(90), ""},
	} {
		t.Run(name, func(t *testing.T) {
			policy := map[string]any{"totalRetriedCount": int64(3)}
			if tc.delay != nil {
				policy["retryDelaySec"] = tc.delay
			}
			u := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"state": tc.state, "retryPolicyStatus": policy}}}
			c := diagnose.Case{
				Job:   &job.Job{Ref: job.Ref{APIVersion: "frameworkcontroller.microsoft.com/v1", Kind: "Framework", Name: "fw"}, Source: u},
				State: kinds.State{Phase: kinds.Restarting, Since: tc.since}, Now: noon,
			}
			said := strings.Join(diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{}).Remarks, " ")
			if tc.want == "" && strings.Contains(said, "It waits") || !strings.Contains(said, tc.want) {
				t.Errorf("the remarks are %q, want %q", said, tc.want)
			}
		})
	}
}
