package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// ReviewAnnotation says on a job that was admitted without a whole review what the review found afterwards.
const ReviewAnnotation = "signalbox.dev/review"

// Reasons of the Events that the sweep writes on jobs.
const (
	// ReviewedLate (Warning): the job was admitted without a whole review, and one found something.
	ReviewedLate = "ReviewedLate"
	// WouldHaveBeenDenied (Warning): and a policy that enforces would have denied it.
	WouldHaveBeenDenied = "WouldHaveBeenDenied"
)

// SweepOptions are what a Sweep is made of. All but Policies, Excluded, Metrics and the times are required.
type SweepOptions struct {
	Reviewer Reviewer
	View     View
	Policies *PolicyMaps // nil: no policies from ConfigMaps
	Jobs     *Jobs
	Reviewed *Reviewed
	Kube     kubernetes.Interface
	Dynamic  dynamic.Interface
	Excluded []string
	Metrics  *Metrics
	Log      logr.Logger
	Every    time.Duration // between two looks; 0: 5 s
	// Grace is how long a job may stand unreviewed before it is looked at, because what another replica
	// has reviewed is known a little later; 0: 15 s.
	Grace time.Duration
	// Skew is how far the clock of this process is ahead of the API server's, as its answers say; nil: unknown.
	Skew func() time.Duration
	// Precedence is what reviews have that a caller waits for; nil: none.
	Precedence *Precedence
}

// Sweep finds jobs that were admitted without a whole review, because no webhook answered or none had the
// time, and reviews them. It denies nothing: what it finds stands in an annotation and an Event, and where a
// policy would have denied the job, a metric counts it. Times of jobs are the API server's and are compared
// with each other only, never with the clock of this process. Make it with NewSweep.
type Sweep struct {
	o        SweepOptions
	excluded []string
	now      func() time.Time
	working  *semaphore
	limit    time.Duration // of one review; one that goes on is abandoned

	dealt   map[types.UID]state
	waiting map[types.UID]*unreviewed
	turn    map[string]time.Time // when a job of a namespace was reviewed last
	from    checkpoint           // of the process that swept before; of a kind that could not be listed meanwhile, as far as it had come
	begun   bool
	until   checkpoint // as written
	written time.Time  // when
}

// unreviewed is a state of a job that was not reviewed, as far as is known.
type unreviewed struct {
	state state
	since time.Time
	tries int
}

const (
	mostTries = 5
	// unhurried bounds each stage of a review for which no API server waits.
	unhurried = 5 * time.Second
	// lateLimit bounds a review whose stages do not end when they are told to.
	lateLimit = 4 * unhurried
	// mostLate bounds the reviews that were abandoned and go on; of one namespace there are half as many.
	mostLate = 4
	// lateAtOnce is after how long no other review is begun before all jobs are looked at again: what came meanwhile
	// is to have its turn.
	lateAtOnce = 10 * time.Second
	// reviewBytes bounds the annotation.
	reviewBytes = 2048
	// lateHead begins what is said on a job.
	lateHead = "It was admitted without a whole review"
	// noteBytes is the API's limit of an Event's note (k8s.io/kubernetes, pkg/apis/core/validation/events.go: 1 kB).
	noteBytes = 1024
)

// NewSweep makes a sweep; Run runs it.
func NewSweep(o SweepOptions) *Sweep {
	o.Every, o.Grace = cmp.Or(o.Every, 5*time.Second), cmp.Or(o.Grace, 15*time.Second)
	return &Sweep{
		o: o, excluded: append(slices.Clone(o.Excluded), excludedNamespaces()...), now: time.Now,
		working: newSemaphore(mostLate), limit: lateLimit,
		dealt: map[types.UID]state{}, waiting: map[types.UID]*unreviewed{}, turn: map[string]time.Time{},
	}
}

// Run sweeps until the context is done: on one replica at a time, the one that leads.
func (s *Sweep) Run(ctx context.Context) error {
	s.begun = false
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := s.step(ctx); err != nil && ctx.Err() == nil {
			s.o.Log.Error(err, "look for jobs that nobody reviewed")
		}
	}, s.o.Every)
	return nil
}

// step looks at all jobs once. A job is dealt with when its state was reviewed, by whomever.
func (s *Sweep) step(ctx context.Context) error {
	listed, ok := s.o.Jobs.listed()
	if !ok || s.o.View.Snapshot().Incomplete() != "" || !s.o.Policies.Synced() {
		return nil // a review now would not be whole, either
	}
	others, until, err := s.o.Reviewed.others(ctx)
	if err != nil {
		return err
	}
	jobs := s.o.Jobs.all()
	if !s.begun {
		s.begun, s.from, s.until = true, until, checkpoint{until.until, maps.Clone(until.behind)}
	}
	s.behind(listed)
	newest, pending, left := s.from.until, time.Time{}, map[string]bool{}
	settle := func(j storedJob, err error) {
		if err == nil {
			s.dealt[j.uid] = j.state
			delete(s.waiting, j.uid)
			return
		}
		if left[j.groupKind()] = true; pending.IsZero() || j.changed.Before(pending) {
			pending = j.changed
		}
	}
	var due []storedJob
	there, namespaces := make(map[types.UID]bool, len(jobs)), map[string]bool{}
	for _, j := range jobs {
		there[j.uid], namespaces[j.namespace] = true, true
		if !listed[j.groupKind()] {
			continue
		}
		if j.changed.After(newest) && !s.comes(j.changed) {
			newest = j.changed
		}
		before, seen := s.dealt[j.uid]
		if before == j.state && seen || ctx.Err() != nil {
			continue
		}
		known := others[j.state] || s.o.Reviewed.has(j.state)
		switch {
		case known && j.noted: // what stands there is about another state, or another job
			settle(j, s.annotate(ctx, j, nil))
		case known, s.passes(j), !seen && j.changed.Before(s.from.of(j.groupKind()).Add(-time.Second)):
			// What this process has seen change was changed, whatever its author writes about when.
			settle(j, nil)
		case s.isDue(j):
			due = append(due, j)
		default:
			settle(j, errWaits)
		}
	}
	s.inTurn(ctx, due, func(j storedJob) { settle(j, s.late(ctx, j)) }, func(j storedJob) { settle(j, errWaits) })
	s.forget(there, namespaces)
	maps.DeleteFunc(s.from.behind, func(kind string, _ time.Time) bool { return listed[kind] && !left[kind] })
	if before := pending.Add(-time.Second); !pending.IsZero() && before.Before(newest) {
		newest = before
	}
	return s.mark(ctx, newest)
}

// comes says that a time has not come yet by the API server's clock: the author of a job may write any time into its
// managedFields, and with one of years to come all jobs until then would count as dealt with.
func (s *Sweep) comes(at time.Time) bool {
	return s.o.Skew != nil && at.After(s.now().Add(-s.o.Skew()))
}

// inTurn reviews the jobs, of each namespace one before another of any, beginning with the namespace that has waited
// longest for its turn. After a while the rest has to wait: else one author whose jobs are many, and take long, would
// keep all that come after them from being looked at.
func (s *Sweep) inTurn(ctx context.Context, due []storedJob, review, leave func(storedJob)) {
	slices.SortFunc(due, func(a, b storedJob) int {
		return cmp.Or(s.waiting[a.uid].since.Compare(s.waiting[b.uid].since), cmp.Compare(a.name, b.name))
	})
	of := map[string][]storedJob{}
	for _, j := range due {
		of[j.namespace] = append(of[j.namespace], j)
	}
	order := slices.SortedFunc(maps.Keys(of), func(a, b string) int { return cmp.Or(s.turn[a].Compare(s.turn[b]), cmp.Compare(a, b)) })
	begun := s.now()
	for left := len(due); left > 0; {
		for _, namespace := range order {
			if len(of[namespace]) == 0 {
				continue
			}
			j := of[namespace][0]
			of[namespace], left = of[namespace][1:], left-1
			if s.now().Sub(begun) >= lateAtOnce || ctx.Err() != nil {
				leave(j)
				continue
			}
			review(j)
			s.turn[namespace] = s.now()
		}
	}
}

func (s *Sweep) forget(there map[types.UID]bool, namespaces map[string]bool) {
	maps.DeleteFunc(s.turn, func(namespace string, _ time.Time) bool { return !namespaces[namespace] })
	for uid := range s.dealt {
		if !there[uid] {
			delete(s.dealt, uid)
		}
	}
	for uid := range s.waiting {
		if !there[uid] {
			delete(s.waiting, uid)
		}
	}
}

// mark writes up to when all jobs are dealt with, for the process that sweeps after this one.
func (s *Sweep) mark(ctx context.Context, until time.Time) error {
	if !until.After(s.until.until) && maps.Equal(s.from.behind, s.until.behind) || s.now().Sub(s.written) < 2*s.o.Every {
		return nil
	}
	s.written = s.now()
	next := checkpoint{until, maps.Clone(s.from.behind)}
	if until.Before(s.until.until) { // only what cannot be listed has changed
		next.until = s.until.until
	}
	if err := s.o.Reviewed.dealt(ctx, next); err != nil {
		return fmt.Errorf("write up to when jobs were looked at: %w", err)
	}
	s.until = next
	return nil
}

// passes says whether a job needs no review: nothing of its namespace is reviewed, or it goes.
func (s *Sweep) passes(j storedJob) bool {
	return slices.Contains(s.excluded, j.namespace) || preflight.ModeOf(s.o.View.Namespace(j.namespace)) == preflight.ModeOff || j.deleted
}

// isPart says whether a job names one that is stored as its owner. At admission the account of an operator
// vouches for that; here nothing does, so of a part only denials are said: findings stand on the whole.
func (s *Sweep) isPart(j storedJob) bool {
	if j.owner == nil {
		return false
	}
	return j.owner.UID != "" && s.o.Jobs.UID(j.ownerKind(), j.namespace, j.owner.Name) == j.owner.UID
}

// errWaits says that a job is not dealt with yet.
var errWaits = errors.New("the job has not stood unreviewed for long enough")

// isDue says that a job has stood unreviewed for long enough, and notes since when it has.
func (s *Sweep) isDue(j storedJob) bool {
	w := s.waiting[j.uid]
	if w == nil || w.state != j.state {
		w = &unreviewed{state: j.state, since: s.now()}
		s.waiting[j.uid] = w
	}
	return s.now().Sub(w.since) >= s.o.Grace && s.o.View.Namespace(j.namespace) != nil // else whether it enforces is not known
}

// late reviews a job that is due. An error: it is not dealt with yet.
func (s *Sweep) late(ctx context.Context, j storedJob) error {
	w := s.waiting[j.uid]
	w.tries++
	err := s.review(ctx, j)
	if err == nil {
		return nil
	}
	s.o.Log.Error(err, "review a job that was admitted without a review", "kind", j.kind.Kind, "namespace", j.namespace, "name", j.name, "try", w.tries)
	if w.tries == mostTries {
		s.o.Metrics.late(lateUnchecked)
		note := clip(lateHead+", and could not be reviewed since: "+forAll(err.Error()), noteBytes)
		if err := s.event(ctx, j, ReviewedLate, note); err != nil && !apierrors.IsAlreadyExists(err) {
			s.o.Log.Error(err, "write an Event on a job")
		}
		return nil
	}
	return err
}

// review reviews a job as it is stored and says on it what was found.
func (s *Sweep) review(ctx context.Context, j storedJob) error {
	s.o.Precedence.giveWay(ctx, lateGivesWay)
	u, err := s.o.Dynamic.Resource(j.resource()).Namespace(j.namespace).Get(ctx, j.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && (u.GetUID() != j.uid || goes(u)) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	stays := u
	if u.GetDeletionTimestamp() != nil { // it is reviewed as if it were not deleted
		stays = u.DeepCopy()
		stays.SetDeletionTimestamp(nil)
	}
	report, err := s.reported(ctx, j, preflight.Request{
		Object: stays, Cluster: s.o.View.Snapshot(), Namespace: s.o.View.Namespace(j.namespace), Operation: "CREATE", Live: true, Admission: true,
		Earlier: s.o.Jobs.Earlier(u),
	})
	if err != nil {
		return err
	}
	return s.say(ctx, j, u, report)
}

// reported is what a review comes to. One that does not end in time is abandoned, and keeps its place until it ends.
func (s *Sweep) reported(ctx context.Context, j storedJob, req preflight.Request) (preflight.Report, error) {
	leave, why := s.working.tryAcquire(j.namespace, j.namespace)
	if leave == nil {
		return preflight.Report{}, errors.New(why)
	}
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	type outcome struct {
		report preflight.Report
		err    error
	}
	done := make(chan outcome, 1) // buffered: an abandoned review must be able to end
	go func() {
		var out outcome
		defer func() {
			if v := recover(); v != nil {
				out.err = fmt.Errorf("the review panicked: %v", v)
			}
			leave()
			done <- out
		}()
		out.report, out.err = s.stages(ctx, req)
	}()
	select {
	case out := <-done:
		return out.report, out.err
	case <-ctx.Done():
		return preflight.Report{}, fmt.Errorf("the review did not end: %w", ctx.Err())
	}
}

// stages are those of a review, each in time of its own.
func (s *Sweep) stages(ctx context.Context, req preflight.Request) (preflight.Report, error) {
	reading, stop := context.WithTimeout(ctx, unhurried)
	r, err := s.o.Reviewer.Begin(reading, req)
	stop()
	if err != nil {
		return preflight.Report{}, err
	}
	checking, stop := context.WithTimeout(ctx, unhurried)
	r = r.Check(checking)
	stop()
	concluding, stop := context.WithTimeout(ctx, unhurried)
	r = r.Conclude(concluding)
	stop()
	return r.Report(), nil
}

// say writes what a late review found. Nothing found is nothing said; a metric counts it.
func (s *Sweep) say(ctx context.Context, j storedJob, u *unstructured.Unstructured, report preflight.Report) error {
	// Findings on a job that has ended, or ends, help nobody; but what would have been denied is said, for a status may be
	// taken back, and a finalizer may hold the job for ever.
	if (j.ended || u.GetDeletionTimestamp() != nil || s.isPart(j)) && report.Decision != preflight.Denied {
		report = preflight.Report{Decision: preflight.Allowed, Undecided: report.Undecided}
	}
	// Time was not short: what is undecided now, its author has made so.
	var open []string
	if report.Decision != preflight.Denied && preflight.ModeOf(s.o.View.Namespace(j.namespace)) == preflight.ModeEnforce {
		for _, g := range undecided(report.Undecided) {
			open = append(open, forAll(g.text))
		}
	}
	lines := finding.Warnings(report.Lines(), finding.Budget{Lines: 8, Wish: 256, Runes: 256, Bytes: reviewBytes - 512}, More)
	before, stands := u.GetAnnotations()[ReviewAnnotation]
	decision := string(report.Decision)
	if len(open) > 0 {
		decision = lateUnchecked
	}
	if len(lines)+len(open) == 0 {
		s.o.Metrics.late(decision)
		if !stands {
			return nil
		}
		return s.annotate(ctx, j, nil)
	}
	reason, head := ReviewedLate, lateHead
	if len(open) > 0 {
		head += "; not decided: " + clip(strings.Join(open, "; "), 512)
	}
	if denied := deniedBy(report); len(denied) > 0 && report.Decision == preflight.Denied {
		reason, head = WouldHaveBeenDenied, head+"; it would have been denied by "+strings.Join(denied, ", ")
	}
	for i := range lines {
		lines[i] = forAll(lines[i])
	}
	text := clip(strings.TrimSuffix(head+":\n"+strings.Join(lines, "\n"), ":\n"), reviewBytes)
	if !stands || before != text {
		switch err := s.annotate(ctx, j, &text); {
		case refused(err): // an author may have filled all the room that annotations have: the Event is said all the same
			s.o.Log.Error(err, "say on a job what its late review found")
		case err != nil:
			return err
		}
	}
	// An author may write the annotation who knows what would be said. The Event has a name that no author knows: where it
	// is there, the process that swept before this one has said and counted it.
	err := s.event(ctx, j, reason, clip(strings.Join(append([]string{head + "."}, lines...), " "), noteBytes))
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	s.o.Metrics.late(decision)
	if err != nil {
		s.o.Log.Error(err, "write an Event on a job") // the annotation stands, and must not be undone
	}
	return nil
}

// forAll is a text for more people than may read the job: what a check repeats of it may be secret.
func forAll(text string) string { return oneLine(redact.Text(text)) }

// refused says that an object is not taken as it would be, which it will not be later, either.
func refused(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsRequestEntityTooLargeError(err)
}

// deniedBy are the policies that deny, each once.
func deniedBy(report preflight.Report) (out []string) {
	for _, r := range report.Rulings {
		if r.Effect == preflight.Deny && !slices.Contains(out, r.Policy) {
			out = append(out, oneLine(r.Policy))
		}
	}
	return out
}

// annotate writes the annotation, or takes it away. The UID keeps it off a job of the same name.
func (s *Sweep) annotate(ctx context.Context, j storedJob, text *string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": j.uid, "annotations": map[string]*string{ReviewAnnotation: text}}})
	if err != nil {
		return err
	}
	_, err = s.o.Dynamic.Resource(j.resource()).Namespace(j.namespace).Patch(ctx, j.name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "signalbox-review"})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // it is gone
	}
	if err != nil {
		return fmt.Errorf("annotate %s %s/%s: %w", j.kind.Kind, j.namespace, j.name, err)
	}
	return nil
}

func (s *Sweep) event(ctx context.Context, j storedJob, reason, note string) error {
	at := s.now()
	_, err := s.o.Kube.EventsV1().Events(j.namespace).Create(ctx, &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: j.namespace, Name: words.Stem(j.name) + "." + s.o.Reviewed.sign(j.state)},
		EventTime:           metav1.MicroTime{Time: at},
		ReportingController: "signalbox", ReportingInstance: "signalbox",
		Action: "Review", Reason: reason, Type: corev1.EventTypeWarning, Note: note,
		Regarding: corev1.ObjectReference{
			APIVersion: j.kind.GroupVersion().String(), Kind: j.kind.Kind, Namespace: j.namespace, Name: j.name, UID: j.uid,
		},
	}, metav1.CreateOptions{})
	return err
}
