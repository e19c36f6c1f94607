package collect

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// sharedFor is how long one answer serves the diagnoses of several jobs: jobs that fail together ask for the same
	// events and nodes. It is no longer than changes of a job wait to be looked at (diagnosis.debounce, 1 s), so that what
	// was there when a job changed is in the answer.
	sharedFor = time.Second
	// absentFor is how long a kind that the API does not serve is not asked for again.
	absentFor = 30 * time.Second
	// mostShared bounds the answers that are held.
	mostShared = 256
)

// Shared is what diagnoses of one process share: the same question is asked once. The zero value is ready to use.
type Shared struct {
	mu      sync.Mutex
	answers map[sharedKey]*sharedAnswer
	absent  map[schema.GroupKind]time.Time
}

type sharedKey struct{ what, namespace, name, selector, next string }

type sharedAnswer struct {
	asked time.Time
	once  sync.Once
	value any
	err   error
}

// ask answers from what was asked a short while before, or asks. An error is nobody else's. What is returned must not be changed.
func ask[T any](s *Shared, key sharedKey, do func() (T, error)) (T, error) {
	if s == nil {
		return do()
	}
	now := time.Now()
	s.mu.Lock()
	a := s.answers[key]
	if a == nil || now.Sub(a.asked) > sharedFor {
		for k, old := range s.answers {
			if now.Sub(old.asked) > sharedFor || len(s.answers) >= mostShared {
				delete(s.answers, k)
			}
		}
		if s.answers == nil {
			s.answers = map[sharedKey]*sharedAnswer{}
		}
		a = &sharedAnswer{asked: now}
		s.answers[key] = a
	}
	s.mu.Unlock()
	own := false
	a.once.Do(func() {
		own = true
		a.value, a.err = do()
	})
	value, ok := a.value.(T)
	if own || ok && a.err == nil {
		return value, a.err
	}
	return do() // another's context may have ended
}

// events is one page of a namespace's events.
func (c *Cluster) events(ctx context.Context, namespace string, o metav1.ListOptions) (*corev1.EventList, error) {
	return ask(c.Shared, sharedKey{"events", namespace, "", o.FieldSelector, o.Continue}, func() (*corev1.EventList, error) {
		return c.Kube.CoreV1().Events(namespace).List(ctx, o)
	})
}

func (c *Cluster) node(ctx context.Context, name string) (*corev1.Node, error) {
	return ask(c.Shared, sharedKey{what: "node", name: name}, func() (*corev1.Node, error) {
		return c.Kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	})
}

// mapping finds the resource of a kind that a cluster may lack. Mappers ask the API again for each kind that it does not serve.
func (c *Cluster) mapping(kind schema.GroupKind, version string) (*meta.RESTMapping, error) {
	if c.Shared == nil {
		return c.Mapper.RESTMapping(kind, version)
	}
	versioned := schema.GroupKind{Group: kind.Group + "/" + version, Kind: kind.Kind}
	c.Shared.mu.Lock()
	at, known := c.Shared.absent[versioned]
	c.Shared.mu.Unlock()
	if known && time.Since(at) < absentFor {
		return nil, &meta.NoKindMatchError{GroupKind: kind, SearchedVersions: []string{version}}
	}
	m, err := c.Mapper.RESTMapping(kind, version)
	if meta.IsNoMatchError(err) {
		c.Shared.mu.Lock()
		if c.Shared.absent == nil {
			c.Shared.absent = map[schema.GroupKind]time.Time{}
		}
		c.Shared.absent[versioned] = time.Now()
		c.Shared.mu.Unlock()
	}
	return m, err
}
