package controller

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// What nobody waits for is spread over time. Where an operator is down, or a hundred jobs are created each second, looking
// at all of them at once, and writing on them, takes the API server and this process from those who create jobs.
const (
	firstEvery = 50 * time.Millisecond  // between two jobs without pods on which nothing stands yet
	renewEvery = 100 * time.Millisecond // between two on which something does, and between two notes of what was warned of
)

// pacer hands out times, one after another. The zero value is ready.
type pacer struct {
	mu   sync.Mutex
	free time.Time
}

// next is the next time that is free; where few ask, it is now.
func (p *pacer) next(now time.Time, every time.Duration) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free.Before(now) {
		p.free = now
	}
	at := p.free
	p.free = at.Add(every)
	return at
}

// turn is a time that was handed out for one thing; zero: none was.
type turn struct{ at time.Time }

// wait is how long it is until the turn, which is over once it has come.
func (t *turn) wait(p *pacer, now time.Time, every time.Duration) time.Duration {
	if t.at.IsZero() {
		t.at = p.next(now, every)
	}
	if left := t.at.Sub(now); left > 0 {
		return left
	}
	t.at = time.Time{}
	return 0
}

// paced is how long a job without pods is left to itself. One that has ended, or of which somebody asks, is not.
func (r *Reconciler) paced(known *remembered, v view) time.Duration {
	if len(v.pods) > 0 || v.ended() || v.asked || !v.deleted.IsZero() {
		known.turn = turn{}
		return 0
	}
	if v.silent {
		return known.turn.wait(&r.firsts, v.now, firstEvery)
	}
	return known.turn.wait(&r.renewals, v.now, renewEvery)
}

// early is how long it is until the turn of a job of which nothing is known but that it was created and has no pods: where a
// hundred are created each second, most looks at one would find out only that others have their turn before it. 0: it is to
// be looked at.
func (r *Reconciler) early(ctx context.Context, key Request) time.Duration {
	k, gvk, served := r.Served.find(key.Kind)
	if !served || !r.memory.untouched(key) {
		return 0
	}
	var pods corev1.PodList
	ref := job.Ref{Kind: k.API(), APIVersion: gvk.GroupVersion().String(), Namespace: key.Namespace, Name: key.Name}
	if r.Cache.List(ctx, &pods, r.podsOf(key.Namespace, k.Pods(ref))...) != nil || len(pods.Items) > 0 {
		return 0
	}
	return r.memory.turnOf(key, &r.firsts, r.now())
}

// untilTelling is how long there is nothing to say of a job that was just created: its operator has not acted on it. Its
// pods, its status and whoever asks bring it up before. 0: it is one to look at.
func untilTelling(k *kinds.Kind, u *unstructured.Unstructured, pendingAfter time.Duration, now time.Time) time.Duration {
	if k.State == nil || len(ours(u.GetAnnotations())) > 0 || u.GetAnnotations()[Ask] != "" || u.GetDeletionTimestamp() != nil {
		return 0
	}
	if status, _ := u.Object["status"].(map[string]any); len(status) > 0 {
		return 0
	}
	most := min(visible, pendingAfter)
	return min(most, most-now.Sub(u.GetCreationTimestamp().Time))
}
