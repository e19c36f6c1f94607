package webhook

import (
	"context"
	"fmt"
	"math"
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
	by      map[holder]*holding
	waiting []*waiter // those that came first stand first
}

// holder is a user or a namespace.
type holder struct {
	namespace bool
	name      string
}

// holding are the places that somebody has.
type holding struct {
	n     int
	moved time.Time // when one was last taken or left
}

type waiter struct {
	holders [2]holder
	arrived time.Time     // the request
	admit   chan struct{} // closed with the lock held, once there is a place
}

func newPlaces(most int) *places {
	return &places{most: most, share: max(most/2, 1), by: map[holder]*holding{}}
}

// newShares are places that are bounded for each user, and each namespace, alone.
func newShares(share int) *places {
	return &places{most: math.MaxInt, share: share, by: map[holder]*holding{}}
}

// take waits for a place: as long as those that are taken are left, one at least within still, and until the context ends. In a
// burst each has its turn; behind reviews that do not end nobody waits. It returns the way to leave the place; nil and why where
// there was none.
func (p *places) take(ctx context.Context, user, namespace string, arrived time.Time, still time.Duration) (leave func(), why string) {
	w := &waiter{holders: [2]holder{{false, user}, {true, namespace}}, arrived: arrived}
	p.mu.Lock()
	if p.fits(w) { // whoever waits does not
		p.occupy(w)
		p.mu.Unlock()
		return sync.OnceFunc(func() { p.leave(w) }), ""
	}
	w.admit = make(chan struct{})
	at, _ := slices.BinarySearchFunc(p.waiting, w, func(other, w *waiter) int {
		if other.arrived.After(w.arrived) {
			return 1
		}
		return -1
	})
	p.waiting = slices.Insert(p.waiting, at, w)
	p.mu.Unlock()
	if p.wait(ctx, w, still) {
		return sync.OnceFunc(func() { p.leave(w) }), ""
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

// wait says whether there came to be a place.
func (p *places) wait(ctx context.Context, w *waiter, still time.Duration) bool {
	look := time.NewTimer(still)
	defer look.Stop()
	for {
		select {
		case <-w.admit:
			return true
		case <-ctx.Done():
			return false
		case <-look.C:
		}
		p.mu.Lock()
		left := still - time.Since(p.movedBefore(w))
		p.mu.Unlock()
		if left <= 0 {
			return false
		}
		look.Reset(left)
	}
}

// movedBefore is when what keeps a waiter from a place last moved.
func (p *places) movedBefore(w *waiter) time.Time {
	last := time.Now()
	if p.taken >= p.most {
		last = p.moved
	}
	for _, h := range w.holders {
		if of := p.by[h]; of != nil && of.n >= p.share && of.moved.Before(last) {
			last = of.moved
		}
	}
	return last
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
		if p.has(h) < p.share {
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

func (p *places) has(h holder) int {
	if of := p.by[h]; of != nil {
		return of.n
	}
	return 0
}

func (p *places) fits(w *waiter) bool {
	return p.taken < p.most && p.has(w.holders[0]) < p.share && p.has(w.holders[1]) < p.share
}

func (p *places) occupy(w *waiter) {
	p.moved = time.Now()
	p.taken++
	for _, h := range w.holders {
		of := p.by[h]
		if of == nil {
			of = &holding{}
			p.by[h] = of
		}
		of.n++
		of.moved = p.moved
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
		of := p.by[h]
		of.moved = p.moved
		if of.n--; of.n == 0 {
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
