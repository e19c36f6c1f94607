package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// served are the kinds that the cluster has now; CRDs come and go.
type served struct {
	mu  sync.RWMutex
	now map[string]servedKind // by name
}

type servedKind struct {
	kind *kinds.Kind
	gvk  schema.GroupVersionKind
}

func (s *served) set(k *kinds.Kind, gvk schema.GroupVersionKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		s.now = map[string]servedKind{}
	}
	s.now[k.Name] = servedKind{k, gvk}
}

func (s *served) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.now, name)
}

func (s *served) find(name string) (*kinds.Kind, schema.GroupVersionKind, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	k, ok := s.now[name]
	return k.kind, k.gvk, ok
}

// findGVK finds a kind by group and kind, in whatever version.
func (s *served) findGVK(gvk schema.GroupVersionKind) (*kinds.Kind, schema.GroupVersionKind, bool) {
	k, have, ok := s.find(gvk.Kind)
	return k, have, ok && have.Group == gvk.Group
}
