package controller

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
)

func looks() priorityqueue.PriorityQueue[Request] {
	return newLookQueue("", workqueue.NewTypedItemExponentialFailureRateLimiter[Request](firstRetry, lastRetry)).(priorityqueue.PriorityQueue[Request])
}

// inOrder are the looks that are ready, as one worker gets them.
func inOrder(q priorityqueue.PriorityQueue[Request], n int) (out []string) {
	for range min(n, q.Len()) {
		r, _ := q.Get()
		q.Done(r)
		out = append(out, r.Namespace+"/"+r.Name)
	}
	return out
}

// Of a namespace with 5,000 jobs that failed before that of another, one is looked at before it.
func TestJobsOfANamespaceThatFailTogetherHoldUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := looks()
		defer q.ShutDown()
		for i := range 5000 {
			q.AddAfter(Request{"PyTorchJob", "greedy", fmt.Sprint(i)}, 25*time.Millisecond)
		}
		q.AddAfter(Request{"PyTorchJob", "ml", "a"}, 26*time.Millisecond)
		time.Sleep(time.Second) //nolint:forbidigo // the clock of the bubble runs; nobody waits
		synctest.Wait()
		got := inOrder(q, 2)
		q.Add(Request{"PyTorchJob", "ml", "b"})
		if got = append(got, inOrder(q, 2)...); len(got) != 4 || got[1] != "ml/a" || got[3] != "ml/b" {
			t.Errorf("looked at in the order %v; want every second one of another namespace", got)
		}
		if got := len(inOrder(q, 5000)); got != 4998 {
			t.Errorf("%d more are looked at, want 4998", got)
		}
		if l := q.(*lookQueue); len(l.priorities)+len(l.ready) != 0 {
			t.Errorf("of %d and %d something is remembered", len(l.priorities), len(l.ready))
		}
	})
}

// What a first list brings comes after what changes, of a namespace as well.
func TestWhatAFirstListBringsComesLater(t *testing.T) {
	q := looks()
	defer q.ShutDown()
	low := handler.LowPriority
	for _, name := range []string{"first", "second", "changes"} {
		q.AddWithOpts(priorityqueue.AddOpts{Priority: &low}, Request{"PyTorchJob", "ml", name})
	}
	q.AddWithOpts(priorityqueue.AddOpts{After: time.Hour}, Request{"PyTorchJob", "ml", "changes"})
	q.Add(Request{"PyTorchJob", "other", "new"})
	if diff := cmp.Diff([]string{"ml/changes", "other/new", "ml/first", "ml/second"}, inOrder(q, 4)); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if n := q.Len(); n != 0 {
		t.Errorf("%d are looked at once more", n)
	}
	q.AddWithOpts(priorityqueue.AddOpts{Priority: &low}, Request{"PyTorchJob", "ml", "again"})
	if _, priority, _ := q.GetWithPriority(); priority != low {
		t.Errorf("its priority is %d, want %d: what is looked at again keeps it", priority, low)
	}
}
