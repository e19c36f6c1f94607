package controller

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

type queue = workqueue.TypedRateLimitingInterface[Request]

// watch starts to watch a kind that the cluster serves. It is served when it has been read: one whose
// list fails (a conversion webhook is down, a right is missing) holds up no other.
func (w *watcher) watch(ctx context.Context, k *kinds.Kind, gvk schema.GroupVersionKind) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	if err := w.controller.Watch(source.TypedKind(w.manager.GetCache(), u, w.jobHandler(k))); err != nil {
		w.manager.GetLogger().Error(err, "watch kind", "kind", k.Name, "version", gvk.GroupVersion().String())
		return
	}
	ctx, stop := context.WithCancel(ctx)
	done := w.served.begin(k, gvk, stop)
	go func() {
		defer stop()
		if _, err := w.manager.GetCache().GetInformer(ctx, u); err != nil {
			return // it has gone, or the process ends
		}
		done()
		w.manager.GetLogger().Info("watching", "kind", k.Name, "version", gvk.GroupVersion().String())
	}()
}

// jobHandler looks at a job when anything but its bookkeeping changed.
func (w *watcher) jobHandler(k *kinds.Kind) handler.TypedEventHandler[*unstructured.Unstructured, Request] {
	keyOf := func(u *unstructured.Unstructured) Request { return Request{k.Name, u.GetNamespace(), u.GetName()} }
	add := func(u *unstructured.Unstructured, q queue) {
		wait := w.Debounce
		if k.State != nil && over(k.State(u).Phase) {
			wait /= 4 // its operator is done with it: little is to come, and somebody waits
		}
		w.memory.touch(keyOf(u))
		q.AddAfter(keyOf(u), wait)
	}
	return handler.TypedFuncs[*unstructured.Unstructured, Request]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[*unstructured.Unstructured], q queue) {
			wait := untilTelling(k, e.Object, w.PendingAfter, w.now())
			if wait <= w.Debounce {
				add(e.Object, q)
				return
			}
			says, known := w.said(e.Object)
			if known && metav1.GetControllerOfNoCopy(e.Object) == nil && !w.passesOver(k, e.Object) { // of the others nothing is remembered
				w.memory.introduce(e.Object.GetUID(), keyOf(e.Object), noteOf(says, w.now()))
			} else {
				w.memory.touch(keyOf(e.Object))
			}
			q.AddAfter(keyOf(e.Object), wait)
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[*unstructured.Unstructured], q queue) {
			if !jobChanged(e.ObjectOld, e.ObjectNew) {
				return
			}
			if ends(k, e.ObjectOld, e.ObjectNew) {
				w.inFlight.cancel(keyOf(e.ObjectNew))
			}
			add(e.ObjectNew, q)
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[*unstructured.Unstructured], q queue) {
			w.inFlight.cancel(keyOf(e.Object))
			add(e.Object, q)
		},
	}
}

// ends says that a job has ended, goes, or is another one than before: what is being found out about
// it is out of date.
func ends(k *kinds.Kind, before, after *unstructured.Unstructured) bool {
	return before.GetUID() != after.GetUID() || before.GetDeletionTimestamp() == nil && after.GetDeletionTimestamp() != nil ||
		k.State != nil && !over(k.State(before).Phase) && over(k.State(after).Phase)
}

// jobChanged leaves out what says nothing new: resyncs, managed fields, other people's
// annotations and labels.
func jobChanged(before, after *unstructured.Unstructured) bool {
	if before.GetResourceVersion() == after.GetResourceVersion() {
		return false
	}
	return before.GetGeneration() != after.GetGeneration() ||
		before.GetUID() != after.GetUID() ||
		(before.GetDeletionTimestamp() == nil) != (after.GetDeletionTimestamp() == nil) ||
		before.GetAnnotations()[Ask] != after.GetAnnotations()[Ask] ||
		!equality.Semantic.DeepEqual(ours(before.GetAnnotations()), ours(after.GetAnnotations())) ||
		!equality.Semantic.DeepEqual(before.Object["status"], after.Object["status"])
}

// podHandler looks at the job of a pod whose state changed. What is kept of it is asked for
// first, before anybody deletes the pod.
func (w *watcher) podHandler() handler.TypedEventHandler[*corev1.Pod, Request] {
	add := func(p *corev1.Pod, q queue) {
		for _, key := range w.jobsOf(p) {
			q.AddAfter(key, w.Debounce)
		}
	}
	return handler.TypedFuncs[*corev1.Pod, Request]{
		CreateFunc: func(ctx context.Context, e event.TypedCreateEvent[*corev1.Pod], q queue) {
			w.keep(ctx, e.Object)
			add(e.Object, q)
		},
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[*corev1.Pod], q queue) {
			if mark(e.ObjectOld) == mark(e.ObjectNew) {
				return
			}
			w.keep(ctx, e.ObjectNew)
			add(e.ObjectNew, q)
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[*corev1.Pod], q queue) { add(e.Object, q) },
	}
}

// keep hands a pod and the job it belongs to to the capture of evidence.
func (w *watcher) keep(ctx context.Context, p *corev1.Pod) {
	if w.kept == nil || len(w.jobsOf(p)) == 0 {
		return
	}
	if j, ok := w.owners.of(ctx, p); ok {
		w.kept.See(j, p)
	}
}

// chains are the labels by which a pod names a job that does not own it directly. They only
// choose whom to look at; collect follows the owners.
var chains = []struct{ label, kind string }{
	{"jobset.sigs.k8s.io/jobset-name", "JobSet"},
	{"jobset.sigs.k8s.io/jobset-name", "TrainJob"}, // Trainer gives its JobSet the same name
	{frameworkLabel, "Framework"},
	{lwsLabel, "LeaderWorkerSet"},
	{"training.kubeflow.org/job-name", "MPIJob"}, // the launcher of v2beta1 belongs to a Job
	{"batch.kubernetes.io/job-name", "Job"},
}

// Labels of pods: frameworkLabel names their Framework, lwsLabel their LeaderWorkerSet and lwsGroupLabel
// their group in it.
const (
	frameworkLabel = "FC_FRAMEWORK_NAME"
	lwsLabel       = "leaderworkerset.sigs.k8s.io/name"
	lwsGroupLabel  = "leaderworkerset.sigs.k8s.io/group-index"
)

// jobsOf are the jobs that a pod may belong to.
func (w *watcher) jobsOf(p *corev1.Pod) []Request {
	var out []Request
	add := func(kind, name string) {
		key := Request{kind, p.Namespace, name}
		if _, _, ok := w.served.find(kind); ok && !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	if owner := metav1.GetControllerOf(p); owner != nil {
		if k, _, ok := w.served.findGVK(schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind)); ok {
			add(k.Name, owner.Name)
		}
	}
	for _, c := range chains {
		if name := p.Labels[c.label]; name != "" {
			add(c.kind, name)
		}
	}
	return out
}
