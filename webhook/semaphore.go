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

// semaphore bounds how many reviews run at the same time, and is fair: each runs on a seat, and one author, or one namespace, gets
// half of the seats at most. The last seat is for an author who has none. A free seat goes to the flow that has fewest, and of
// those to the one whose last turn is longest ago, however many accounts in however many namespaces wait.
type semaphore struct {
	most, share int

	mu      sync.Mutex
	moved   time.Time // when a seat was last taken or left
	taken   int
	turns   int // that were given
	by      map[flow]*seats
	waiting []*waiter // those that came first stand first
}

// flow is an author or a namespace, as API Priority and Fairness tells requests apart.
type flow struct {
	namespace bool
	name      string
}

// seats are those that a flow has, and how many it waits for.
type seats struct {
	n, waiting int
	moved      time.Time // when one was last taken or left
	turn       int       // the last that was given to it; 0: none
}

type waiter struct {
	flows   [2]flow
	of      [2]*seats     // while it waits
	arrived time.Time     // the request
	admit   chan struct{} // closed with the lock held, once there is a seat
}

func newWaiter(user, namespace string) *waiter {
	return &waiter{flows: [2]flow{{false, authorOf(user)}, {true, namespace}}}
}

func newSemaphore(most int) *semaphore {
	return &semaphore{most: most, share: max(most/2, 1), by: map[flow]*seats{}}
}

// newShares has no bound but that of each author and each namespace.
func newShares(share int) *semaphore {
	return &semaphore{most: math.MaxInt, share: share, by: map[flow]*seats{}}
}

// acquire waits for a seat: as long as those that are taken are left, one at least within still, and until the context ends. In a
// burst each has its turn; behind reviews that do not end none waits. It returns the way to give the seat back; nil and why where
// there was none.
func (p *semaphore) acquire(ctx context.Context, user, namespace string, arrived time.Time, still time.Duration) (leave func(), why string) {
	w := newWaiter(user, namespace)
	w.arrived = arrived
	p.mu.Lock()
	if p.fits(w) { // no flow that waits does
		p.grant(w)
		p.mu.Unlock()
		return sync.OnceFunc(func() { p.release(w) }), ""
	}
	w.admit = make(chan struct{})
	at, _ := slices.BinarySearchFunc(p.waiting, w, func(other, w *waiter) int {
		if other.arrived.After(w.arrived) {
			return 1
		}
		return -1
	})
	p.waiting = slices.Insert(p.waiting, at, w)
	for i, h := range w.flows {
		w.of[i] = p.seatsOf(h)
		w.of[i].waiting++
	}
	p.mu.Unlock()
	if p.wait(ctx, w, still) {
		return sync.OnceFunc(func() { p.release(w) }), ""
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

// wait says whether a seat became free.
func (p *semaphore) wait(ctx context.Context, w *waiter, still time.Duration) bool {
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

// movedBefore is when what keeps a waiter from a seat last moved.
func (p *semaphore) movedBefore(w *waiter) time.Time {
	last := time.Now()
	if p.taken >= p.most || p.kept(w) {
		last = p.moved
	}
	for _, h := range w.flows {
		if of := p.by[h]; of != nil && of.n >= p.share && of.moved.Before(last) {
			last = of.moved
		}
	}
	return last
}

// tryAcquire is acquire without waiting.
func (p *semaphore) tryAcquire(user, namespace string) (leave func(), why string) {
	w := newWaiter(user, namespace)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.fits(w) {
		return nil, p.full(w)
	}
	p.grant(w)
	return sync.OnceFunc(func() { p.release(w) }), ""
}

func (p *semaphore) full(w *waiter) string {
	for _, h := range w.flows {
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

// admit lets in what may go: requests of authors who have fewest first, of these who had a turn longest ago, and then in the order they came.
func (p *semaphore) admit() {
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
		p.grant(w)
		p.waits(next)
		close(w.admit)
	}
}

// waits takes out what does not wait any more.
func (p *semaphore) waits(at int) {
	w := p.waiting[at]
	p.waiting = slices.Delete(p.waiting, at, at+1)
	for i, of := range w.of {
		of.waiting--
		p.forget(w.flows[i], of)
	}
}

func (w *waiter) before(other *waiter) bool {
	return cmp.Or(
		cmp.Compare(w.of[0].n+w.of[1].n, other.of[0].n+other.of[1].n),
		cmp.Compare(w.of[0].turn, other.of[0].turn),
		cmp.Compare(w.of[1].turn, other.of[1].turn),
	) < 0
}

func (p *semaphore) has(h flow) int {
	if of := p.by[h]; of != nil {
		return of.n
	}
	return 0
}

// kept says whether the seat that is free is kept for another author.
func (p *semaphore) kept(w *waiter) bool { return p.taken == p.most-1 && p.has(w.flows[0]) > 0 }

func (p *semaphore) fits(w *waiter) bool {
	return p.taken < p.most && !p.kept(w) && p.has(w.flows[0]) < p.share && p.has(w.flows[1]) < p.share
}

func (p *semaphore) grant(w *waiter) {
	p.moved = time.Now()
	p.taken++
	p.turns++
	for _, h := range w.flows {
		of := p.seatsOf(h)
		of.n++
		of.moved, of.turn = p.moved, p.turns
	}
}

func (p *semaphore) seatsOf(h flow) *seats {
	of := p.by[h]
	if of == nil {
		of = &seats{}
		p.by[h] = of
	}
	return of
}

func (p *semaphore) forget(h flow, of *seats) {
	if of.n == 0 && of.waiting == 0 {
		delete(p.by, h)
	}
}

func (p *semaphore) release(w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free(w)
	p.admit()
}

func (p *semaphore) free(w *waiter) {
	p.moved = time.Now()
	p.taken--
	for _, h := range w.flows {
		of := p.by[h]
		of.moved = p.moved
		of.n--
		p.forget(h, of)
	}
}

// stuck says for how long all seats have been taken by reviews that do not end; 0: some are free.
func (p *semaphore) stuck() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken < p.most {
		return 0
	}
	return time.Since(p.moved)
}
