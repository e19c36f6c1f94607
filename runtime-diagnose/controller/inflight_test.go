package controller

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/capture"
)

// handled gives an event of the world's job to the handler that Add installs, and says how many looks it asks for.
func (w *world) handled(before, after *unstructured.Unstructured) int {
	h := (&watcher{served: w.Served, inFlight: &w.inFlight, memory: &w.memory}).jobHandler(kinds.For(pytorchGVK))
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[Request]())
	defer q.ShutDown()
	h.Update(w.t.Context(), event.TypedUpdateEvent[*unstructured.Unstructured]{ObjectOld: before, ObjectNew: after}, q)
	return q.Len()
}

// A worker fails, and while hundreds of logs are read the operator gives the job up: what is said of the
// end does not wait for what nobody will read.
func TestALookGivesWayToTheEndOfItsJob(t *testing.T) {
	w := newWorld(t)
	w.job.SetResourceVersion("1")
	w.condition("Running", "PyTorchJobRunning")
	w.pod("master", oomKilled)
	w.pod("worker", nil)
	began, collected := make(chan struct{}), w.Collect
	w.Collect = func(ctx context.Context, k *kinds.Kind, u *unstructured.Unstructured) (diagnose.Case, error) {
		close(began)
		<-ctx.Done() // it takes longer than anybody waits
		return collected(ctx, k, u)
	}
	type outcome struct {
		again time.Duration
		err   error
	}
	done := make(chan outcome)
	go func() {
		result, err := w.Reconcile(t.Context(), key)
		done <- outcome{result.RequeueAfter, err}
	}()
	<-began
	before := w.job.DeepCopy()
	w.condition("Running", "PyTorchJobRestarting")
	w.job.SetResourceVersion("2")
	if n := w.handled(before, w.job); n != 1 {
		t.Errorf("%d looks after a change, want 1", n)
	}
	select {
	case o := <-done:
		t.Fatalf("a change that does not end the job broke the look off: %+v", o)
	default:
	}
	before = w.job.DeepCopy()
	w.condition("Failed", "PyTorchJobFailed")
	w.job.SetResourceVersion("3")
	if n := w.handled(before, w.job); n != 1 {
		t.Errorf("%d looks after the end, want 1", n)
	}
	if o := <-done; o.again != 0 || o.err != nil || len(w.patches) != 0 {
		t.Errorf("the look that gave way: %+v, %d writes; want neither an error nor another look nor a write", o, len(w.patches))
	}
	w.Collect = collected
	w.reconcile()
	if s, _ := readStored(w.job.GetAnnotations()); s.Category != "host-oom-killed" {
		t.Errorf("after the end the job says %+v", s)
	}
}

// What gives way is a look at a job that had not ended: the last one is not disturbed by what follows.
func TestTheLookAtTheEndStays(t *testing.T) {
	w := newWorld(t)
	w.job.SetResourceVersion("1")
	w.condition("Failed", "PyTorchJobFailed")
	w.pod("master", oomKilled)
	running := w.job.DeepCopy()
	running.Object["status"] = nil
	running.SetResourceVersion("0")
	collected := w.Collect
	w.Collect = func(ctx context.Context, k *kinds.Kind, u *unstructured.Unstructured) (diagnose.Case, error) {
		w.handled(running, w.job) // the cache has it before the handler is called
		return collected(ctx, k, u)
	}
	w.reconcile()
	if len(w.patches) != 1 {
		t.Errorf("%d writes, want 1", len(w.patches))
	}
}

// An API server that cannot be read says nothing about the job: what is remembered of it, and what was
// kept of its containers, stays. A kind that is read for the first time is waited for.
func TestWhatCannotBeReadIsNotForgotten(t *testing.T) {
	w := newWorld(t)
	w.condition("Failed", "PyTorchJobFailed")
	w.pod("master", oomKilled)
	w.Keep = capture.New(capture.Options{Kube: w.kube, Memory: 1 << 20})
	w.owners = owners{cache: w.cache(), served: w.Served}
	w.reconcile()
	if !w.Keep.Busy("job-1") {
		t.Fatal("nothing is kept of the job, so this proves nothing")
	}
	w.Cache = interceptor.NewClient(nil, interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return apierrors.NewTimeoutError("the list has not come", 1)
		},
	})
	if _, err := w.Reconcile(t.Context(), key); err == nil {
		t.Error("no error where the job cannot be read")
	}
	if w.memory.of("job-1", key).seen == "" || !w.Keep.Busy("job-1") {
		t.Error("an error of the cache forgot the job")
	}
	w.Served.remove("PyTorchJob")
	if again := w.reconcile(); again != 0 || w.memory.of("job-1", key).seen == "" || !w.Keep.Busy("job-1") {
		t.Errorf("a kind that is not served: next look after %s, and the job forgotten", again)
	}
	ready := w.Served.begin(kinds.For(pytorchGVK), pytorchGVK, func() {})
	if again := w.reconcile(); again != time.Second {
		t.Errorf("while the kind is read for the first time: next look after %s, want 1s", again)
	}
	ready()
	w.Cache = w.cache()
	w.reconcile()
	if w.forgetKind("PyTorchJob"); w.memory.of("job-1", key).seen != "" || w.Keep.Busy("job-1") {
		t.Error("a kind that is gone leaves its jobs behind")
	}
}

// A kind that goes while it is read for the first time does not come back when the read ends.
func TestAKindThatIsRemovedWhileItBegins(t *testing.T) {
	var s served
	stopped := false
	ready := s.begin(kinds.For(pytorchGVK), pytorchGVK, func() { stopped = true })
	if _, watched := s.watched("PyTorchJob"); !watched || !s.soon("PyTorchJob") {
		t.Error("a kind that begins is not watched")
	}
	s.remove("PyTorchJob")
	ready()
	if _, _, ok := s.find("PyTorchJob"); ok || s.soon("PyTorchJob") || !stopped {
		t.Errorf("found %v, stopped %v; want a kind that has gone", ok, stopped)
	}
}

// A failure that spreads is left to itself until it has come to rest, and for five seconds at most.
func TestAFailureThatSpreadsIsNotLeftToItselfForLong(t *testing.T) {
	for after, told := range map[time.Duration]bool{0: false, 4999 * time.Millisecond: false, 5 * time.Second: true, time.Minute: true} {
		w := newWorld(t)
		w.condition("Running", "PyTorchJobRunning")
		w.pod("master", oomKilled)
		w.pod("worker", nil)
		w.Keep = capture.New(capture.Options{Kube: w.kube, Memory: 1 << 20}) // which reads for ever: nobody starts it
		w.owners = owners{cache: w.cache(), served: w.Served}
		if again := w.reconcile(); again <= 0 || len(w.patches) > 0 {
			t.Fatalf("while logs are read the job is looked at again after %s, with %d writes", again, len(w.patches))
		}
		w.pass(after)
		if w.reconcile(); len(w.patches) > 0 != told {
			t.Errorf("after %s it is told: %t, want %t", after, len(w.patches) > 0, told)
		}
	}
}
