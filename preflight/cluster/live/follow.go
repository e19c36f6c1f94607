package live

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
)

// What is followed is held by the store and nowhere else. A shared informer would hold everything once more: of each of a
// hundred thousand pods a key, a place in a map and a version. What it knows beyond, which objects are gone when a list is
// read anew, the store can say as well.

// follow starts to read one resource.
func (l *Live) follow(ctx context.Context, running *sync.WaitGroup, src *source) {
	ctx, src.stop = context.WithCancel(ctx)
	queue := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
		Name: src.name, KeyFunction: cache.MetaNamespaceKeyFunc, Transformer: src.trim, AtomicEvents: true, UnlockWhileProcessing: true,
	})
	src.handled = func() bool { // without the lock of the queue, under which the store is written
		select {
		case <-queue.Done():
			return true
		default:
			return false
		}
	}
	reader := cache.New(&cache.Config{
		Queue: queue, ListerWatcher: src.from, ObjectType: src.of,
		Process: func(object any, _ bool) error {
			if deltas, ok := object.(cache.Deltas); ok {
				for _, d := range deltas {
					l.take(src, d)
				}
			}
			return nil
		},
		WatchErrorHandlerWithContext: func(_ context.Context, _ *cache.Reflector, err error) {
			l.mu.Lock()
			src.failed(err)
			l.mu.Unlock()
			l.changed()
		},
	})
	l.mu.Lock()
	l.sources[src.resource] = src
	l.mu.Unlock()
	running.Go(func() { reader.RunWithContext(ctx) })
	running.Go(func() {
		select {
		case <-queue.Done():
			l.mu.Lock()
			src.problem = nil
			l.mu.Unlock()
		case <-ctx.Done():
		}
		l.changed()
	})
}

// take writes what came into the store.
func (l *Live) take(src *source, d cache.Delta) {
	switch d.Type {
	case cache.ReplacedAll:
		if all, ok := d.Object.(cache.ReplacedAllInfo); ok {
			l.replace(src, all.Objects)
		}
	case cache.Deleted:
		if name, ok := src.nameOf(d.Object); ok {
			l.write(src, func(to *cluster.Store) bool { src.drop(to, name); return true })
		}
	case cache.Added, cache.Updated, cache.Replaced, cache.Sync:
		l.write(src, func(to *cluster.Store) bool { return src.set(to, d.Object) })
	case cache.SyncAll, cache.Bookmark: // neither comes: nothing is given again, and nothing asks where a watch stands
	}
}

// replace takes a whole list: what it lacks is gone.
func (l *Live) replace(src *source, all []any) {
	l.mu.Lock()
	before := src.held(&l.store)
	l.mu.Unlock()
	for _, object := range all {
		l.write(src, func(to *cluster.Store) bool { return src.set(to, object) })
	}
	if len(before) == 0 {
		return
	}
	listed := make(map[cluster.Name]bool, len(all))
	for _, object := range all {
		if name, ok := src.nameOf(object); ok {
			listed[name] = true
		}
	}
	for _, name := range before {
		if !listed[name] {
			l.write(src, func(to *cluster.Store) bool { src.drop(to, name); return true })
		}
	}
}

// nameOf is what the store calls an object.
func (s *source) nameOf(object any) (cluster.Name, bool) {
	o, err := meta.Accessor(object)
	if err != nil {
		return cluster.Name{}, false
	}
	return cluster.Name{Namespace: o.GetNamespace(), Name: o.GetName(), Version: s.kind.Version}, true
}

// write makes one change. Where it is no news, an event came all the same: the resource can be read.
func (l *Live) write(src *source, change func(*cluster.Store) (news bool)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sources[src.resource] != src { // it has been dropped
		return
	}
	news := change(&l.store) || src.problem != nil
	src.problem = nil
	if news {
		l.changed()
	}
}
