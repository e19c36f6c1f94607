package cluster

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// shared holds equal things once: a cluster has a hundred thousand pods and volumes, of which most ask for what some
// other one asks for. What it gives out must not be changed.
type shared[T any] struct {
	mu    sync.Mutex
	known map[string]T
}

const (
	// mostHeldOnce bounds what is remembered; beyond that it begins anew.
	mostHeldOnce = 1 << 12
	// mostEntries is how many entries a vector or a list has that is held once; a longer one is not shared.
	mostEntries = 16
	// fewKeys is how many keys most maps have.
	fewKeys = 8
	// mostWritten is how long what is held once is where it is written down, in bytes: an affinity, labels, what a claim or the pods of a job say.
	mostWritten = 1 << 10
	// mostText is how long a text is that is held once, in bytes: names of classes, drivers and namespaces are shorter.
	mostText = 64
)

// find is what was given under a key, if anything was.
func (s *shared[T]) find(key []byte) (value T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok = s.known[string(key)] // no text is made of it
	return value, ok
}

// of is the value that was first given under a key.
func (s *shared[T]) of(key []byte, value T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.known[string(key)]; ok {
		return known
	}
	s.hold(key, value)
	return value
}

// hold has a value given out under a key from now on.
func (s *shared[T]) hold(key []byte, value T) {
	if s.known == nil || len(s.known) >= mostHeldOnce {
		s.known = map[string]T{}
	}
	s.known[string(key)] = value
}

// or is the value that was first given under a key, which may be this one.
func (s *shared[T]) or(key []byte, value func() T) T {
	if known, ok := s.find(key); ok {
		return known
	}
	return s.of(key, value())
}

// put has a value given out under a key from now on.
func (s *shared[T]) put(key []byte, value T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold(key, value)
}

var (
	sharedTemplates shared[*podTemplate]
	sharedRequests  shared[*[]Amount]
	sharedAmounts   shared[corev1.ResourceList]
	sharedReaches   shared[*volumeReach]
	sharedTexts     shared[*string]
	sharedModes     shared[[]corev1.PersistentVolumeAccessMode]
	sharedClaims    shared[*corev1.PersistentVolumeClaim]
	sharedVolumes   shared[*corev1.PersistentVolume]
	sharedMaps      shared[map[string]string]
	noMore          podMore
	noRequests      []Amount
)

// sharedVector is a vector in the order of its names, held once.
func sharedVector(of []Amount) *[]Amount {
	if len(of) > mostEntries {
		return &of
	}
	key := make([]byte, 0, 256)
	for _, a := range of {
		key = binary.AppendVarint(withLength(key, string(a.Name)), a.N)
	}
	return sharedRequests.or(key, func() *[]Amount { return &of })
}

// SharedAmounts are amounts, held once; they must not be written to. Nodes of one machine offer the same.
func SharedAmounts(of corev1.ResourceList) corev1.ResourceList {
	if len(of) == 0 || len(of) > mostEntries {
		return of
	}
	key := make([]byte, 0, 256)
	for _, name := range slices.Sorted(maps.Keys(of)) {
		q := of[name]
		key = withLength(withLength(key, string(name)), q.String())
	}
	return sharedAmounts.of(key, of)
}

// sharedText is a text, held once unless it is long; it must not be written to.
func sharedText(text string) *string {
	if len(text) > mostText {
		long := text
		return &long
	}
	var room [mostText]byte
	key := append(room[:0], text...)
	if known, ok := sharedTexts.find(key); ok {
		return known
	}
	own := strings.Clone(text) // not the object that it is a piece of
	return sharedTexts.of(key, &own)
}

// withValue appends a decoded value of texts, lists and maps so that equal ones are written the same; false: it holds
// something else.
func withValue(to []byte, v any) ([]byte, bool) {
	switch v := v.(type) {
	case string:
		return withLength(append(to, 't'), v), true
	case []any:
		to = binary.AppendUvarint(append(to, 'l'), uint64(len(v)))
		for _, item := range v {
			var ok bool
			if to, ok = withValue(to, item); !ok {
				return to, false
			}
		}
		return to, true
	case map[string]any:
		to = binary.AppendUvarint(append(to, 'm'), uint64(len(v)))
		var room [fewKeys]string
		for _, key := range sortedInto(room[:0], v) {
			var ok bool
			if to, ok = withValue(withLength(to, key), v[key]); !ok {
				return to, false
			}
		}
		return to, true
	default:
		return to, false
	}
}

// withLength appends a text so that it can be told where it ends, whatever it holds.
func withLength(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}
