package controller

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// served are the kinds that the cluster has now; CRDs come and go.
type served struct {
	mu    sync.RWMutex
	now   map[string]servedKind // by name; read once at least
	begun map[string]*begun     // that are being read for the first time
}

type servedKind struct {
	kind *kinds.Kind
	gvk  schema.GroupVersionKind
}

// begun is a kind whose first list is under way.
type begun struct {
	servedKind
	stop context.CancelFunc
}

// set says that a kind can be read from the cache.
func (s *served) set(k *kinds.Kind, gvk schema.GroupVersionKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(servedKind{k, gvk})
}

// put is set; the lock is held.
func (s *served) put(k servedKind) {
	if s.now == nil {
		s.now = map[string]servedKind{}
	}
	s.now[k.kind.Name] = k
}

// begin says that a kind will be there when done is called. Before, nothing may ask the cache for it:
// the answer would take as long as the first list does, which may fail for ever.
func (s *served) begin(k *kinds.Kind, gvk schema.GroupVersionKind, stop context.CancelFunc) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun == nil {
		s.begun = map[string]*begun{}
	}
	b := &begun{servedKind{k, gvk}, stop}
	s.begun[k.Name] = b
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.begun[k.Name] == b { // else it has been removed meanwhile
			delete(s.begun, k.Name)
			s.put(b.servedKind)
		}
	}
}

// remove forgets a kind.
func (s *served) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.begun[name]; b != nil {
		b.stop()
	}
	delete(s.begun, name)
	delete(s.now, name)
}

func (s *served) find(name string) (*kinds.Kind, schema.GroupVersionKind, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	k, ok := s.now[name]
	return k.kind, k.gvk, ok
}

// watched is the version in which a kind is watched, read or not yet.
func (s *served) watched(name string) (schema.GroupVersionKind, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if b := s.begun[name]; b != nil {
		return b.gvk, true
	}
	k, ok := s.now[name]
	return k.gvk, ok
}

// soon says that a kind is being read for the first time.
func (s *served) soon(name string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.begun[name] != nil
}

// findGVK finds a kind by group and kind, in whatever version.
func (s *served) findGVK(gvk schema.GroupVersionKind) (*kinds.Kind, schema.GroupVersionKind, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, k := range s.now { // of a group and a kind there is one at most
		if k.gvk.GroupKind() == gvk.GroupKind() {
			return k.kind, k.gvk, true
		}
	}
	return nil, schema.GroupVersionKind{}, false
}
