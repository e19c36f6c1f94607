package webhook

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// places bound what runs at the same time. One user, and one namespace, may take half of them: who
// fills theirs waits, and the others do not.
type places struct {
	most, share int

	mu      sync.Mutex
	moved   time.Time // when a place was last taken or left
	taken   int
	by      map[holder]int
	waiting []*waiter // in the order they came
}

// holder is a user or a namespace.
type holder struct {
	namespace bool
	name      string
}

type waiter struct {
	holders [2]holder
	admit   chan struct{} // closed with the lock held, once there is a place
}

func newPlaces(most int) *places {
	return &places{most: most, share: max(most/2, 1), by: map[holder]int{}}
}

// take waits for a place until the context ends. It returns the way to leave it; nil and why where
// there was none.
func (p *places) take(ctx context.Context, user, namespace string) (leave func(), why string) {
	w := &waiter{holders: [2]holder{{false, user}, {true, namespace}}, admit: make(chan struct{})}
	p.mu.Lock()
	p.waiting = append(p.waiting, w)
	p.admit()
	p.mu.Unlock()
	select {
	case <-w.admit:
		return sync.OnceFunc(func() { p.leave(w) }), ""
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := slices.Index(p.waiting, w); at >= 0 {
		p.waiting = slices.Delete(p.waiting, at, at+1)
		return nil, p.full(w)
	}
	p.free(w) // it was admitted in the same moment
	p.admit()
	return nil, p.full(w)
}

// try is take for whoever does not wait.
func (p *places) try(user, namespace string) (leave func(), why string) {
	w := &waiter{holders: [2]holder{{false, user}, {true, namespace}}}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.fits(w) {
		return nil, p.full(w)
	}
	p.occupy(w)
	return sync.OnceFunc(func() { p.leave(w) }), ""
}

func (p *places) full(w *waiter) string {
	for _, h := range w.holders {
		if p.by[h] < p.share {
			continue
		}
		if h.namespace {
			return fmt.Sprintf("%d reviews for namespace %s are running already, which is the limit for one", p.share, h.name)
		}
		return fmt.Sprintf("%d reviews for user %s are running already, which is the limit for one", p.share, h.name)
	}
	return fmt.Sprintf("%d reviews are running already, which is the limit", p.most)
}

// admit lets in whoever may, in the order they came.
func (p *places) admit() {
	p.waiting = slices.DeleteFunc(p.waiting, func(w *waiter) bool {
		if !p.fits(w) {
			return false
		}
		p.occupy(w)
		close(w.admit)
		return true
	})
}

func (p *places) fits(w *waiter) bool {
	return p.taken < p.most && p.by[w.holders[0]] < p.share && p.by[w.holders[1]] < p.share
}

func (p *places) occupy(w *waiter) {
	p.moved = time.Now()
	p.taken++
	for _, h := range w.holders {
		p.by[h]++
	}
}

func (p *places) leave(w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free(w)
	p.admit()
}

func (p *places) free(w *waiter) {
	p.moved = time.Now()
	p.taken--
	for _, h := range w.holders {
		if p.by[h]--; p.by[h] == 0 {
			delete(p.by, h)
		}
	}
}

// stuck says for how long all places have been taken by reviews that do not end; 0: some are free.
func (p *places) stuck() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken < p.most {
		return 0
	}
	return time.Since(p.moved)
}
