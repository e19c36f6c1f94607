package main

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/apps"
	"k8s.io/client-go/informers/core"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/informers/policy"
	"k8s.io/client-go/informers/resource"
	"k8s.io/client-go/informers/scheduling"
	"k8s.io/client-go/informers/storage"
	"k8s.io/client-go/tools/cache"
)

// library is an informer factory without an API server: its informers know what they are
// told, at once and in the caller's goroutine. The scheduler's plugins cannot tell.
type library struct {
	informers.SharedInformerFactory // for the methods that nothing calls
	books                           map[reflect.Type]*book
}

func newLibrary() *library { return &library{books: map[reflect.Type]*book{}} }

// InformerFor is the one book for a kind of object.
func (l *library) InformerFor(obj runtime.Object, _ internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	return l.book(obj)
}

// InformerName: metrics have no use for one here.
func (l *library) InformerName() *cache.InformerName { return nil }

func (l *library) book(obj runtime.Object) *book {
	of := reflect.TypeOf(obj)
	if l.books[of] == nil {
		l.books[of] = &book{index: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
	}
	return l.books[of]
}

// set adds or replaces an object.
func (l *library) set(obj runtime.Object) { l.book(obj).set(obj) }

// clear forgets all objects.
func (l *library) clear() {
	for _, b := range l.books {
		for _, obj := range b.index.List() {
			b.drop(obj)
		}
	}
}

// The groups that the plugins ask for.
func (l *library) Core() core.Interface             { return core.New(l, "", nil) }
func (l *library) Apps() apps.Interface             { return apps.New(l, "", nil) }
func (l *library) Storage() storage.Interface       { return storage.New(l, "", nil) }
func (l *library) Policy() policy.Interface         { return policy.New(l, "", nil) }
func (l *library) Resource() resource.Interface     { return resource.New(l, "", nil) }
func (l *library) Scheduling() scheduling.Interface { return scheduling.New(l, "", nil) }

// book is one informer of a library.
type book struct {
	cache.SharedIndexInformer // for the methods that nothing calls
	index                     cache.Indexer
	handlers                  []cache.ResourceEventHandler
}

func (b *book) set(obj any) {
	old, there, _ := b.index.Get(obj)
	_ = b.index.Update(obj)
	for _, h := range b.handlers {
		if there {
			h.OnUpdate(old, obj)
		} else {
			h.OnAdd(obj, true)
		}
	}
}

func (b *book) drop(obj any) {
	_ = b.index.Delete(obj)
	for _, h := range b.handlers {
		h.OnDelete(obj)
	}
}

func (b *book) GetStore() cache.Store                 { return b.index }
func (b *book) GetIndexer() cache.Indexer             { return b.index }
func (b *book) AddIndexers(more cache.Indexers) error { return b.index.AddIndexers(more) }
func (b *book) HasSynced() bool                       { return true }

// AddEventHandler tells the handler what there is, and all that comes.
func (b *book) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	for _, obj := range b.index.List() {
		h.OnAdd(obj, true)
	}
	b.handlers = append(b.handlers, h)
	return registered{}, nil
}

// registered is a handler's registration; it is always up to date.
type registered struct{}

func (registered) HasSynced() bool                     { return true }
func (registered) HasSyncedChecker() cache.DoneChecker { return nil }
