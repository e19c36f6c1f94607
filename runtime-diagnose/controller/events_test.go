package controller

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// said is an Event about an object of the namespace of the jobs.
func said(kind, name, reason, message string, at time.Time) *corev1.Event {
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name + "." + reason}, Type: "Normal", Reason: reason, Message: message,
		InvolvedObject: corev1.ObjectReference{Kind: kind, Namespace: "ml", Name: name, UID: "gone"}, FirstTimestamp: metav1.NewTime(at), LastTimestamp: metav1.NewTime(at),
	}
}

// A job was diagnosed before the kubelet said that it stopped the pod that is gone: what is said then stands on the job
// after the Event, though nothing else has changed.
func TestAnEventThatComesAfterTheDiagnosisChangesIt(t *testing.T) {
	w := newWorld(t)
	w.condition("Failed", "PyTorchJobFailed")
	w.job.Object["status"].(map[string]any)["conditions"].([]any)[0].(map[string]any)["lastTransitionTime"] = start.Format(time.RFC3339)
	w.pod("master", nil)
	made := said("PyTorchJob", "train", "SuccessfulCreatePod", "Created pod: train-worker-0", start.Add(-time.Hour))
	made.InvolvedObject.UID = "job-1"
	killing := said("Pod", "train-worker-0", "Killing", "Stopping container pytorch", start)
	write := func(e *corev1.Event) {
		t.Helper()
		if _, err := w.kube.CoreV1().Events("ml").Create(t.Context(), e, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	write(made)
	w.reconcile()
	const deleted = "train-worker-0: the pod was deleted while it ran"
	if got := w.job.GetAnnotations()[Error]; strings.Contains(got, "deleted") {
		t.Fatalf("without the Event the job says %q", got)
	}
	write(killing)
	w.pass(time.Second)
	if w.reconcile(); strings.Contains(w.job.GetAnnotations()[Error], "deleted") {
		t.Fatal("a look reads everything anew though nothing has changed")
	}
	var looks []Request
	w.memory.onEvent(killing, []string{"Job", "PyTorchJob"}, func(key Request, after time.Duration) {
		if after > visible {
			t.Errorf("it is looked at after %s", after)
		}
		looks = append(looks, key)
	})
	if len(looks) != 1 || looks[0] != (Request{"PyTorchJob", "ml", "train"}) {
		t.Fatalf("looked at again: %v", looks)
	}
	w.pass(hearAfter)
	w.reconcile()
	if got := w.job.GetAnnotations()[Error]; got != deleted {
		t.Errorf("the job says %q, want %q", got, deleted)
	}
}

func TestWhichEventsAJobHears(t *testing.T) {
	for name, tc := range map[string]struct {
		event *corev1.Event
		want  bool
	}{
		"of its pod":                       {said("Pod", "train-worker-0", "Killing", "", start), true},
		"of itself":                        {said("PyTorchJob", "train", "SuccessfulDeletePod", "", start), true},
		"of what stands between":           {said("ReplicaSet", "train-x", "FailedCreate", "", start), true},
		"of a job whose name begins alike": {said("Pod", "trainer-worker-0", "Killing", "", start), false},
		"what the pod says itself":         {said("Pod", "train-worker-0", "FailedScheduling", "", start), false},
		"of another namespace": {func() *corev1.Event {
			e := said("Pod", "train-worker-0", "Killing", "", start)
			e.InvolvedObject.Namespace = "prod"
			return e
		}(), false},
		"written by Signalbox": {func() *corev1.Event {
			e := said("PyTorchJob", "train", "x", "", start)
			e.ReportingController = FieldOwner
			return e
		}(), false},
		"of an object without a name":       {said("PyTorchJob", "", "x", "", start), false},
		"of one that begins with a hyphen":  {said("Pod", "-train", "x", "", start), false},
		"of one that the job's name is all": {said("Pod", "train-", "x", "", start), true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.condition("Failed", "PyTorchJobFailed")
			w.pod("master", nil)
			hears := func() (heard bool) {
				w.memory.onEvent(tc.event, []string{"PyTorchJob"}, func(Request, time.Duration) { heard = true })
				return heard
			}
			if hears() {
				t.Error("a job that nobody looked at hears it")
			}
			w.reconcile()
			if got := hears(); got != tc.want {
				t.Errorf("it hears it: %v, want %v", got, tc.want)
			}
		})
	}
	t.Run("a job that is well", func(t *testing.T) {
		w := newWorld(t)
		w.condition("Succeeded", "PyTorchJobSucceeded")
		w.reconcile()
		w.memory.onEvent(said("Pod", "train-worker-0", "Killing", "", start), []string{"PyTorchJob"}, func(Request, time.Duration) {
			t.Error("a job that is well hears of its pods by their own states")
		})
	})
}
