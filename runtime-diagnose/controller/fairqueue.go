package controller

import (
	"slices"
	"sync"
)

// Bounds of the questions to a model. The finding of a large gang holds megabytes of lines.
const (
	waitingTasks = 64 // that wait, of all namespaces; what finds no place is asked about at the next look
	mostAsked    = 8  // that are asked at the same time, of as many namespaces
)

// fairQueue says which question is asked next. A namespace has one at a time, of its largest job first, and namespaces
// take turns. Of the places to wait one namespace gets no more than are still free: however many of its jobs
// fail, others find room.
type fairQueue struct {
	mu      sync.Mutex
	waiting map[string][]task // of a namespace, the next first
	held    int               // tasks in waiting
	running map[string]bool   // namespaces
	last    map[string]int    // when a namespace had its turn, of those that wait or run
	turn    int
	changed chan struct{} // holds one
}

func newFairQueue() *fairQueue {
	return &fairQueue{waiting: map[string][]task{}, running: map[string]bool{}, last: map[string]int{}, changed: make(chan struct{}, 1)}
}

// offer puts a question among those that wait; false: there is no room.
func (q *fairQueue) offer(t task) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	of := t.key.Namespace
	if free := waitingTasks - q.held; free < 1 || len(q.waiting[of]) >= free {
		return false
	}
	at := slices.IndexFunc(q.waiting[of], func(other task) bool { return other.gpus < t.gpus })
	if at < 0 {
		at = len(q.waiting[of])
	}
	q.waiting[of] = slices.Insert(q.waiting[of], at, t)
	q.held++
	q.wake()
	return true
}

// next takes a question whose turn it is; its namespace has none until done is called.
func (q *fairQueue) next() (task, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.running) >= mostAsked {
		return task{}, false
	}
	chosen := ""
	for namespace, all := range q.waiting {
		if q.running[namespace] {
			continue
		}
		if chosen == "" || q.before(namespace, all[0], chosen, q.waiting[chosen][0]) {
			chosen = namespace
		}
	}
	if chosen == "" {
		return task{}, false
	}
	t := q.waiting[chosen][0]
	if q.waiting[chosen] = q.waiting[chosen][1:]; len(q.waiting[chosen]) == 0 {
		delete(q.waiting, chosen)
	}
	q.held--
	q.turn++
	q.running[chosen], q.last[chosen] = true, q.turn
	return t, true
}

// before is the order of namespaces: whose turn is longer ago, then whose job is larger.
func (q *fairQueue) before(a string, ofA task, b string, ofB task) bool {
	switch {
	case q.last[a] != q.last[b]:
		return q.last[a] < q.last[b]
	case ofA.gpus != ofB.gpus:
		return ofA.gpus > ofB.gpus
	}
	return a < b
}

// done ends the turn of a namespace.
func (q *fairQueue) done(namespace string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.running, namespace)
	if len(q.waiting[namespace]) == 0 {
		delete(q.last, namespace)
	}
	q.wake()
}

func (q *fairQueue) wake() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

// count is how many wait.
func (q *fairQueue) count() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.held
}
