package review

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// stored is the job as the cluster has it already; nil where it has none.
func (w *World) stored(ctx context.Context, o *unstructured.Unstructured) *unstructured.Unstructured {
	switch {
	case w.Before != nil:
		return w.Before(o)
	case w.Asks:
		if h := w.heardOf(o); h != nil {
			return h.Stored
		}
		return nil
	case w.Live != nil:
		return w.Live.Job(ctx, o)
	}
	if w.Cluster == nil {
		return nil
	}
	old, presence := w.Cluster.Lookup(o.GroupVersionKind(), o.GetNamespace(), o.GetName())
	if presence != job.Present {
		return nil
	}
	return old
}

// over says that a job has ended: one of its name that is asked about now comes anew.
func over(o *unstructured.Unstructured) bool {
	kind := kinds.For(o.GroupVersionKind())
	if kind == nil || kind.State == nil {
		return false
	}
	phase := kind.State(o).Phase
	return phase == kinds.Succeeded || phase == kinds.Failed
}

// notByUID is the UID of a job that exists by its pods alone, where these do not say whose they are by UID.
const notByUID = "of the pods in the snapshot"

// seenByPods is the UID of a job that has none, where the view has live pods of it: they are its own, as on a live cluster. A
// snapshot may hold pods and no jobs.
func (w *World) seenByPods(o *unstructured.Unstructured) types.UID {
	kind := kinds.For(o.GroupVersionKind())
	if w.Cluster == nil || kind == nil || o.GetUID() != "" || o.GetName() == "" {
		return o.GetUID()
	}
	pods := w.Cluster.PodLists()[o.GetNamespace()]
	if pods == nil {
		return ""
	}
	seen := ""
	for p := range pods.All() {
		if p.Deleted() {
			continue
		}
		uid, is := w.jobOf(p, kind, o)
		if !is {
			continue
		}
		if kind.NamedAt != nil && p.Owner().Kind == kind.Between[0].Kind {
			tell(o, kind, p.Owner().Name)
		}
		if seen = cmp.Or(uid, seen, notByUID); uid != "" && kind.NamedAt == nil {
			break
		}
	}
	return types.UID(seen)
}

// jobOf says whether a pod is a job's, and the job's UID, where that is known: its controllers lead to it, as far as the view
// holds them; beyond that its labels say so.
func (w *World) jobOf(p *cluster.Pod, kind *kinds.Kind, o *unstructured.Unstructured) (uid string, is bool) {
	ref := job.Ref{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
	owns, uid := kind.Owns(ref, p.Controller(), func(want kinds.Want) (*unstructured.Unstructured, job.Presence) {
		return w.Cluster.Lookup(want.GVK, want.Namespace, want.Name)
	})
	if owns != job.Unknown {
		return uid, owns == job.Present
	}
	between := slices.ContainsFunc(kind.Between, func(gvk schema.GroupVersionKind) bool { return gvk.Kind == p.Owner().Kind })
	return "", between && (kind.Pods(ref).Matches(p.Labels()) || kind.Traces != nil && kind.Traces(ref).Matches(p.Labels()))
}

// tell writes into a job that was read without its status the name by which its pods are found.
func tell(o *unstructured.Unstructured, kind *kinds.Kind, name string) {
	if known, _, _ := unstructured.NestedString(o.Object, kind.NamedAt...); known == "" && name != "" {
		_ = unstructured.SetNestedField(o.Object, name, kind.NamedAt...) // fails only for a status that is no object
	}
}
