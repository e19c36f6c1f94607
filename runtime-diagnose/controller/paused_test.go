package controller

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func (w *world) suspend(yes bool) {
	if err := unstructured.SetNestedField(w.job.Object, yes, "spec", "runPolicy", "suspend"); err != nil {
		w.t.Fatal(err)
	}
	w.job.SetGeneration(w.job.GetGeneration() + 1)
}

func TestAJobThatIsPausedSaysSoAndTakesItBack(t *testing.T) {
	cases := map[string]func(*world){
		"its operator says so":       func(w *world) { w.condition("Suspended", "PyTorchJobSuspended") },
		"its operator says nothing":  func(*world) {},
		"its operator says it runs":  func(w *world) { w.condition("Running", "PyTorchJobRunning") },
		"and nothing has acted ever": func(w *world) { w.job.SetCreationTimestamp(metav1.NewTime(start.Add(-24 * time.Hour))) },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.suspend(true)
			change(w)
			for range 3 {
				w.reconcile()
				w.pass(time.Minute)
			}
			on := w.job.GetAnnotations()
			if on[Healthy] != "Yes" || !strings.HasPrefix(on[Waiting], "suspended: it asks for no pods now") || !strings.HasPrefix(on[Analysis], restsWord) || on[Error] != "" {
				t.Fatalf("the job says: %v", on)
			}
			if n := len(w.patches); n != 1 {
				t.Errorf("it was written %d times, want once", n)
			}
			w.suspend(false)
			w.condition("Running", "PyTorchJobRunning")
			for _, role := range []string{"master", "worker"} {
				w.pod(role, func(p *corev1.Pod) { at := metav1.NewTime(w.now); p.Status.StartTime = &at })
			}
			for range 3 {
				w.reconcile()
				w.pass(time.Minute)
			}
			on = w.job.GetAnnotations()
			if on[Waiting] != "" || on[Healthy] != "Yes" || strings.Contains(on[Analysis], "suspended") {
				t.Errorf("it runs, and says: %v", on)
			}
		})
	}
}

// An operator that does not see that a pause is over does not act, and that is what the job says.
func TestAJobThatNobodyResumesSaysSo(t *testing.T) {
	w := newWorld(t)
	w.condition("Suspended", "PyTorchJobSuspended")
	w.suspend(false)
	for range 3 {
		w.reconcile()
		w.pass(time.Minute)
	}
	on := w.job.GetAnnotations()
	if on[Healthy] != "No" || !strings.Contains(on[Error], "makes no pods") || strings.HasPrefix(on[Waiting], restsWord) {
		t.Errorf("the job says: %v", on)
	}
}

// Pods of a job that is paused end one after the other: that is no failure, and not nothing.
func TestAJobThatIsBeingPausedSaysWhatItStillHolds(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(p *corev1.Pod)
		says   string
	}{
		"the pods end": {
			func(p *corev1.Pod) {
				at := metav1.NewTime(start)
				p.DeletionTimestamp, p.Finalizers = &at, []string{"x/y"}
			}, "2 pods are still ending.",
		},
		"nobody ends them": {func(*corev1.Pod) {}, "2 pods are still there, 0 of them ending: until they end, they hold what they asked for."},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.condition("Running", "PyTorchJobRunning")
			for _, role := range []string{"master", "worker"} {
				w.pod(role, func(p *corev1.Pod) {
					at := metav1.NewTime(w.now)
					p.Status.StartTime = &at
					tc.change(p)
				})
			}
			w.suspend(true)
			for range 3 {
				w.reconcile()
				w.pass(time.Minute)
			}
			on := w.job.GetAnnotations()
			if on[Healthy] != "Yes" || !strings.Contains(on[Waiting], "suspended: it asks for no pods now") || !strings.Contains(on[Waiting], tc.says) || on[Error] != "" ||
				!strings.Contains(on[Waiting], "spec.runPolicy.suspend is true: it starts once that is false") {
				t.Errorf("the job says: %v", on)
			}
			w.pods = nil
			for range 3 {
				w.reconcile()
				w.pass(time.Minute)
			}
			if on = w.job.GetAnnotations(); strings.Contains(on[Waiting], "still") || !strings.HasPrefix(on[Waiting], restsWord) {
				t.Errorf("its pods are gone, and it says: %v", on)
			}
		})
	}
}
