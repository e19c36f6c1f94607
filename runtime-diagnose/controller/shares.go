package controller

import (
	"sync"
	"time"
)

// shares bounds the looks that users of one namespace ask for to half of the workers. An ask takes no more than a new value of
// an annotation: whoever renews it on thousands of jobs would have all workers, and jobs of others that fail meanwhile wait for
// all of those. The zero value is ready.
type shares struct {
	mu sync.Mutex
	by map[string]*share
}

type share struct {
	taken int
	free  time.Time // of those that found none, when the next may come
}

// askAgain is when a look is tried again that found no share, at the earliest: of many each has a turn.
const askAgain = time.Second

// take is a share of a namespace of so many workers, as the way to give it back; nil, and when to come again, where none is left.
func (s *shares) take(namespace string, workers int, now time.Time) (leave func(), again time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.by[namespace]
	if of == nil {
		of = &share{}
		if s.by == nil {
			s.by = map[string]*share{}
		}
		s.by[namespace] = of
	}
	if of.taken >= max(1, workers/2) {
		if of.free.Before(now) {
			of.free = now
		}
		again = max(askAgain, of.free.Sub(now))
		of.free = of.free.Add(renewEvery)
		return nil, again
	}
	of.taken++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if of.taken--; of.taken == 0 {
			delete(s.by, namespace)
		}
	}, 0
}
