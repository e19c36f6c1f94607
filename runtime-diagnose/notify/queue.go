package notify

import (
	"slices"
	"sync"
)

// queue holds what waits for one receiver. Namespaces have their turns, and where there is no room, whoever has most waiting
// loses the newest of it: a namespace whose jobs all fail keeps nobody from hearing of the others.
type queue struct {
	most  int
	ready chan struct{} // holds one where something may have come

	mu    sync.Mutex
	n     int
	of    map[string][]Failure // by namespace, the oldest first
	turns []string             // namespaces in of, the next one first
}

func newQueue(most int) *queue {
	return &queue{most: most, ready: make(chan struct{}, 1), of: map[string][]Failure{}}
}

// put adds a failure; what had to go for it, or itself, is returned.
func (q *queue) put(f Failure) (dropped Failure, full bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.n == q.most {
		has := f.Namespace
		for _, ns := range q.turns {
			if len(q.of[ns]) > len(q.of[has]) {
				has = ns
			}
		}
		if has == f.Namespace {
			return f, true
		}
		last := len(q.of[has]) - 1
		dropped, full = q.of[has][last], true
		q.of[has] = q.of[has][:last]
		q.n--
	}
	if len(q.of[f.Namespace]) == 0 {
		q.turns = append(q.turns, f.Namespace)
	}
	q.of[f.Namespace] = append(q.of[f.Namespace], f)
	q.n++
	select {
	case q.ready <- struct{}{}:
	default:
	}
	return dropped, full
}

// take is the next failure; ok is false where none waits.
func (q *queue) take() (f Failure, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.n == 0 {
		return f, false
	}
	ns := q.turns[0]
	f = q.of[ns][0]
	q.of[ns] = q.of[ns][1:]
	q.turns = slices.Delete(q.turns, 0, 1)
	if len(q.of[ns]) > 0 {
		q.turns = append(q.turns, ns)
	} else {
		delete(q.of, ns)
	}
	q.n--
	return f, true
}
