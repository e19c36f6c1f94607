package controller

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func asking(namespace, name string, gpus int64) task {
	return task{key: Request{"PyTorchJob", namespace, name}, gpus: gpus}
}

// order is how the questions that wait are asked where one namespace's is over before the next begins.
func order(t *testing.T, q *fairQueue) (out []string) {
	t.Helper()
	for {
		next, ok := q.next()
		if !ok {
			return out
		}
		out = append(out, next.key.Namespace+"/"+next.key.Name)
		q.done(next.key.Namespace)
	}
}

func TestTheLargestJobOfANamespaceIsAskedAboutFirstAndNamespacesTakeTurns(t *testing.T) {
	q := newFairQueue()
	for _, next := range []task{asking("a", "one", 1), asking("a", "many", 512), asking("a", "another", 1), asking("b", "eight", 8), asking("c", "none", 0)} {
		if !q.offer(next) {
			t.Fatalf("no room for %v", next.key)
		}
	}
	if diff := cmp.Diff([]string{"a/many", "b/eight", "c/none", "a/one", "a/another"}, order(t, q)); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if q.held+len(q.waiting)+len(q.running)+len(q.last) != 0 {
		t.Errorf("something is left: %+v", q)
	}
}

func TestOneNamespaceHasOneQuestionAndAllHaveEight(t *testing.T) {
	q := newFairQueue()
	for n := range mostAsked + 1 {
		for range 2 {
			q.offer(asking(fmt.Sprint(n), "j", 0))
		}
	}
	asked := map[string]bool{}
	for {
		next, ok := q.next()
		if !ok {
			break
		}
		if asked[next.key.Namespace] {
			t.Errorf("two questions of %s at a time", next.key.Namespace)
		}
		asked[next.key.Namespace] = true
	}
	if len(asked) != mostAsked {
		t.Errorf("%d are asked, want %d", len(asked), mostAsked)
	}
	q.done("0")
	if next, ok := q.next(); !ok || next.key.Namespace != fmt.Sprint(mostAsked) {
		t.Errorf("then %v, want the namespace that had no turn yet", next.key)
	}
}

// One namespace with any number of failures leaves half of the places to others, and places are bounded.
func TestPlacesToWait(t *testing.T) {
	q := newFairQueue()
	for n := range 10 * waitingTasks {
		q.offer(asking("greedy", fmt.Sprint(n), 8))
	}
	if got := q.count(); got != waitingTasks/2 {
		t.Errorf("one namespace holds %d places of %d, want half", got, waitingTasks)
	}
	if !q.offer(asking("modest", "j", 1)) {
		t.Error("another finds no room")
	}
	for n := range waitingTasks + 1 {
		q.offer(asking(fmt.Sprint(n), "j", 1))
	}
	if got := q.count(); got != waitingTasks {
		t.Errorf("%d wait, want %d", got, waitingTasks)
	}
	if q.offer(asking("late", "j", 512)) {
		t.Error("one more than there are places")
	}
}
