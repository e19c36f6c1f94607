package report

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// Of many for whom pods gave way some are named and the others counted; the scheduler before 1.27 names them itself.
func TestThoseWhoTookNodesAreNamedUpToABound(t *testing.T) {
	d := &draft{Findings: &Findings{}}
	d.Bundle = evidence.Bundle{}
	at := map[string]time.Time{}
	for i := range mostTakers + 1 {
		victim := fmt.Sprintf("train-worker-%d", i)
		at[victim] = time.Time{}
		d.Events = append(d.Events, corev1.Event{
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: victim}, Reason: "Preempted", Message: fmt.Sprintf("Preempted by prod/urgent-%d on node gpu-%d", i, i),
		})
	}
	if who, find := d.takers(at); who != "pod prod/urgent-0 and pod prod/urgent-1 and 1 more" || find != "" {
		t.Errorf("takers are %q; find %q", who, find)
	}
}
