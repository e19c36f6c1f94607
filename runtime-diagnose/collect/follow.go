package collect

import (
	"container/list"
	"context"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

const (
	// mostFollowed bounds the Events that are held, of all namespaces; some 60 MiB.
	mostFollowed = 100_000
	// mostFollowedOf bounds those of one namespace: the same as are listed where nothing is followed.
	mostFollowedOf = eventPage * eventPages
	// noteBytes is what is kept of a message: the API bounds those of new Events at the same
	// (k8s.io/kubernetes, pkg/apis/core/validation/events.go: 1 kB).
	noteBytes = 1024
	// nameBytes is what is kept of a name: no object is called by more (k8s.io/apimachinery, pkg/util/validation,
	// DNS1123SubdomainMaxLength).
	nameBytes = 253
)

// Followed are the Events of all namespaces, followed by one watch, so that a diagnosis asks the API server for none:
// it scans all Events of a namespace for each question, and one namespace with many would hold up every other's
// diagnoses. The newest are held, of each namespace so many. Make it with Follow; nil follows nothing.
type Followed struct {
	kube kubernetes.Interface

	mu         sync.Mutex
	synced     bool
	namespaces map[string]*namespaceEvents
	total      int
	told       func(*corev1.Event)
}

// namespaceEvents are the Events of one namespace.
type namespaceEvents struct {
	byName map[string]*list.Element
	order  *list.List // of *corev1.Event; what came first is first
	left   bool       // some have been left out
}

// Follow follows nothing until Start.
func Follow(kube kubernetes.Interface) *Followed {
	return &Followed{kube: kube, namespaces: map[string]*namespaceEvents{}}
}

// Start follows until the context is done. Where the account may not, diagnoses ask by themselves.
func (f *Followed) Start(ctx context.Context) error {
	from := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return f.kube.CoreV1().Events(metav1.NamespaceAll).List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return f.kube.CoreV1().Events(metav1.NamespaceAll).Watch(ctx, o)
		},
	}
	cache.NewReflectorWithOptions(cache.ToListWatcherWithWatchListSemantics(from, f.kube), &corev1.Event{}, f, cache.ReflectorOptions{Name: "events"}).RunWithContext(ctx)
	return nil
}

// Tell has a function hear of each Event that comes from now on, when it is held; of one that happens again it hears
// nothing. It must not block.
func (f *Followed) Tell(told func(*corev1.Event)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told = told
}

// of are the Events of a namespace, the oldest first; left says that some are not held, ok that they are followed.
func (f *Followed) of(namespace string) (events []*corev1.Event, left, ok bool) {
	if f == nil {
		return nil, false, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.namespaces[namespace]
	if s == nil || !f.synced {
		return nil, false, f.synced
	}
	for at := s.order.Front(); at != nil; at = at.Next() {
		events = append(events, at.Value.(*corev1.Event))
	}
	return events, s.left, true
}

// Transformer implements cache.TransformingStore: what no diagnosis reads is not held while a list comes. Of what a watch brings,
// a reflector leaves that to its store.
func (*Followed) Transformer() cache.TransformFunc {
	return func(object any) (any, error) {
		if e, ok := object.(*corev1.Event); ok {
			return trimEvent(e), nil
		}
		return object, nil
	}
}

// trimEvent keeps what a diagnosis reads. The API server bounds no text of an Event of core/v1, and authors write Events
// (k8s.io/kubernetes, pkg/apis/core/validation/events.go, legacyValidateEvent): a megabyte in each of them, or a name of as many
// hyphens for whoever looks for the job in it, would be everybody's memory and time.
func trimEvent(e *corev1.Event) *corev1.Event {
	of := e.InvolvedObject
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: e.Name, Namespace: e.Namespace, UID: e.UID, ResourceVersion: e.ResourceVersion, CreationTimestamp: e.CreationTimestamp},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: begin(of.APIVersion, nameBytes), Kind: begin(of.Kind, nameBytes), Namespace: begin(of.Namespace, nameBytes),
			Name: begin(of.Name, nameBytes), UID: types.UID(begin(string(of.UID), nameBytes)),
		},
		Reason: begin(e.Reason, nameBytes), Message: begin(e.Message, noteBytes), Type: begin(e.Type, nameBytes),
		FirstTimestamp: e.FirstTimestamp, LastTimestamp: e.LastTimestamp, EventTime: e.EventTime, Count: e.Count, Series: e.Series,
		Source:              corev1.EventSource{Component: begin(e.Source.Component, nameBytes), Host: begin(e.Source.Host, nameBytes)},
		ReportingController: begin(e.ReportingController, nameBytes),
	}
}

// begin is the beginning of a text; it holds nothing of the rest.
func begin(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.Clone(strings.ToValidUTF8(text[:most], ""))
}

// Add implements cache.ReflectorStore.
func (f *Followed) Add(object any) error {
	f.mu.Lock()
	e, told := f.put(object), f.told
	f.mu.Unlock()
	if e != nil && told != nil {
		told(e)
	}
	return nil
}

// Update implements cache.ReflectorStore.
func (f *Followed) Update(object any) error { return f.Add(object) }

// Delete implements cache.ReflectorStore.
func (f *Followed) Delete(object any) error {
	e, ok := object.(*corev1.Event)
	if !ok {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.namespaces[e.Namespace]; s != nil && s.byName[e.Name] != nil {
		f.drop(e.Namespace, s, s.byName[e.Name])
	}
	return nil
}

// Replace implements cache.ReflectorStore.
func (f *Followed) Replace(objects []any, _ string) error {
	f.mu.Lock()
	before, told := f.namespaces, f.told
	if !f.synced {
		told = nil // what was there is no news
	}
	f.namespaces, f.total, f.synced = map[string]*namespaceEvents{}, 0, true
	var news []*corev1.Event
	for _, o := range objects {
		e := f.put(o)
		if e == nil || told == nil {
			continue
		}
		if s := before[e.Namespace]; s == nil || s.byName[e.Name] == nil {
			news = append(news, e) // while nothing was watched
		}
	}
	f.mu.Unlock()
	for _, e := range news {
		told(e)
	}
	return nil
}

// Resync implements cache.ReflectorStore.
func (*Followed) Resync() error { return nil }

// put holds an Event; it answers with one that was not held before.
func (f *Followed) put(object any) *corev1.Event {
	e, ok := object.(*corev1.Event)
	if !ok {
		return nil
	}
	e = trimEvent(e)
	s := f.namespaces[e.Namespace]
	if s == nil {
		s = &namespaceEvents{byName: map[string]*list.Element{}, order: list.New()}
		f.namespaces[e.Namespace] = s
	}
	if before := s.byName[e.Name]; before != nil { // it happened again: it is the newest
		before.Value = e
		s.order.MoveToBack(before)
		return nil
	}
	s.byName[e.Name] = s.order.PushBack(e)
	if f.total++; s.order.Len() > mostFollowedOf {
		f.shorten(e.Namespace, s)
		return e
	}
	if f.total > mostFollowed {
		f.shorten(f.largest(e.Namespace, s))
	}
	return e
}

// largest is a namespace that holds more than its share: that of the newest Event where it does, so that who floods
// is not searched for.
func (f *Followed) largest(namespace string, s *namespaceEvents) (string, *namespaceEvents) {
	if s.order.Len() > mostFollowed/len(f.namespaces) {
		return namespace, s
	}
	for name, other := range f.namespaces {
		if n := other.order.Len(); n > s.order.Len() || n == s.order.Len() && name < namespace {
			namespace, s = name, other
		}
	}
	return namespace, s
}

func (f *Followed) shorten(namespace string, s *namespaceEvents) {
	f.drop(namespace, s, s.order.Front())
	s.left = true
}

func (f *Followed) drop(namespace string, s *namespaceEvents, at *list.Element) {
	delete(s.byName, at.Value.(*corev1.Event).Name)
	s.order.Remove(at)
	if f.total--; s.order.Len() == 0 {
		delete(f.namespaces, namespace)
	}
}
