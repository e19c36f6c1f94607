package notify

import (
	"slices"
	"sync"
)

// told remembers of which failures somebody was told, so that none is told twice and the end of each is. Where there are too
// many, the namespace that has most of them loses its oldest: whoever makes thousands of jobs that fail leaves those of others
// as they are, and who has few of their own hears of their end.
type told struct {
	most int

	mu     sync.Mutex
	prints map[string]string   // what was told last, by UID
	of     map[string][]string // UIDs by namespace, the oldest first
}

func newTold(most int) *told {
	return &told{most: most, prints: map[string]string{}, of: map[string][]string{}}
}

// fresh says whether this is news: the same failure of a job is told once, and its end only where it was told.
func (t *told) fresh(f Failure) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, known := t.prints[f.UID]
	switch {
	case f.Over:
		if known {
			t.forget(f.Namespace, slices.Index(t.of[f.Namespace], f.UID))
		}
		return known
	case known && before == f.Fingerprint:
		return false
	case !known && len(t.prints) == t.most:
		has := f.Namespace
		for namespace, of := range t.of {
			if n := len(of) - len(t.of[has]); n > 0 || n == 0 && has != f.Namespace && namespace < has {
				has = namespace
			}
		}
		t.forget(has, 0)
	}
	if !known {
		t.of[f.Namespace] = append(t.of[f.Namespace], f.UID)
	}
	t.prints[f.UID] = f.Fingerprint
	return true
}

func (t *told) forget(namespace string, at int) {
	of := t.of[namespace]
	delete(t.prints, of[at])
	if t.of[namespace] = slices.Delete(of, at, at+1); len(t.of[namespace]) == 0 {
		delete(t.of, namespace)
	}
}
