package collect

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

// Where T9k's queues live is not documented, so the job's is looked for in all namespaces.
func TestTheQueueOfT9kIsRead(t *testing.T) {
	for written, want := range map[string]string{"{queue: research}": "research", "{}": "default"} {
		job := object("batch.tensorstack.dev/v1beta1", "ColossalAIJob", "train", "now", nil, nil)
		scheduler := map[string]any{}
		if want != "default" {
			scheduler["queue"] = want
		}
		if err := unstructured.SetNestedMap(job.Object, scheduler, "spec", "scheduler", "t9kScheduler"); err != nil {
			t.Fatal(err)
		}
		c := serving(job)
		also(c, false, t9kQueues, "queues")
		c.Dynamic.(*dynamicfake.FakeDynamicClient).PrependReactor("list", "queues", func(clienttesting.Action) (bool, runtime.Object, error) {
			list := &unstructured.UnstructuredList{}
			for _, name := range []string{"default", "research"} {
				u := object(t9kQueues.GroupVersion().String(), t9kQueues.Kind, name, "q", nil, nil)
				u.SetNamespace("t9k-scheduler")
				list.Items = append(list.Items, *u)
			}
			return true, list, nil
		})
		got, err := c.Case(t.Context(), kind(t, "ColossalAIJob"), job)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Objects) != 1 || got.Objects[0].GetKind() != "Queue" || got.Objects[0].GetName() != want {
			t.Errorf("%s: the objects are %v, want queue %s", written, got.Objects, want)
		}
	}
}

// Where more queues have the name than are listed, it is said that the job's may be another one.
func TestQueuesOfOneNameAreBounded(t *testing.T) {
	for more, want := range map[string]bool{"": false, "more": true} {
		job := object("batch.tensorstack.dev/v1beta1", "ColossalAIJob", "train", "now", nil, nil)
		if err := unstructured.SetNestedMap(job.Object, map[string]any{"queue": "research"}, "spec", "scheduler", "t9kScheduler"); err != nil {
			t.Fatal(err)
		}
		c := serving(job)
		also(c, false, t9kQueues, "queues")
		c.Dynamic.(*dynamicfake.FakeDynamicClient).PrependReactor("list", "queues", func(clienttesting.Action) (bool, runtime.Object, error) {
			list := &unstructured.UnstructuredList{}
			for i := range mostQueues {
				u := object(t9kQueues.GroupVersion().String(), t9kQueues.Kind, "research", types.UID(fmt.Sprint("q", i)), nil, nil)
				list.Items = append(list.Items, *u)
			}
			list.SetContinue(more)
			return true, list, nil
		})
		got, err := c.Case(t.Context(), kind(t, "ColossalAIJob"), job)
		if err != nil {
			t.Fatal(err)
		}
		if said := says(got.Missing, "Queue research: more than 20 namespaces have one"); said != want || len(got.Objects) != mostQueues {
			t.Errorf("%d queues are read; missing %q", len(got.Objects), got.Missing)
		}
	}
}
