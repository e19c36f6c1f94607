package controller

import (
	"context"
	"slices"
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

// pacer lets one thing begin after another. Namespaces have their turns: of those that create jobs by the thousands, others wait
// for one each. The zero value is ready.
type pacer struct {
	mu   sync.Mutex
	free time.Time // when the next may begin
	of   map[string]*line
	next []string // namespaces in of, the next one first
}

// line is what waits of one namespace.
type line struct {
	turns []*turn
	gone  int // of those that were before turns
}

// turn is one thing's; the zero value has not asked for any.
type turn struct {
	in    *pacer // where it waits
	every time.Duration
	come  bool
	place int // in its line, with those that are gone
}

// wait is how long it is until the turn, as far as is known now; once it has come it is over, and another may be asked for.
func (p *pacer) wait(t *turn, namespace string, now time.Time, every time.Duration) time.Duration {
	left := p.until(t, namespace, now, every)
	if left == 0 {
		*t = turn{}
	}
	return left
}

// until is how long it is until the turn; once it has come, it stays.
func (p *pacer) until(t *turn, namespace string, now time.Time, every time.Duration) time.Duration {
	if t.in != nil { // the one that was asked first
		p, every = t.in, t.every
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.in == nil {
		if len(p.next) == 0 && p.free.Before(now) {
			p.free = now
		}
		p.queue(t, namespace, every)
	}
	for len(p.next) > 0 && !p.free.After(now) {
		p.take().come = true
		p.free = p.free.Add(every)
	}
	if t.come {
		return 0
	}
	before := (t.place - p.of[namespace].gone) * len(p.next)
	return p.free.Sub(now) + time.Duration(before+slices.Index(p.next, namespace))*every
}

// queue puts a turn behind those of its namespace; the lock is held.
func (p *pacer) queue(t *turn, namespace string, every time.Duration) {
	l := p.of[namespace]
	if l == nil {
		if l = (&line{}); p.of == nil {
			p.of = map[string]*line{}
		}
		p.of[namespace] = l
		p.next = append(p.next, namespace)
	}
	*t = turn{in: p, every: every, place: l.gone + len(l.turns)}
	l.turns = append(l.turns, t)
}

// take is the turn that is next; the lock is held.
func (p *pacer) take() *turn {
	namespace := p.next[0]
	l := p.of[namespace]
	t := l.turns[0]
	l.turns, l.gone = l.turns[1:], l.gone+1
	if p.next = slices.Delete(p.next, 0, 1); len(l.turns) > 0 {
		p.next = append(p.next, namespace)
	} else {
		delete(p.of, namespace)
	}
	return t
}

// paced is how long a job without pods is left to itself. One that has ended, or of which somebody asks, is not.
func (r *Reconciler) paced(key Request, known *remembered, v view) time.Duration {
	if len(v.pods) > 0 || v.ended() || v.asked || !v.deleted.IsZero() {
		if known.turn.in != nil {
			known.turn = new(turn) // the one that waits comes for nothing
		}
		return 0
	}
	if v.silent {
		return r.firsts.wait(known.turn, key.Namespace, v.now, firstEvery)
	}
	return r.renewals.wait(known.turn, key.Namespace, v.now, renewEvery)
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
