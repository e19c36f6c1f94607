package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/log"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/explain"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/llm"
)

// llmLabel on a namespace lets masked logs of its jobs leave the cluster for the model.
const (
	llmLabel   = "signalbox.dev/llm"
	llmEnabled = "enabled"
)

// explainWorker asks the model beside the reconciler, so that no rule result waits for it.
type explainWorker struct {
	explain  explain.Explainer
	attempts int
	backoff  time.Duration // after the first failure; doubled after each
	longest  time.Duration // of all calls for one finding; 0: no limit
	writer   Writer
	metrics  *metrics
	memory   *memory
	wake     func(context.Context, Request) // called when a story has come
	queue    *fairQueue
	breaker  circuitBreaker
	accounts *accounts // nil: nothing is kept of what was answered
}

type task struct {
	key    Request
	object *unstructured.Unstructured
	print  string
	result diagnose.Result
	c      diagnose.Case
	gpus   int64 // of the whole job: the larger is asked about first
}

func newExplainWorker(e explain.Explainer, attempts int, w Writer, m *metrics, mem *memory, wake func(context.Context, Request)) *explainWorker {
	return &explainWorker{
		explain: e, attempts: max(1, attempts), backoff: 2 * time.Second, writer: w, metrics: m, memory: mem, wake: wake,
		queue: newFairQueue(),
	}
}

// promptCase is what a prompt needs of a case. The logs are in the result already.
func promptCase(c diagnose.Case) *diagnose.Case {
	c.Logs, c.Events, c.Nodes, c.Objects, c.Cluster = nil, nil, nil, nil, nil
	return &c
}

// Start answers tasks until the context ends.
func (s *explainWorker) Start(ctx context.Context) error {
	var g sync.WaitGroup
	defer g.Wait()
	s.accounts.load(ctx)
	g.Go(func() { s.accounts.run(ctx) })
	for {
		for t, ok := s.queue.next(); ok; t, ok = s.queue.next() {
			g.Go(func() {
				defer s.queue.done(t.key.Namespace)
				s.tell(ctx, t)
			})
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.queue.changed:
		}
	}
}

// story is what the model said about the finding. Where it was not asked yet, it will be, and
// the job is looked at again when it has answered. What only a model needs is kept no longer than that.
func (r *Reconciler) story(ctx context.Context, key Request, u *unstructured.Unstructured, f finding, known *remembered) *diagnose.Story {
	if !r.tells(u, f) {
		known.slim()
		return nil
	}
	if s, asked := r.memory.story(u.GetUID(), f.toldAs()); asked {
		known.slim()
		return s.story
	}
	if before, ok := f.toldBefore(u); ok {
		told := before.told(f.result)
		r.memory.setStory(u.GetUID(), f.toldAs(), storyState{story: told, done: true})
		known.slim()
		return told // from before a restart: the model is not asked twice
	}
	if known.shown == nil {
		return nil
	}
	// Noted first: an answer may come before this goes on, and what it says stays.
	r.memory.setStory(u.GetUID(), f.toldAs(), storyState{})
	t := task{key: key, object: u.DeepCopy(), print: f.toldAs(), result: f.result, c: *known.shown}
	if known.shown.Job != nil {
		t.gpus = known.shown.Job.GPUs()
	}
	if r.Tell.queue.offer(t) {
		known.slim()
		return nil
	}
	r.memory.unsetStory(u.GetUID(), f.toldAs())
	log.FromContext(ctx).Info("the model has too much to do; this finding waits for the next look")
	return nil
}

// tells says that a model may be asked about the finding. It is not asked about jobs that wait: their
// numbers change with the cluster, and a story about numbers of before would be wrong, and dear.
func (r *Reconciler) tells(u *unstructured.Unstructured, f finding) bool {
	return r.Tell != nil && explain.Worth(f.result) && r.mayLeave(u.GetNamespace())
}

// untold says that a model is yet to be asked.
func (r *Reconciler) untold(u *unstructured.Unstructured, f finding) bool {
	if !r.tells(u, f) {
		return false
	}
	_, asked := r.memory.story(u.GetUID(), f.toldAs())
	_, before := f.toldBefore(u)
	return !asked && !before
}

// toldAs is what the model is asked once about: asked again, it is to be told again.
func (f finding) toldAs() string { return f.print + f.asked }

// toldBefore is what stands on the job of the same finding, with a story.
func (f finding) toldBefore(u *unstructured.Unstructured) (stored, bool) {
	before, ok := storedOn(u)
	return before, ok && before.Story != nil && before.Fingerprint == f.print && before.Asked == cut(f.asked, 64)
}

// MayLeave says whether the labels of a namespace allow masked logs of its jobs to be shown to a model.
func MayLeave(labels map[string]string) bool { return labels[llmLabel] == llmEnabled }

// mayLeave says whether somebody allowed logs of the namespace to be shown to the model.
func (r *Reconciler) mayLeave(namespace string) bool {
	if r.Namespace == nil {
		return false
	}
	labels, known := r.Namespace(namespace)
	return known && MayLeave(labels)
}

// tell asks about one finding, a few times if need be.
func (s *explainWorker) tell(ctx context.Context, t task) {
	uid := t.object.GetUID()
	q := s.explain.Ask(ctx, t.c, t.result)
	if q.Problem != nil {
		s.say(ctx, t, PromptInvalid, q.Problem.Error())
	}
	if left := s.breaker.left(time.Now()); left > 0 {
		s.memory.setStory(uid, t.print, storyState{done: true})
		s.say(ctx, t, ExplanationFailed, fmt.Sprintf("the model failed %d times in a row and is not asked for %s; the finding stands without it", tiredAfter, left.Round(time.Second)))
		return
	}
	var story *diagnose.Story
	patience := llm.Patience{Attempts: s.attempts, Wait: s.backoff, Within: s.longest}
	err := patience.Try(ctx, func(ctx context.Context) (again bool, err error) {
		began := time.Now()
		told, err := s.explain.Explain(ctx, q, t.result)
		s.metrics.asked(err, told, time.Since(began), s.explain.Budget)
		if !told.Shared && !errors.Is(err, explain.ErrBudget) {
			s.accounts.note()
			s.breaker.note(err == nil, time.Now())
		}
		story = told.Story
		return !errors.Is(err, explain.ErrBudget), err
	})
	if err == nil {
		s.memory.setStory(uid, t.print, storyState{story: story, done: true})
		if story.Refused != "" {
			s.say(ctx, t, NominationRefused, story.Model+": "+story.Refused)
		}
		if story.Text == "" && len(story.Unsupported) == 0 && story.Nominated == nil && story.Refused == "" {
			s.say(ctx, t, ExplanationLeftOut, "nothing of what "+story.Model+" wrote is shown: "+cmp.Or(story.LeftOut, "the answer has no sentence"))
		} else if story.LeftOut != "" {
			s.tells(ctx, t, corev1.EventTypeNormal, ExplanationLeftOut, "of what "+story.Model+" wrote, "+story.LeftOut)
		}
		s.wake(ctx, t.key)
		return
	}
	s.memory.setStory(uid, t.print, storyState{done: true})
	if ctx.Err() == nil {
		s.say(ctx, t, ExplanationFailed, err.Error()+"; the finding stands without it")
	}
}

// circuitBreaker counts failures of the model: one that fails again and again is left alone for a while.
type circuitBreaker struct {
	mu     sync.Mutex
	failed int
	until  time.Time
}

const (
	tiredAfter = 6
	tiredFor   = time.Minute
)

func (t *circuitBreaker) note(answered bool, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if answered {
		t.failed = 0
		return
	}
	if t.failed++; t.failed >= tiredAfter {
		t.until = now.Add(tiredFor)
	}
}

// left is how long the model is still left alone.
func (t *circuitBreaker) left(now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(0, t.until.Sub(now))
}

func (s *explainWorker) say(ctx context.Context, t task, reason, note string) {
	s.tells(ctx, t, corev1.EventTypeWarning, reason, note)
}

func (s *explainWorker) tells(ctx context.Context, t task, kind, reason, note string) {
	if err := s.writer.event(ctx, t.object, kind, reason, s.writer.led(note, "", reason)); err != nil {
		log.FromContext(ctx).Error(err, "no event")
	}
}
