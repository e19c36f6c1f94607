package controller

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
)

// Of a thousand jobs on which no operator acts, each says so, and no more than twenty are looked at in one second: those who
// create jobs share the API server with them.
func TestJobsOnWhichNothingActsTakeTurns(t *testing.T) {
	w := newWorld(t)
	const jobs = 300
	due := map[types.UID]time.Time{}
	for i := range jobs {
		due[types.UID(fmt.Sprintf("job-%d", i))] = w.now
	}
	first, said := w.now, map[types.UID]bool{}
	for len(said) < jobs {
		looked := 0
		for uid, at := range due {
			if at.After(w.now) {
				continue
			}
			w.job.SetUID(uid)
			w.job.SetCreationTimestamp(metav1.NewTime(first.Add(-control.SilentAfter)))
			w.job.SetAnnotations(nil)
			before := len(w.patches)
			w.job.SetName(string(uid))
			result, err := w.Reconcile(t.Context(), Request{key.Kind, key.Namespace, w.job.GetName()})
			if err != nil {
				t.Fatal(err)
			}
			due[uid] = w.now.Add(max(result.RequeueAfter, time.Millisecond))
			if len(w.patches) > before {
				looked++
				said[uid] = true
				due[uid] = w.now.Add(time.Hour)
			}
		}
		if looked > 1 {
			t.Fatalf("%d jobs were written on in the same twentieth of a second", looked)
		}
		w.pass(firstEvery)
		if w.now.Sub(first) > jobs*firstEvery+time.Second {
			t.Fatalf("after %s %d of %d say that nothing acts on them", w.now.Sub(first), len(said), jobs)
		}
	}
}

// Of a namespace that creates jobs by the thousands one has its turn, and then one of another namespace.
func TestJobsOfOneNamespaceWithoutPodsHoldUpNoOther(t *testing.T) {
	var p pacer
	now := start
	var greedy []*turn
	for range 5000 {
		greedy = append(greedy, new(turn))
		p.wait(greedy[len(greedy)-1], "greedy", now, firstEvery)
	}
	var other, third turn
	if wait := p.wait(&other, "ml", now, firstEvery); wait > 2*firstEvery {
		t.Errorf("the first of another namespace has its turn after %s; want one of the first before it", wait)
	}
	p.wait(&third, "ml", now, firstEvery)
	last := greedy[len(greedy)-1]
	if wait := p.wait(last, "greedy", now, firstEvery); wait < 4000*firstEvery {
		t.Errorf("the last of 5000 has its turn after %s", wait)
	}
	for range 5001 {
		now = now.Add(firstEvery)
		p.until(last, "greedy", now, firstEvery)
		switch at := now.Sub(start); {
		case other.come != (at >= 2*firstEvery):
			t.Fatalf("after %s it is %t that the first of another namespace has had its turn", at, other.come)
		case third.come != (at >= 4*firstEvery):
			t.Fatalf("after %s it is %t that its second has", at, third.come)
		}
	}
	if !last.come || len(p.of)+len(p.next) != 0 {
		t.Errorf("the last has had its turn: %t; %d namespaces are left", last.come, len(p.of))
	}
}

// A job of which somebody asks does not wait for the turn of the others.
func TestWhoeverAsksDoesNotWaitForATurn(t *testing.T) {
	w := newWorld(t)
	for range 100 {
		w.firsts.wait(new(turn), key.Namespace, w.now, firstEvery)
		w.renewals.wait(new(turn), key.Namespace, w.now, renewEvery)
	}
	if again := w.reconcile(); again < 4*time.Second || len(w.patches) != 0 {
		t.Fatalf("%d writes, next look after %s; want none, and one when a hundred others have had theirs", len(w.patches), again)
	}
	w.annotate(Ask, "now")
	if w.reconcile(); len(w.patches) != 1 {
		t.Errorf("%d writes after somebody asked, want 1", len(w.patches))
	}
}

// A job that was just created is looked at when there may be something to say, and at once when something is known of it.
func TestANewJobIsLookedAtWhenThereMayBeSomethingToSay(t *testing.T) {
	for name, tc := range map[string]struct {
		set  func(*world)
		wait time.Duration
	}{
		"nothing has acted on it":           {func(*world) {}, visible},
		"it was created a while ago":        {func(w *world) { w.pass(4 * time.Second) }, visible - 4*time.Second},
		"it was created long ago":           {func(w *world) { w.pass(time.Hour) }, time.Second},
		"its operator has":                  {func(w *world) { w.condition("Created", "PyTorchJobCreated") }, time.Second},
		"it carries what stood on another":  {func(w *world) { w.annotate(Healthy, "Yes") }, time.Second},
		"somebody asks":                     {func(w *world) { w.annotate(Ask, "now") }, time.Second},
		"the clock of this process is late": {func(w *world) { w.pass(-time.Hour) }, visible},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.job.SetCreationTimestamp(metav1.NewTime(w.now))
			tc.set(w)
			o := w.Options
			o.Debounce = time.Second
			var asked waits
			h := (&watcher{Options: o, served: w.Served, inFlight: &w.inFlight, memory: &w.memory}).jobHandler(kinds.For(pytorchGVK))
			h.Create(t.Context(), event.TypedCreateEvent[*unstructured.Unstructured]{Object: w.job}, &asked)
			if len(asked.after) != 1 || asked.after[0] != tc.wait {
				t.Errorf("it is looked at after %v, want %s", asked.after, tc.wait)
			}
		})
	}
}

// Of a job that was just created nothing is read before its turn, unless something has become of it; and what admission said
// of it is remembered to the end.
func TestANewJobIsNotReadBeforeItsTurn(t *testing.T) {
	const others = 400 // that were created before it: 20 seconds of turns
	newJob := func(t *testing.T) (w *world, h handler.TypedEventHandler[*unstructured.Unstructured, Request], reads *int) {
		t.Helper()
		w, reads = newWorld(t), new(int)
		w.job.SetCreationTimestamp(metav1.NewTime(w.now))
		w.Cache = interceptor.NewClient(w.Cache.(client.WithWatch), interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, of ...client.GetOption) error {
				*reads++
				return c.Get(ctx, key, o, of...)
			},
		})
		w.Said = func(*unstructured.Unstructured) ([]Warning, bool) {
			return []Warning{{Check: "gang-does-not-fit", Says: "no room"}}, true
		}
		w.Review = func(context.Context, *unstructured.Unstructured) ([]Warning, bool) {
			t.Error("the job is reviewed once more")
			return nil, false
		}
		o := w.Options
		o.Debounce = time.Second
		h = (&watcher{Options: o, served: w.Served, inFlight: &w.inFlight, memory: &w.memory}).jobHandler(kinds.For(pytorchGVK))
		h.Create(t.Context(), event.TypedCreateEvent[*unstructured.Unstructured]{Object: w.job.DeepCopy()}, &waits{})
		w.pass(visible)
		for range others {
			w.firsts.wait(new(turn), key.Namespace, w.now, firstEvery)
		}
		return w, h, reads
	}
	const turn = others * firstEvery

	t.Run("nothing becomes of it", func(t *testing.T) {
		w, _, reads := newJob(t)
		if again := w.reconcile(); again != turn || *reads != 0 {
			t.Fatalf("it is looked at again after %s, want %s, and was read %d times before", again, turn, *reads)
		}
		w.pass(turn / 2)
		if again := w.reconcile(); again != turn/2 || *reads != 0 {
			t.Fatalf("it is looked at again after %s, want %s, and was read %d times before", again, turn/2, *reads)
		}
		w.pass(turn / 2)
		if w.reconcile(); *reads != 1 {
			t.Errorf("when its turn has come it is read %d times", *reads)
		}
		for range 3 {
			w.pass(time.Second)
			w.reconcile()
		}
		if note, ok := warned(w.job); !ok || len(note.Checks) != 1 || note.At != start.Format(time.RFC3339) {
			t.Errorf("of what admission said there is %v, %t; want it, as of when the job was created", note, ok)
		}
	})
	t.Run("its operator acts on it", func(t *testing.T) {
		w, h, reads := newJob(t)
		before := w.job.DeepCopy()
		before.SetResourceVersion("1")
		w.condition("Created", "PyTorchJobCreated")
		w.job.SetResourceVersion("2")
		h.Update(t.Context(), event.TypedUpdateEvent[*unstructured.Unstructured]{ObjectOld: before, ObjectNew: w.job.DeepCopy()}, &waits{})
		if w.reconcile(); *reads != 1 {
			t.Errorf("it is read %d times, want 1", *reads)
		}
	})
	t.Run("it goes", func(t *testing.T) {
		w, h, reads := newJob(t)
		h.Delete(t.Context(), event.TypedDeleteEvent[*unstructured.Unstructured]{Object: w.job.DeepCopy()}, &waits{})
		if w.reconcile(); *reads != 1 {
			t.Errorf("it is read %d times, want 1", *reads)
		}
	})
	t.Run("it has a pod", func(t *testing.T) {
		w, _, reads := newJob(t)
		w.pod("master", nil)
		if w.reconcile(); *reads != 1 {
			t.Errorf("it is read %d times, want 1", *reads)
		}
	})
	t.Run("it is part of another", func(t *testing.T) {
		w, h, reads := newJob(t)
		w.memory.forget(key, "")
		w.job.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "trainer.kubeflow.org/v1alpha1", Kind: "TrainJob", Name: "whole", UID: "u", Controller: new(true)}})
		w.job.SetCreationTimestamp(metav1.NewTime(w.now))
		h.Create(t.Context(), event.TypedCreateEvent[*unstructured.Unstructured]{Object: w.job.DeepCopy()}, &waits{})
		w.Review = nil
		if w.reconcile(); *reads != 1 {
			t.Errorf("it is read %d times, want 1: it takes nobody's turn", *reads)
		}
	})
	t.Run("another one of its name comes", func(t *testing.T) {
		w, h, reads := newJob(t)
		w.Review = nil
		w.job.SetUID("job-2")
		h.Create(t.Context(), event.TypedCreateEvent[*unstructured.Unstructured]{Object: w.job.DeepCopy()}, &waits{})
		if w.reconcile(); *reads != 1 {
			t.Errorf("it is read %d times, want 1", *reads)
		}
	})
}

// waits is a queue that notes after how long a look is asked for.
type waits struct {
	queue
	after []time.Duration
}

func (q *waits) AddAfter(_ Request, d time.Duration) { q.after = append(q.after, d) }

// The look at a job of which nothing has become gives way to what somebody waits for, before it reads anything. That at one
// that may have failed does not: whoever keeps the webhook busy would hold up all diagnoses.
func TestLooksGiveWay(t *testing.T) {
	gave := 0
	r := &Reconciler{Options: Options{GiveWay: func(context.Context) { gave++ }}, Served: &served{}}
	key := Request{Kind: "PyTorchJob", Namespace: "ml", Name: "train"}
	r.memory.introduce("uid", key, Remembered{})
	if _, err := r.Reconcile(t.Context(), key); err != nil || gave != 1 {
		t.Errorf("it gave way %d times, %v; want once", gave, err)
	}
	r.memory.introduce("uid", key, Remembered{})
	r.memory.touch(key)
	if _, err := r.Reconcile(t.Context(), key); err != nil || gave != 1 {
		t.Errorf("of a job that changed it gave way %d times, %v; want none more", gave-1, err)
	}
}
