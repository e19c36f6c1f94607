package controller

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/ledger"
)

// attempt is a worker that runs out of memory on a node, from one time to another, under a UID of its own.
func attempt(uid, node string, began, ended time.Time) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		oomKilled(p)
		p.UID, p.Spec.NodeName, p.CreationTimestamp = types.UID(uid), node, metav1.NewTime(began)
		t := p.Status.ContainerStatuses[0].State.Terminated
		t.StartedAt, t.FinishedAt = metav1.NewTime(began), metav1.NewTime(ended)
	}
}

func TestEveryAttemptStaysOnTheJob(t *testing.T) {
	w := newWorld(t)
	w.job.SetCreationTimestamp(metav1.NewTime(start.Add(-10 * time.Hour)))
	for i, node := range []string{"h7", "h7", "h2", "h7"} {
		began := start.Add(time.Duration(2*i) * time.Hour)
		w.now = began.Add(time.Hour)
		w.pods = nil
		w.pod("worker", attempt("uid-"+string(rune('a'+i)), node, began, w.now.Add(-time.Minute)))
		w.condition("Restarting", "PyTorchJobRestarting")
		w.reconcile()
		w.pass(10 * time.Second)
		w.reconcile()
		w.restart() // nothing is remembered but what stands on the job
	}
	on := w.job.GetAnnotations()
	l, err := ledger.Decode(on[Attempts])
	if err != nil || len(l.Attempts) != 4 {
		t.Fatalf("%d attempts stand on the job (%v), want 4:\n%s", len(l.Attempts), err, on[Attempts])
	}
	for _, want := range []string{"3 of 4 attempts that failed died first on h7.", "The 4 attempts that failed took 31 GPU hours."} {
		if !strings.Contains(on[Analysis], want) {
			t.Errorf("the analysis lacks %q:\n%s", want, on[Analysis])
		}
	}
}

func TestAJobThatWasCreatedAgainHasNoAttempts(t *testing.T) {
	w := newWorld(t)
	w.annotate(Attempts, `{"attempts":[{"n":1,"began":"2026-11-01T00:00:00Z","ended":"2026-11-01T01:00:00Z","cause":"gpu-oom","node":"h1"}]}`)
	w.pod("worker", attempt("uid-a", "h2", start.Add(-9*time.Minute), start.Add(-time.Minute)))
	w.condition("Failed", "PyTorchJobFailed")
	w.reconcile()
	l, err := ledger.Decode(w.job.GetAnnotations()[Attempts])
	if err != nil || len(l.Attempts) != 1 || l.Attempts[0].Node != "h2" || l.Attempts[0].Number != 1 {
		t.Errorf("the job carries (%v) %+v, want its own attempt on h2 alone", err, l.Attempts)
	}
}
