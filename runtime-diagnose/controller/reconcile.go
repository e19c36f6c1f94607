package controller

import (
	"context"
	"errors"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/capture"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/keep"
)

// Request names one job.
type Request struct{ Kind, Namespace, Name string }

// Reconciler looks at one job at a time: is it time to look closer, what is wrong, does the
// job say so already.
type Reconciler struct {
	Options
	Cache  client.Reader // of jobs and pods
	Served *served       // which kinds the cluster has, and in which version
	// Collect reads the evidence; collect.Cluster.Case does.
	Collect func(context.Context, *kinds.Kind, *unstructured.Unstructured) (diagnose.Case, error)
	Writer  Writer
	Tell    *explainWorker  // nil: no model
	Keep    *capture.Keeper // nil: nothing is kept of what ends
	// Tails reads what containers printed since; collect.Cluster.Tails does.
	Tails    func(context.Context, []collect.Life, map[string]time.Time) [][]byte
	owners   owners
	metrics  *metrics
	memory   memory
	inFlight inFlight
	asking   shares
	nodes    nodes
	// firsts and renewals are the turns of jobs without pods: of those on which nothing stands, and of the others.
	firsts, renewals pacer
	// podLabels are those by which the cache finds pods; nil: by none.
	podLabels map[string]bool
}

// secondLooks is how often a job that ended without a cause is read again: logs and events can
// come later than the status.
const secondLooks = 2

// Reconcile looks at one job. Errors are retried with growing delay.
func (r *Reconciler) Reconcile(ctx context.Context, key Request) (reconcile.Result, error) {
	if r.GiveWay != nil && r.memory.untouched(key) { // somebody may wait for what became of the others
		r.GiveWay(ctx)
	}
	if wait := r.early(ctx, key); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	// What is read may give way to the end of the job; what is written may not.
	reading, end := r.inFlight.begin(ctx, key)
	defer end()
	k, u, err := r.job(ctx, key)
	switch {
	case err != nil:
		return reconcile.Result{}, err // that it cannot be read does not mean that it is gone
	case k == nil && r.Served.soon(key.Kind):
		return reconcile.Result{RequeueAfter: time.Second}, nil
	case k == nil:
		return reconcile.Result{}, nil // what is remembered goes with the kind
	case u == nil:
		r.forget(key, "")
		return reconcile.Result{}, nil
	}
	r.forget(key, u.GetUID())
	if r.belongsToAnother(u) {
		return reconcile.Result{}, nil
	}
	if r.passesOver(k, u) {
		return reconcile.Result{}, nil
	}
	v, err := r.look(ctx, k, u)
	if err != nil {
		return reconcile.Result{}, err
	}
	if v.ended() {
		reading = ctx
	}
	again, err := r.judge(ctx, reading, key, k, u, v)
	if err != nil && errors.Is(context.Cause(reading), errCanceled) {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{RequeueAfter: again}, err
}

// judge decides what the job needs and does it. It answers with after how long to look again.
func (r *Reconciler) judge(ctx, reading context.Context, key Request, k *kinds.Kind, u *unstructured.Unstructured, v view) (again time.Duration, err error) {
	what, again := v.decide()
	going := !v.deleted.IsZero()
	if going && what == nothing {
		return again, nil
	}
	if !going {
		r.keep(ctx, u, v)
	}
	if wrong, next := r.watch(reading, key, u, v); next > 0 && !going {
		again = sooner(again, next)
		if wrong && what == nothing {
			what = thorough
		}
	}
	known := r.memory.of(u.GetUID(), key)
	if !going {
		next, err := r.remark(ctx, u, v, known)
		if err != nil {
			return 0, err
		}
		again = sooner(again, next)
	}
	v.pulse = known.pulse()
	if what == nothing {
		wait, err := r.unwait(ctx, u, v, known)
		return sooner(again, wait), err
	}
	if what == thorough {
		if wait := r.spreads(known, u, v); wait > 0 {
			return wait, nil
		}
		if wait := r.paced(key, known, v); wait > 0 {
			return wait, nil
		}
	}
	if v.asked {
		leave, wait := r.asking.take(key.Namespace, r.Concurrency, v.now)
		if leave == nil {
			return wait, nil
		}
		defer leave()
	}
	if r.Timeout > 0 {
		var cancel, stop context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.Timeout)
		defer cancel()
		reading, stop = context.WithTimeout(reading, r.Timeout)
		defer stop()
	}
	next, err := r.speak(ctx, reading, look{key, k, u, v, known}, what)
	if err != nil {
		return 0, err
	}
	return sooner(again, next), nil
}

// mostSpread is how long a failure that spreads from pod to pod is left to itself.
const mostSpread = 5 * time.Second

// spreads is how long to wait for a failure that is still spreading: the logs of containers are
// being read, or pods have changed since the last look. The job has not ended, or nobody would wait;
// and what is diagnosed now is diagnosed again with every pod that follows. 0: it has come to rest.
func (r *Reconciler) spreads(known *remembered, u *unstructured.Unstructured, v view) time.Duration {
	before := known.unsettled
	known.unsettled = unsettled{}
	if v.ended() || v.asked {
		return 0
	}
	now := unsettled{since: before.since, seen: v.seen(u.GetGeneration(), "")}
	if !r.Keep.Busy(u.GetUID()) && (before.seen == "" || before.seen == now.seen) {
		return 0
	}
	if now.since.IsZero() {
		now.since = v.now
	}
	if v.now.Sub(now.since) >= mostSpread {
		return 0
	}
	known.unsettled = now
	return max(r.Debounce/2, 50*time.Millisecond)
}

// sooner is the shorter of two times to wait, where 0 is for ever.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// forget drops what is remembered of jobs of that name, except of the one that is there now.
func (r *Reconciler) forget(key Request, except types.UID) {
	r.memory.forget(key, except)
	r.Keep.Forget(key.Kind, key.Namespace, key.Name, except)
}

// forgetKind drops what is remembered of the jobs of a kind that is gone.
func (r *Reconciler) forgetKind(kind string) {
	r.memory.forgetKind(kind)
	r.Keep.ForgetKind(kind)
}

// keep hands over the pods again: those that ended before this process knew the kind of their
// job were nobody's when they were seen first.
func (r *Reconciler) keep(ctx context.Context, u *unstructured.Unstructured, v view) {
	if r.Keep == nil {
		return
	}
	type chain struct {
		controller types.UID
		framework  string
	}
	tops := map[chain]capture.Job{} // a thousand pods have one controller, or a few
	for i := range v.pods {
		p := &v.pods[i]
		ref := metav1.GetControllerOf(p)
		if ref == nil {
			continue
		}
		at := chain{ref.UID, p.Labels[frameworkLabel]}
		j, asked := tops[at]
		if !asked {
			j, _ = r.owners.of(ctx, p)
			tops[at] = j
		}
		if j.Kind != nil && j.Ref.UID == string(u.GetUID()) {
			r.Keep.See(j, p)
		}
	}
}

// job reads the job from the cache: without kind where that is not served, without job where it is gone.
func (r *Reconciler) job(ctx context.Context, key Request) (*kinds.Kind, *unstructured.Unstructured, error) {
	k, gvk, ok := r.Served.find(key.Kind)
	if !ok {
		return nil, nil, nil
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	err := r.Cache.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: key.Name}, u)
	switch {
	case apierrors.IsNotFound(err):
		return k, nil, nil
	case err != nil:
		return nil, nil, err
	}
	return k, u, nil
}

// belongsToAnother is the JobSet of a TrainJob, the Job of a JobSet, the launcher of an MPIJob:
// the one that a user submitted carries the diagnosis.
func (r *Reconciler) belongsToAnother(u *unstructured.Unstructured) bool {
	owner := metav1.GetControllerOf(u)
	if owner == nil {
		return false
	}
	gv, err := schema.ParseGroupVersion(owner.APIVersion)
	if err != nil {
		return false
	}
	_, _, ok := r.Served.findGVK(gv.WithKind(owner.Kind))
	return ok
}

// restsWord begins what a diagnosis says of a job that is paused.
const restsWord = "suspended:"

func (r *Reconciler) look(ctx context.Context, k *kinds.Kind, u *unstructured.Unstructured) (view, error) {
	v := view{created: u.GetCreationTimestamp().Time, pendingAfter: r.PendingAfter, refresh: r.Refresh, now: r.now()}
	if at := u.GetDeletionTimestamp(); at != nil {
		v.deleted, v.held = at.Time, len(u.GetFinalizers()) > 0
	}
	before, _ := storedOn(u)
	ask := u.GetAnnotations()[Ask]
	v.asked = ask != "" && cut(ask, 64) != before.Asked
	healthy := u.GetAnnotations()[Healthy]
	v.spoken = healthy != "" && healthy != "Yes"
	v.silent = before.Verdict == "" && healthy != "Yes" || healthy == ""
	j, err := k.Read(u, nil)
	if err == nil && j != nil {
		v.declared, v.paused = j.MinPods(), j.Suspended
	}
	if u.GetDeletionTimestamp() == nil { // what a job said of itself is past when it is on its way out
		v.state = kinds.StateOf(k, u, j)
	}
	v.saysPaused = strings.HasPrefix(u.GetAnnotations()[Waiting], restsWord)
	v.silent = v.silent || !v.rests() && strings.HasPrefix(u.GetAnnotations()[Analysis], restsWord)
	for _, selector := range k.Select(refOf(k, u), u) {
		var pods corev1.PodList
		if err := r.Cache.List(ctx, &pods, r.podsOf(u.GetNamespace(), selector)...); err != nil {
			return view{}, err
		}
		v.pods = append(v.pods, pods.Items...)
	}
	v.lost, v.lostSince = r.nodes.under(v.pods)
	if v.saysPaused && !v.present() && strings.Contains(u.GetAnnotations()[Waiting], "still") {
		v.saysPaused = false // the pods that it spoke of are gone
	}
	return v, nil
}

// unwait takes back why a job waits as soon as nothing of it waits any more.
func (r *Reconciler) unwait(ctx context.Context, u *unstructured.Unstructured, v view, known *remembered) (again time.Duration, err error) {
	if _, unscheduled := v.waiting(); unscheduled || v.rests() || u.GetAnnotations()[Waiting] == "" {
		return 0, nil
	}
	return r.because(ctx, u, v, known, "")
}

// because writes why a job waits, or after how long it may be written again.
func (r *Reconciler) because(ctx context.Context, u *unstructured.Unstructured, v view, known *remembered, why string) (again time.Duration, err error) {
	text := digest(map[string]string{Waiting: why})
	if wait := known.written.texts.Wait(text, v.now); wait > 0 && !same(because(u, why), ours(u.GetAnnotations())) {
		return wait, nil
	}
	wrote, err := r.Writer.writeReason(ctx, u, why)
	if wrote {
		known.written.texts.Note(text, v.now)
	}
	return 0, err
}

// look is one look at a job, with what is remembered of it.
type look struct {
	key   Request
	kind  *kinds.Kind
	job   *unstructured.Unstructured
	view  view
	known *remembered
}

// finding is what is remembered of the job, as it is to be told now.
func (l *look) finding() finding {
	return finding{result: l.known.result, print: diagnose.Fingerprint(l.known.result), state: l.view.state, asked: l.job.GetAnnotations()[Ask]}
}

// undecided says that what is remembered of the job decides nothing.
func (l *look) undecided() bool {
	return l.known.result.Verdict == diagnose.Unknown || l.known.result.Verdict == diagnose.Inconclusive
}

// isFresh says that what is remembered of the job, of a state of it, needs no other look.
func (r *Reconciler) isFresh(l look, seen string) bool {
	known, old := l.known, l.view.now.Sub(l.known.at) >= r.Refresh/2
	_, unscheduled := l.view.waiting()
	switch {
	case known.seen != seen, old && (unscheduled || l.undecided() && known.looks <= secondLooks):
		return false
	case old && len(l.view.lost) > 0 && known.result.Verdict == diagnose.Healthy:
		return false // its node was well for as long as it was asked for: the view shows it only every nodesEvery
	case known.shown != nil:
		return true
	}
	// Somebody may have allowed a model since: it wants to see more than is remembered.
	before := l.finding()
	return !r.untold(l.job, before) || before.poorerThan(l.job, l.view)
}

// speak diagnoses and writes. It answers with after how long another look may find what this one did not, or write what
// this one did not; 0: none may.
func (r *Reconciler) speak(ctx, reading context.Context, l look, what need) (again time.Duration, err error) {
	u, v, known := l.job, l.view, l.known
	if known.seen == "" && v.settled(u) {
		known.seen = "before this process" // whatever changes from here on is looked at
		return 0, nil
	}
	undecided := l.undecided()
	if seen := v.seen(u.GetGeneration(), u.GetAnnotations()[Ask]); v.asked || !r.isFresh(l, seen) {
		if err := r.diagnose(reading, l.kind, u, v, known, seen); err != nil {
			return 0, err
		}
	}
	if what == reason {
		known.slim()
		return r.because(ctx, u, v, known, v.since(known.result.Waiting))
	}
	f := l.finding()
	if v.tooEarly(known.result) || f.poorerThan(u, v) {
		known.slim()
		return 0, nil
	}
	f.result.Waiting = v.since(f.result.Waiting)
	f.result.Story = r.story(ctx, l.key, u, f, known)
	r.settle(ctx, u, &f, known)
	want := f.annotations()
	text := digest(want)
	if wait := known.written.texts.Wait(text, v.now); wait > 0 && !same(want, ours(u.GetAnnotations())) {
		return wait, nil
	}
	before := known.written.before(u)
	wrote, err := r.Writer.write(ctx, u, f, before)
	if wrote {
		r.metrics.wrote()
		known.written.texts.Note(text, v.now)
		known.written.tells(f)
	}
	if takesNone(err) {
		r.metrics.notTaken()
		log.FromContext(ctx).Error(err, "write the diagnosis on its job; it is told as an Event")
		if err = nil; known.told != f.print {
			known.told, err = f.print, r.Writer.tellOnly(ctx, u, f)
		}
	}
	if undecided && known.looks <= secondLooks || known.shown != nil {
		again = max(r.Refresh, time.Second)
	}
	return again, err
}

// diagnose collects the evidence, lets the rules decide and remembers the result.
func (r *Reconciler) diagnose(ctx context.Context, k *kinds.Kind, u *unstructured.Unstructured, v view, known *remembered, seen string) error {
	began := time.Now()
	var found *diagnose.Result
	ctx, end := r.trace(ctx, u)
	defer func() { end(found) }()
	collecting, collected := r.step(ctx, "collect")
	c, err := r.Collect(collecting, k, u)
	collected()
	if err != nil {
		return err
	}
	c.Watched = known.watched.sightings(u.GetName())
	core := r.Core
	core.Nominees = r.Tell != nil && r.mayLeave(u.GetNamespace())
	judging, judged := r.step(ctx, "judge")
	result := diagnose.Diagnose(judging, c, r.catalog(), core)
	judged()
	found = &result
	result.Remarks = append(result.Remarks, known.watched.remarks()...)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.metrics.diagnosed(result, time.Since(began))
	if known.seen != seen {
		known.looks = 0
	}
	known.looks++
	result.Attempts = known.result.Attempts.Merge(result.Attempts) // the cache may be behind what was written
	known.seen, known.at, known.result = seen, v.now, result
	known.attend(result.Verdict)
	known.watched.tell()
	known.shown = promptCase(c)
	r.remember(ctx, k, u, result)
	log.FromContext(ctx).V(1).Info("diagnosed", "verdict", result.Verdict, "category", result.Category, "missing", len(result.Coverage.Missing))
	return nil
}

// remember keeps what a job printed that ended well, for its next run. That it cannot be kept is no
// reason to diagnose the job again.
func (r *Reconciler) remember(ctx context.Context, k *kinds.Kind, u *unstructured.Unstructured, result diagnose.Result) {
	if result.Printed == nil {
		return
	}
	good := keep.Good{
		UID: string(u.GetUID()), At: r.now(), Pods: result.Printed.Pods, Whole: result.Printed.Whole, Lines: result.Printed.Lines,
	}
	if err := r.Keep.Good(ctx, refOf(k, u), u.GetGenerateName(), good); err != nil {
		log.FromContext(ctx).Info("a good run is not remembered", "error", err.Error())
	}
}

// settled says that the job ended a while ago and carries the diagnosis of that end already: a
// new process does not read the logs of every job that ever failed.
func (v view) settled(u *unstructured.Unstructured) bool {
	before, ok := storedOn(u)
	since, err := time.Parse(time.RFC3339, v.state.Since)
	return ok && v.ended() && !v.asked && err == nil && v.now.Sub(since) > control.Calm && before.State == stateMark(v.state) &&
		(before.Verdict == diagnose.Diagnosed || before.Verdict == diagnose.Healthy) && u.GetAnnotations()[Healthy] != ""
}

// poorerThan says that the job carries a better diagnosis of the same end, made while there were
// more pods to read: operators clean up, and what they removed was not wrong.
func (f finding) poorerThan(u *unstructured.Unstructured, v view) bool {
	before, ok := storedOn(u)
	if !v.ended() || !ok || before.State != stateMark(v.state) || before.State == "" {
		return false
	}
	weight := map[diagnose.Verdict]int{diagnose.Inconclusive: 1, diagnose.Diagnosed: 2, diagnose.Healthy: 2}
	was, is := weight[before.Verdict], weight[f.result.Verdict]
	if is != was {
		return is < was
	}
	return !v.asked && f.result.Coverage.PodsRead < before.Coverage.PodsRead
}
