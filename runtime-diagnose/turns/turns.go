// Package turns puts what waits in the order in which namespaces have their turns, so that nobody waits for all that one
// namespace has waiting.
package turns

import "slices"

// Queue holds what waits, each once: of a namespace in the order in which it came, and one of each namespace before another
// of any. What is low comes after the others, but for one turn in lowShare. It implements workqueue.Queue of client-go, which
// locks it.
type Queue[T comparable] struct {
	namespace func(T) string
	low       func(T) bool
	waiting   map[T]*round[T]
	rounds    [2]round[T] // the second: of what is low
	since     int         // turns that others had while something low waited
}

// lowShare is how many turns there are for one of what is low: a namespace that always has something to be done must not keep
// the others from what they have waited for since the beginning.
const lowShare = 4

// New is an empty queue; low: nil where nothing is.
func New[T comparable](namespace func(T) string, low func(T) bool) *Queue[T] {
	if low == nil {
		low = func(T) bool { return false }
	}
	return &Queue[T]{namespace: namespace, low: low, waiting: map[T]*round[T]{}}
}

// round is what waits at one level.
type round[T comparable] struct {
	of   map[string][]T
	next []string // namespaces in of, the next one first
}

func (r *round[T]) push(namespace string, item T) {
	if r.of == nil {
		r.of = map[string][]T{}
	}
	if len(r.of[namespace]) == 0 {
		r.next = append(r.next, namespace)
	}
	r.of[namespace] = append(r.of[namespace], item)
}

func (r *round[T]) pop() T {
	namespace := r.next[0]
	item := r.of[namespace][0]
	r.next = slices.Delete(r.next, 0, 1)
	if r.of[namespace] = r.of[namespace][1:]; len(r.of[namespace]) > 0 {
		r.next = append(r.next, namespace)
	} else {
		delete(r.of, namespace)
	}
	return item
}

// drop takes out what waits.
func (r *round[T]) drop(namespace string, item T) {
	all := r.of[namespace]
	at := slices.Index(all, item)
	if r.of[namespace] = slices.Delete(all, at, at+1); len(all) == 1 {
		delete(r.of, namespace)
		r.next = slices.DeleteFunc(r.next, func(n string) bool { return n == namespace })
	}
}

// Touch is told that what waits is asked for once more: it keeps its place, unless it is low no more.
func (q *Queue[T]) Touch(item T) {
	if q.waiting[item] == &q.rounds[1] && !q.low(item) {
		q.rounds[1].drop(q.namespace(item), item)
		q.Push(item)
	}
}

// Push adds what does not wait.
func (q *Queue[T]) Push(item T) {
	in := &q.rounds[0]
	if q.low(item) {
		in = &q.rounds[1]
	}
	in.push(q.namespace(item), item)
	q.waiting[item] = in
}

// Len is how many wait.
func (q *Queue[T]) Len() int { return len(q.waiting) }

// Pop takes the next; there is one.
func (q *Queue[T]) Pop() T {
	in := &q.rounds[0]
	if low := &q.rounds[1]; len(low.next) > 0 {
		if q.since++; len(in.next) == 0 || q.since >= lowShare {
			in, q.since = low, 0
		}
	}
	item := in.pop()
	delete(q.waiting, item)
	return item
}
