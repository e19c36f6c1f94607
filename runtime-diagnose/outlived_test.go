package diagnose_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
)

// What a node reported is over where its pods have trained on since, and only there.
func TestWhatANodeReportedIsOverOnceItsPodsTrainOn(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*diagnose.Case)
		want   string
	}{
		"they have, for long": {func(*diagnose.Case) {}, "Yes"},
		"too few steps since to tell": {func(c *diagnose.Case) {
			c.Events[0].LastTimestamp = metav1.NewTime(c.Now.Add(-8 * time.Minute))
		}, "No"},
		"the node is not ready": {func(c *diagnose.Case) {
			for i := range c.Nodes[0].Status.Conditions {
				if s := &c.Nodes[0].Status.Conditions[i]; s.Type == corev1.NodeReady {
					s.Status = corev1.ConditionUnknown
				}
			}
		}, "No"},
		"no node was read": {func(c *diagnose.Case) { c.Nodes = nil }, "No"},
		"the pod on it has no log that was read": {func(c *diagnose.Case) {
			c.Logs = c.Logs[1:]
		}, "No"},
	} {
		c, err := collect.Open(t.Context(), "testdata/scenarios/detector-reports-what-hurts-nobody")
		if err != nil {
			t.Fatal(err)
		}
		tc.change(&c)
		if got := diagnose.HealthyWord(diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{}).Verdict); got != tc.want {
			t.Errorf("%s: healthy %s, want %s", name, got, tc.want)
		}
	}
}
