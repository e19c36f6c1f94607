package main

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// stored is the job as the cluster has it already; nil where it has none.
func (w *world) stored(ctx context.Context, o *unstructured.Unstructured) *unstructured.Unstructured {
	switch {
	case w.before != nil:
		return w.before(o)
	case w.asks:
		if h := w.heardOf(o); h != nil {
			return h.stored
		}
		return nil
	case w.live != nil:
		return w.live.job(ctx, o)
	}
	if w.cluster == nil {
		return nil
	}
	old, presence := w.cluster.Lookup(o.GroupVersionKind(), o.GetNamespace(), o.GetName())
	if presence != job.Present {
		return nil
	}
	return old
}

// seenByPods is the UID of a job that exists by its pods alone: a snapshot holds no jobs, and of pods not whose they are by UID.
const seenByPods = "of the pods in the snapshot"

// hasPods says that the view has live pods whose controller a job without a UID is: they are its own, as on a live cluster.
func (w *world) hasPods(o *unstructured.Unstructured) bool {
	if w.cluster == nil || o.GetUID() != "" || o.GetName() == "" {
		return false
	}
	pods := w.cluster.PodLists()[o.GetNamespace()]
	if pods == nil {
		return false
	}
	for p := range pods.All() {
		if (p.Owner() == cluster.Owner{Kind: o.GetKind(), Name: o.GetName()}) && !p.Deleted() {
			return true
		}
	}
	return false
}
