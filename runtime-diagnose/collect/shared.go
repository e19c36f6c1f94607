package collect

import (
	"cmp"
	"context"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// defaultShared is how long an answer is held where nothing says: as long as diagnosis.debounce by default.
	defaultShared = time.Second
	// absentFor is how long a kind that the API does not serve is not asked for again.
	absentFor = 30 * time.Second
	// mostShared bounds the answers that are held. One is at most a page of 500 events, about 500 KiB.
	mostShared = 64
	// mostAbsent bounds the kinds that are known to be lacking: authors of owner references make them up.
	mostAbsent = 256
	// longestVersion is how long a version of a kind is, which the API server bounds for none that an owner reference makes up
	// (k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/validation: a DNS label).
	longestVersion = 63
)

// Shared is what diagnoses of one process share: the same question is asked once. The zero value is ready to use.
type Shared struct {
	// For is how long one answer serves the diagnoses of several jobs: jobs that fail together ask for the same
	// events and nodes. It must be no longer than changes of a job wait to be looked at (diagnosis.debounce), so that
	// what was there when a job changed is in the answer. 0: a second; less: nothing is shared.
	For time.Duration

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

// ask answers from what was asked a short while before, or asks. An error is not shared. What is returned must not be changed.
func ask[T any](s *Shared, key sharedKey, do func() (T, error)) (T, error) {
	if s == nil || s.For < 0 {
		return do()
	}
	a := s.answer(key)
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

// answer is the one that is held, or a new one, which is let go when its time is over: what is held is large, and
// the next question may be hours away.
func (s *Shared) answer(key sharedKey) *sharedAnswer {
	lasts := cmp.Or(s.For, defaultShared)
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.answers[key]
	if a != nil && now.Sub(a.asked) <= lasts {
		return a
	}
	if s.answers == nil {
		s.answers = map[sharedKey]*sharedAnswer{}
	}
	if len(s.answers) >= mostShared {
		delete(s.answers, oldest(s.answers, func(a *sharedAnswer) time.Time { return a.asked }))
	}
	a = &sharedAnswer{asked: now}
	s.answers[key] = a
	time.AfterFunc(lasts, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.answers[key] == a {
			delete(s.answers, key)
		}
	})
	return a
}

// oldest is the key of what was there first. O(n) for maps of a few hundred.
func oldest[K comparable, V any](m map[K]V, at func(V) time.Time) (key K) {
	var first time.Time
	for k, v := range m {
		if when := at(v); first.IsZero() || when.Before(first) {
			key, first = k, when
		}
	}
	return key
}

// lacks says whether a kind was asked for a short while ago and is not there.
func (s *Shared) lacks(kind schema.GroupKind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, known := s.absent[kind]
	return known && time.Since(at) < absentFor
}

// lack notes that a kind is not there, until it is asked for again.
func (s *Shared) lack(kind schema.GroupKind) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.absent == nil {
		s.absent = map[schema.GroupKind]time.Time{}
	}
	maps.DeleteFunc(s.absent, func(_ schema.GroupKind, at time.Time) bool { return now.Sub(at) >= absentFor })
	if _, known := s.absent[kind]; !known && len(s.absent) >= mostAbsent {
		delete(s.absent, oldest(s.absent, func(at time.Time) time.Time { return at }))
	}
	s.absent[kind] = now
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
	if len(version) > longestVersion {
		return nil, &meta.NoKindMatchError{GroupKind: kind}
	}
	if c.Shared == nil {
		return c.Mapper.RESTMapping(kind, version)
	}
	versioned := schema.GroupKind{Group: kind.Group + "/" + version, Kind: kind.Kind}
	if c.Shared.lacks(versioned) {
		return nil, &meta.NoKindMatchError{GroupKind: kind, SearchedVersions: []string{version}}
	}
	m, err := c.Mapper.RESTMapping(kind, version)
	if meta.IsNoMatchError(err) {
		c.Shared.lack(versioned)
	}
	return m, err
}
