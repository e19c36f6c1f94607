package main

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
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

// hasPods says that the view has live pods of a job without a UID: they are its own, as on a live cluster.
func (w *world) hasPods(o *unstructured.Unstructured) bool {
	kind := kinds.For(o.GroupVersionKind())
	if w.cluster == nil || kind == nil || o.GetUID() != "" || o.GetName() == "" {
		return false
	}
	pods := w.cluster.PodLists()[o.GetNamespace()]
	if pods == nil {
		return false
	}
	has := false
	for p := range pods.All() {
		if p.Deleted() || !w.isOf(p, kind, o) {
			continue
		}
		has = true
		if kind.NamedAt == nil {
			break
		}
		if p.Owner().Kind == kind.Between[0].Kind {
			tell(o, kind, p.Owner().Name)
		}
	}
	return has
}

// isOf says whether a pod is a job's: its controllers lead to it, as far as the view holds them; beyond that its labels say so.
func (w *world) isOf(p *cluster.Pod, kind *kinds.Kind, o *unstructured.Unstructured) bool {
	owner := p.Owner()
	for range 2 + len(kind.Between) { // the kind of one may be there twice
		if (owner == cluster.Owner{Kind: o.GetKind(), Name: o.GetName()}) {
			return true
		}
		at := slices.IndexFunc(kind.Between, func(gvk schema.GroupVersionKind) bool { return gvk.Kind == owner.Kind })
		if at < 0 {
			return false
		}
		object, presence := w.cluster.Lookup(kind.Between[at], o.GetNamespace(), owner.Name)
		switch presence {
		case job.Absent:
			return false
		case job.Unknown:
			ref := job.Ref{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
			return kind.Pods(ref).Matches(p.Labels()) || kind.Traces != nil && kind.Traces(ref).Matches(p.Labels())
		case job.Present:
		}
		above := metav1.GetControllerOf(object)
		if above == nil {
			return false
		}
		owner = cluster.Owner{Kind: above.Kind, Name: above.Name}
	}
	return false
}

// tell writes into a job that was read without its status the name by which its pods are found.
func tell(o *unstructured.Unstructured, kind *kinds.Kind, name string) {
	if known, _, _ := unstructured.NestedString(o.Object, kind.NamedAt...); known == "" && name != "" {
		_ = unstructured.SetNestedField(o.Object, name, kind.NamedAt...) // fails only for a status that is no object
	}
}
