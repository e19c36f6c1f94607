package controller

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/turns"
)

// lookQueue is the queue of the controller. Namespaces have their turns: where thousands of jobs of one fail together, those of
// others are not looked at after all of them. As in the queue of controller-runtime, what a first list brings comes after what
// changes; unlike there, it comes while things change.
type lookQueue struct {
	workqueue.TypedRateLimitingInterface[Request]
	mu         sync.Mutex
	priorities map[Request]int // of what is in the queue, ready or not
	ready      map[Request]bool
}

var _ priorityqueue.PriorityQueue[Request] = (*lookQueue)(nil)

func newLookQueue(name string, limiter workqueue.TypedRateLimiter[Request]) workqueue.TypedRateLimitingInterface[Request] {
	q := &lookQueue{priorities: map[Request]int{}, ready: map[Request]bool{}}
	order := &readyTurns{turns.New(func(r Request) string { return r.Namespace }, q.low), q}
	q.TypedRateLimitingInterface = workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[Request]{
		Name: name,
		DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[Request]{
			Name: name, Queue: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[Request]{Name: name, Queue: order}),
		}),
	})
	return q
}

// readyTurns note what is ready.
type readyTurns struct {
	*turns.Queue[Request]
	q *lookQueue
}

// Push implements workqueue.Queue.
func (t *readyTurns) Push(r Request) {
	t.Queue.Push(r)
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	t.q.ready[r] = true
}

// Pop implements workqueue.Queue.
func (t *readyTurns) Pop() Request {
	r := t.Queue.Pop()
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	delete(t.q.ready, r)
	return r
}

func (q *lookQueue) low(r Request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.priorities[r] < 0
}

// AddWithOpts implements priorityqueue.PriorityQueue: of several priorities the highest counts, and what is ready is looked at
// once, whatever is added meanwhile.
func (q *lookQueue) AddWithOpts(o priorityqueue.AddOpts, requests ...Request) {
	priority := ptr.Deref(o.Priority, 0)
	for _, r := range requests {
		q.mu.Lock()
		if before, in := q.priorities[r]; !in || before < priority {
			q.priorities[r] = priority
		}
		ready := q.ready[r]
		q.mu.Unlock()
		switch {
		case o.RateLimited && !ready:
			q.TypedRateLimitingInterface.AddRateLimited(r)
		case o.After > 0 && !ready:
			q.TypedRateLimitingInterface.AddAfter(r, o.After)
		default:
			q.TypedRateLimitingInterface.Add(r)
		}
	}
}

// GetWithPriority implements priorityqueue.PriorityQueue.
func (q *lookQueue) GetWithPriority() (r Request, priority int, shutdown bool) {
	r, shutdown = q.TypedRateLimitingInterface.Get()
	q.mu.Lock()
	defer q.mu.Unlock()
	priority = q.priorities[r]
	delete(q.priorities, r)
	return r, priority, shutdown
}

// Get implements workqueue.TypedInterface.
func (q *lookQueue) Get() (r Request, shutdown bool) {
	r, _, shutdown = q.GetWithPriority()
	return r, shutdown
}

// Add implements workqueue.TypedInterface.
func (q *lookQueue) Add(r Request) { q.AddWithOpts(priorityqueue.AddOpts{}, r) }

// AddAfter implements workqueue.TypedDelayingInterface.
func (q *lookQueue) AddAfter(r Request, after time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: after}, r)
}

// AddRateLimited implements workqueue.TypedRateLimitingInterface.
func (q *lookQueue) AddRateLimited(r Request) {
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, r)
}
