package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
)

// podInformer is the informer of pods of a cache: it holds them in a podTable, and shows them as they are. One of client-go
// holds of each a key, a place in two maps and an object. Handlers are told one after the other, before the next event is taken:
// the first list of a hundred thousand pods does not wait in memory.
type podInformer struct {
	queue *toolscache.RealFIFO
	from  toolscache.ListerWatcher // set before it runs

	mu    sync.RWMutex // of the table
	table *podTable

	telling  sync.Mutex // one event, or one new handler, at a time
	handlers []*podHandlers

	synced  chan struct{} // closed when the first list is held and every handler has been told
	once    sync.Once
	stopped atomic.Bool
	wrong   toolscache.WatchErrorHandlerWithContext
}

// podHandlers is one that is told.
type podHandlers struct {
	to toolscache.ResourceEventHandler
	of *podInformer
}

// HasSynced implements toolscache.ResourceEventHandlerRegistration: a handler that comes later is told of all at once.
func (h *podHandlers) HasSynced() bool { return h.of.HasSynced() }

// HasSyncedChecker implements toolscache.ResourceEventHandlerRegistration.
func (h *podHandlers) HasSyncedChecker() toolscache.DoneChecker { return h.of.HasSyncedChecker() }

func newPodInformer(keys map[string]bool) *podInformer {
	return &podInformer{
		table: newPodTable(keys), synced: make(chan struct{}),
		queue: toolscache.NewRealFIFOWithOptions(toolscache.RealFIFOOptions{
			Name: "pods of jobs", KeyFunction: toolscache.MetaNamespaceKeyFunc, Transformer: trimPod, AtomicEvents: true, UnlockWhileProcessing: true,
		}),
	}
}

// RunWithContext implements toolscache.SharedInformer.
func (i *podInformer) RunWithContext(ctx context.Context) {
	defer i.stopped.Store(true)
	toolscache.New(&toolscache.Config{
		Queue: i.queue, ListerWatcher: i.from, ObjectType: &corev1.Pod{}, WatchErrorHandlerWithContext: i.wrong,
		Process: func(object any, _ bool) error {
			if deltas, ok := object.(toolscache.Deltas); ok {
				for _, d := range deltas {
					i.take(d)
				}
			}
			return nil
		},
	}).RunWithContext(ctx)
}

// Run implements toolscache.SharedInformer.
func (i *podInformer) Run(stop <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	i.RunWithContext(ctx)
}

// take holds what came, and tells it.
func (i *podInformer) take(d toolscache.Delta) {
	i.telling.Lock()
	defer i.telling.Unlock()
	switch d.Type {
	case toolscache.ReplacedAll:
		if all, ok := d.Object.(toolscache.ReplacedAllInfo); ok {
			i.replace(all.Objects)
			i.once.Do(func() { close(i.synced) })
		}
	case toolscache.Deleted:
		if object, err := toolscache.DeletionHandlingObjectToName(d.Object); err == nil {
			i.drop(object.Namespace, object.Name)
		}
	case toolscache.Added, toolscache.Updated, toolscache.Replaced, toolscache.Sync:
		i.set(d.Object, false)
	case toolscache.SyncAll, toolscache.Bookmark: // neither comes: nothing is given again, and nothing asks where a watch stands
	}
}

// replace takes a whole list: what it lacks is gone.
func (i *podInformer) replace(all []any) {
	first := !i.HasSynced()
	i.mu.RLock()
	before := i.table.names()
	i.mu.RUnlock()
	listed := make(map[podName]bool, len(before))
	for at, object := range all {
		all[at] = nil // it is held, or known
		if name, err := toolscache.ObjectToName(object); err == nil && len(before) > 0 {
			listed[podName{name.Namespace, name.Name}] = true
		}
		i.set(object, first)
	}
	for _, name := range before {
		if !listed[name] {
			i.drop(name.namespace, name.name)
		}
	}
}

// keep is what is kept of a pod of a list that is read as it comes. The first list is held at once: nothing that came before it
// waits to be held, and a hundred thousand pods would else be in memory twice.
func (i *podInformer) keep(p *corev1.Pod) (any, error) {
	kept, err := trimPod(p)
	packed, ok := kept.(*packedPod)
	if err != nil || !ok || i.HasSynced() {
		return kept, err
	}
	i.telling.Lock()
	defer i.telling.Unlock()
	i.set(packed, true)
	i.mu.RLock()
	defer i.mu.RUnlock()
	at, _ := i.table.find(p.Namespace, packed.name())
	return &listedPod{i, at}, nil
}

// listedPod is a pod of the first list, which is held already.
type listedPod struct {
	of *podInformer
	at int32
}

// GetObjectKind is that of nothing: only the queue sees it.
func (*listedPod) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject is the same: it does not change.
func (l *listedPod) DeepCopyObject() runtime.Object { return l }

// GetObjectMeta is the name of the pod.
func (l *listedPod) GetObjectMeta() metav1.Object {
	l.of.mu.RLock()
	defer l.of.mu.RUnlock()
	name := l.of.table.nameOf(l.at)
	return &metav1.ObjectMeta{Namespace: name.namespace, Name: name.name}
}

func (i *podInformer) set(object any, first bool) {
	p, ok := object.(*packedPod)
	if !ok {
		return
	}
	i.mu.Lock()
	before := i.table.set(p)
	i.mu.Unlock()
	if len(i.handlers) == 0 {
		return
	}
	now := p.pod()
	for _, h := range i.handlers {
		if before == nil {
			h.to.OnAdd(now, first)
		} else {
			h.to.OnUpdate(before, now)
		}
	}
}

func (i *podInformer) drop(namespace, name string) {
	i.mu.Lock()
	before := i.table.drop(namespace, name)
	i.mu.Unlock()
	if before == nil {
		return
	}
	for _, h := range i.handlers {
		h.to.OnDelete(before)
	}
}

// AddEventHandler implements toolscache.SharedInformer.
func (i *podInformer) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	i.telling.Lock()
	defer i.telling.Unlock()
	for at := 0; ; at++ { // one after the other: all of them at once are hundreds of megabytes
		i.mu.RLock()
		p, more := i.table.at(at)
		i.mu.RUnlock()
		if !more {
			break
		}
		if p != nil {
			h.OnAdd(p, true)
		}
	}
	out := &podHandlers{h, i}
	i.handlers = append(slices.Clone(i.handlers), out)
	return out, nil
}

// AddEventHandlerWithResyncPeriod implements toolscache.SharedInformer; nothing is given again.
func (i *podInformer) AddEventHandlerWithResyncPeriod(h toolscache.ResourceEventHandler, _ time.Duration) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

// AddEventHandlerWithOptions implements toolscache.SharedInformer.
func (i *podInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, _ toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

// RemoveEventHandler implements toolscache.SharedInformer.
func (i *podInformer) RemoveEventHandler(of toolscache.ResourceEventHandlerRegistration) error {
	i.telling.Lock()
	defer i.telling.Unlock()
	i.handlers = slices.DeleteFunc(slices.Clone(i.handlers), func(h *podHandlers) bool { return h == of })
	return nil
}

// HasSynced implements toolscache.SharedInformer.
func (i *podInformer) HasSynced() bool {
	select {
	case <-i.synced:
		return true
	default:
		return false
	}
}

// HasSyncedChecker implements toolscache.SharedInformer.
func (i *podInformer) HasSyncedChecker() toolscache.DoneChecker { return podsSynced{i.synced} }

type podsSynced struct{ done chan struct{} }

func (podsSynced) Name() string            { return "pods of jobs" }
func (p podsSynced) Done() <-chan struct{} { return p.done }

// IsStopped implements toolscache.SharedInformer.
func (i *podInformer) IsStopped() bool { return i.stopped.Load() }

// SetTransform implements toolscache.SharedInformer. What is kept of a pod is known already.
func (*podInformer) SetTransform(toolscache.TransformFunc) error { return nil }

// SetWatchErrorHandlerWithContext implements toolscache.SharedInformer.
func (i *podInformer) SetWatchErrorHandlerWithContext(h toolscache.WatchErrorHandlerWithContext) error {
	i.wrong = h
	return nil
}

// SetWatchErrorHandler implements toolscache.SharedInformer.
func (i *podInformer) SetWatchErrorHandler(h toolscache.WatchErrorHandler) error {
	return i.SetWatchErrorHandlerWithContext(func(_ context.Context, r *toolscache.Reflector, err error) { h(r, err) })
}

// AddIndexers implements toolscache.SharedIndexInformer; there are those that there are.
func (*podInformer) AddIndexers(by toolscache.Indexers) error {
	for name := range by {
		return fmt.Errorf("pods are not found by %s", name)
	}
	return nil
}

// GetController implements toolscache.SharedInformer; nothing asks for it.
func (*podInformer) GetController() toolscache.Controller { return nil }

// LastSyncResourceVersion implements toolscache.SharedInformer; nothing asks for it.
func (*podInformer) LastSyncResourceVersion() string { return "" }

// GetStore implements toolscache.SharedInformer.
func (i *podInformer) GetStore() toolscache.Store { return i.GetIndexer() }

// GetIndexer implements toolscache.SharedIndexInformer.
func (i *podInformer) GetIndexer() toolscache.Indexer { return podIndexer{of: i} }

// podIndexer is what a cache reads. Nothing is written to it.
type podIndexer struct {
	toolscache.Indexer // nil: what is not below is not asked for
	of                 *podInformer
}

// shownPod is a pod that was made for its caller: a copy of it is the pod itself.
type shownPod struct{ *corev1.Pod }

// DeepCopyObject is the pod.
func (p shownPod) DeepCopyObject() runtime.Object { return p.Pod }

func shown(pods []*corev1.Pod) []any {
	out := make([]any, len(pods))
	for i, p := range pods {
		out[i] = shownPod{p}
	}
	return out
}

// GetByKey implements toolscache.Store.
func (x podIndexer) GetByKey(key string) (any, bool, error) {
	namespace, name, err := toolscache.SplitMetaNamespaceKey(key)
	if err != nil {
		return nil, false, err
	}
	x.of.mu.RLock()
	defer x.of.mu.RUnlock()
	p := x.of.table.get(namespace, name)
	return shownPod{p}, p != nil, nil
}

// List implements toolscache.Store.
func (x podIndexer) List() []any {
	x.of.mu.RLock()
	defer x.of.mu.RUnlock()
	return shown(x.of.table.all(nil))
}

// ListKeys implements toolscache.Store.
func (x podIndexer) ListKeys() (out []string) {
	x.of.mu.RLock()
	defer x.of.mu.RUnlock()
	for _, name := range x.of.table.names() {
		out = append(out, name.namespace+"/"+name.name)
	}
	return out
}

// jobIndex is the name by which a cache of controller-runtime looks for pods of a job (pkg/cache/internal/cache_reader.go,
// FieldIndexName); the value is that of KeyToNamespacedKey.
const jobIndex = "field:" + podIndex

// ByIndex implements toolscache.Indexer.
func (x podIndexer) ByIndex(index, value string) ([]any, error) {
	x.of.mu.RLock()
	defer x.of.mu.RUnlock()
	switch index {
	case jobIndex:
		namespace, label, _ := strings.Cut(value, "/")
		key, value := labelOf(label)
		return shown(x.of.table.labelled(namespace, key, value)), nil
	case toolscache.NamespaceIndex:
		return shown(x.of.table.all(func(namespace string) bool { return namespace == value })), nil
	}
	return nil, fmt.Errorf("pods are not found by %s", index)
}

// GetIndexers implements toolscache.Indexer: by what pods are found, one at a time.
func (podIndexer) GetIndexers() toolscache.Indexers { return toolscache.Indexers{} }
