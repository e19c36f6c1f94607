package controller

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// relevance says which pods may belong to a job of these kinds: those that one controls, and those that carry a label
// by which pods name their job. All others are never held: a large cluster has a hundred thousand of them, which are a
// kilobyte each even where nothing is kept but their name.
func relevance(all []*kinds.Kind) func(*corev1.Pod) bool {
	keys := jobLabels(all)
	for _, c := range chains {
		keys[c.label] = true
	}
	owners := map[schema.GroupKind]bool{}
	for _, k := range all {
		for _, gvk := range k.GVKs {
			owners[gvk.GroupKind()] = true
		}
	}
	return func(p *corev1.Pod) bool {
		for key := range p.Labels {
			if keys[key] {
				return true
			}
		}
		owner := metav1.GetControllerOf(p)
		return owner != nil && owners[schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind()]
	}
}

// informerOf makes informers of what is held packed; those of pods see the relevant ones only, and find them by labels.
func informerOf(kube kubernetes.Interface, jobs func(schema.GroupVersionKind) toolscache.SharedIndexInformer, relevant func(*corev1.Pod) bool, keys map[string]bool) func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer {
	return func(from toolscache.ListerWatcher, example runtime.Object, resync time.Duration, by toolscache.Indexers) toolscache.SharedIndexInformer {
		if _, pods := example.(*corev1.Pod); pods {
			out := newPodInformer(keys)
			out.from = live.PodSource(kube, relevantPods(toolscache.ToListerWatcherWithContext(from), relevant), func(object any) (any, error) {
				if p, ok := object.(*corev1.Pod); ok && relevant(p) {
					return out.keep(p)
				}
				return nil, nil
			})
			return out
		}
		if u, ok := example.(*unstructured.Unstructured); ok && jobs != nil {
			if shared := jobs(u.GroupVersionKind()); shared != nil {
				return packedInformer{shared}
			}
		}
		return packedInformer{toolscache.NewSharedIndexInformer(from, example, resync, by)}
	}
}

func relevantPods(from toolscache.ListerWatcherWithContext, relevant func(*corev1.Pod) bool) *toolscache.ListWatch {
	return &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := from.ListWithContext(ctx, o)
			if pods, ok := list.(*corev1.PodList); ok {
				kept := pods.Items[:0]
				for i := range pods.Items {
					if relevant(&pods.Items[i]) {
						kept = append(kept, pods.Items[i])
					}
				}
				clear(pods.Items[len(kept):])
				pods.Items = kept
			}
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := from.WatchWithContext(ctx, o)
			if err != nil {
				return nil, err
			}
			out := &relevantEvents{from: w, events: make(chan watch.Event), stopped: make(chan struct{})}
			go out.pass(relevant)
			return out, nil
		},
	}
}

// relevantEvents are the events of a watch that are about relevant pods. (watch.Filter would do, but that its goroutine
// stays for ever where the watch is stopped while an event waits.)
type relevantEvents struct {
	from    watch.Interface
	events  chan watch.Event
	stopped chan struct{}
	once    sync.Once
}

func (e *relevantEvents) ResultChan() <-chan watch.Event { return e.events }

func (e *relevantEvents) Stop() {
	e.once.Do(func() { close(e.stopped) })
	e.from.Stop()
}

func (e *relevantEvents) pass(relevant func(*corev1.Pod) bool) {
	defer close(e.events)
	for event := range e.from.ResultChan() {
		if p, ok := event.Object.(*corev1.Pod); ok && event.Type != watch.Bookmark && !relevant(p) {
			if event.Type == watch.Added {
				continue
			}
			event.Type = watch.Deleted // it may have been relevant before
		}
		select {
		case e.events <- event:
		case <-e.stopped:
			return
		}
	}
}
