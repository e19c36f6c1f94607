package report

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
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

// A job whose Master took the node of its own Worker was not preempted by others: it lacks nodes.
func TestAJobDoesNotGiveWayToItself(t *testing.T) {
	d := &draft{Findings: &Findings{}}
	d.Job = &job.Job{Ref: job.Ref{Kind: "PyTorchJob", Namespace: "ml", Name: "train"}}
	d.Seen.Pods = []control.Pod{{Name: "train-master-0", UID: "m"}, {Name: "train-worker-0", UID: "w"}}
	at := map[string]time.Time{"train-worker-0": {}}
	for by, want := range map[string]bool{"m": true, "other": false} {
		d.Events = []corev1.Event{{
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "train-worker-0"}, Reason: "Preempted", Message: "Preempted by pod " + by + " on node gpu-1",
		}}
		if got := d.tookItself(at); got != want {
			t.Errorf("preempted by %s: %t, want %t", by, got, want)
		}
	}
}
