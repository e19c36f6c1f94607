package webhook

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

// places bound what runs at the same time. One author, and one namespace, may take half of them: who
// fills theirs waits, and the others do not. The last one is for an author who has none. Who waits does so behind those who have
// fewer, and had their last turn longer ago, however many accounts in however many namespaces wait as well.
type places struct {
	most, share int

	mu      sync.Mutex
	moved   time.Time // when a place was last taken or left
	taken   int
	turns   int // that were given
	by      map[holder]*holding
	waiting []*waiter // those that came first stand first
}

// holder is an author or a namespace.
type holder struct {
	namespace bool
	name      string
}

// holding are the places that somebody has, or waits for.
type holding struct {
	n, waiting int
	moved      time.Time // when one was last taken or left
	turn       int       // the last that was given to it; 0: none
}

type waiter struct {
	holders [2]holder
	of      [2]*holding   // while it waits
	arrived time.Time     // the request
	admit   chan struct{} // closed with the lock held, once there is a place
}

func newWaiter(user, namespace string) *waiter {
	return &waiter{holders: [2]holder{{false, authorOf(user)}, {true, namespace}}}
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
	w := newWaiter(user, namespace)
	w.arrived = arrived
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
	for i, h := range w.holders {
		w.of[i] = p.holding(h)
		w.of[i].waiting++
	}
	p.mu.Unlock()
	if p.wait(ctx, w, still) {
		return sync.OnceFunc(func() { p.leave(w) }), ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := slices.Index(p.waiting, w); at >= 0 {
		p.waits(at)
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
	if p.taken >= p.most || p.kept(w) {
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
	w := newWaiter(user, namespace)
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
		return fmt.Sprintf("%d reviews for %s are running already, which is the limit for one", p.share, whose(h.name))
	}
	if p.taken < p.most {
		return fmt.Sprintf("%d of %d reviews are running already, and one more may only be of a user who has none", p.taken, p.most)
	}
	return fmt.Sprintf("%d reviews are running already, which is the limit", p.most)
}

// whose names an author.
func whose(author string) string {
	if namespace, are := strings.CutPrefix(author, serviceAccounts); are {
		return "service accounts of namespace " + namespace
	}
	return "user " + author
}

// admit lets in whoever may: those who have fewest first, of these who had a turn longest ago, and then in the order they came.
func (p *places) admit() {
	for {
		next := -1
		for i, w := range p.waiting {
			if p.fits(w) && (next < 0 || w.before(p.waiting[next])) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		w := p.waiting[next]
		p.occupy(w)
		p.waits(next)
		close(w.admit)
	}
}

// waits takes out who does not wait any more.
func (p *places) waits(at int) {
	w := p.waiting[at]
	p.waiting = slices.Delete(p.waiting, at, at+1)
	for i, of := range w.of {
		of.waiting--
		p.forget(w.holders[i], of)
	}
}

func (w *waiter) before(other *waiter) bool {
	return cmp.Or(
		cmp.Compare(w.of[0].n+w.of[1].n, other.of[0].n+other.of[1].n),
		cmp.Compare(w.of[0].turn, other.of[0].turn),
		cmp.Compare(w.of[1].turn, other.of[1].turn),
	) < 0
}

func (p *places) has(h holder) int {
	if of := p.by[h]; of != nil {
		return of.n
	}
	return 0
}

// kept says whether the place that is free is kept for somebody else.
func (p *places) kept(w *waiter) bool { return p.taken == p.most-1 && p.has(w.holders[0]) > 0 }

func (p *places) fits(w *waiter) bool {
	return p.taken < p.most && !p.kept(w) && p.has(w.holders[0]) < p.share && p.has(w.holders[1]) < p.share
}

func (p *places) occupy(w *waiter) {
	p.moved = time.Now()
	p.taken++
	p.turns++
	for _, h := range w.holders {
		of := p.holding(h)
		of.n++
		of.moved, of.turn = p.moved, p.turns
	}
}

func (p *places) holding(h holder) *holding {
	of := p.by[h]
	if of == nil {
		of = &holding{}
		p.by[h] = of
	}
	return of
}

func (p *places) forget(h holder, of *holding) {
	if of.n == 0 && of.waiting == 0 {
		delete(p.by, h)
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
		of.n--
		p.forget(h, of)
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
