package controller

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// Another controller, or a user in a loop, may write our annotations for ever. What is wrong is told as one Event, and the
// job is written less and less often; what is new of it is written at once.
func TestWhoWritesOurAnnotationsAllTheTimeIsNotAnsweredAllTheTime(t *testing.T) {
	for name, tc := range map[string]struct {
		fails      bool
		key, value string
		manager    string // has written the diagnosis; empty: nobody else
	}{
		"the diagnosis":           {true, Diagnosis, `{"schema":"signalbox.dev/diagnosis/v1","verdict":"healthy"}`, "kubectl-annotate"},
		"what is wrong":           {true, Error, "nothing at all", FieldOwner},
		"why a job waits":         {false, Waiting, "the weather", FieldOwner},
		"a new text at each time": {true, Error, "%d", FieldOwner},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if tc.fails {
				w.condition("Failed", "PyTorchJobFailed")
				w.pod("master", oomKilled)
			} else {
				w.condition("Running", "PyTorchJobRunning")
				w.pod("master", nil)
			}
			w.pod("worker", nil)
			w.reconcile()
			began, events := len(w.patches), len(w.events())
			last, longest := w.now, time.Duration(0)
			for at := time.Duration(0); at < time.Hour; at += time.Second {
				value := tc.value
				if value == "%d" {
					value = fmt.Sprint(at)
				}
				w.annotate(tc.key, value)
				w.managedBy(tc.manager)
				had := len(w.patches)
				w.reconcile()
				if len(w.patches) > had {
					last, longest = w.now, max(longest, w.now.Sub(last))
				}
				w.pass(time.Second)
			}
			if got := len(w.patches) - began; got < 2 || got > 24 {
				t.Errorf("the job is written %d times within an hour; want a few times", got)
			}
			if longest != 5*time.Minute {
				t.Errorf("it is left alone for %s at most; want five minutes", longest)
			}
			if diff := cmp.Diff(events, len(w.events())); diff != "" {
				t.Errorf("Events (-want +got):\n%s", diff)
			}
			if tc.fails { // what is new is said, whoever else writes
				return
			}
			w.condition("Failed", "PyTorchJobFailed")
			w.pods = nil
			w.pod("master", oomKilled)
			w.pod("worker", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
			w.reconcile()
			if got := w.job.GetAnnotations()[Healthy]; got != "No" {
				t.Errorf("after its end the job says %q", got)
			}
			w.pass(24 * time.Hour)
			w.annotate(Error, "nothing at all")
			w.reconcile()
			if got := w.job.GetAnnotations()[Error]; got == "nothing at all" {
				t.Error("once the others have ceased, what they left stays")
			}
		})
	}
}
