package preflight

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

// UnknownKindError says that no reader covers a kind, and which kinds are covered.
type UnknownKindError struct {
	GVK     schema.GroupVersionKind
	Covered []string // "PyTorchJob (kubeflow.org/v1)", sorted
}

func (e *UnknownKindError) Error() string {
	what := "an object without apiVersion and kind"
	if !e.GVK.Empty() {
		what = fmt.Sprintf("%s (%s)", cmp.Or(e.GVK.Kind, "nothing"), cmp.Or(e.GVK.GroupVersion().String(), "nothing"))
	}
	if near := e.near(); len(near) > 0 {
		return fmt.Sprintf("%s is not covered; there is %s", what, strings.Join(near, ", "))
	}
	return fmt.Sprintf("%s is not covered; covered are %s", what, strings.Join(e.Covered, ", "))
}

// near are the covered kinds that differ only in group, version or case.
func (e *UnknownKindError) near() (out []string) {
	for _, c := range e.Covered {
		if kind, _, _ := strings.Cut(c, " "); strings.EqualFold(kind, e.GVK.Kind) {
			out = append(out, c)
		}
	}
	return out
}

// Review reads the job, asks the policies that need nothing else, runs the checks and asks the
// other policies. The only error is an *UnknownKindError: everything else that goes wrong, a panic
// included, is part of the report, so that no fault of ours ever stops a job.
func (r *Reviewer) Review(ctx context.Context, req Request) (Report, error) {
	p, err := r.Begin(ctx, req)
	if err != nil {
		return Report{}, err
	}
	return p.Check(ctx).Conclude(ctx).Report(), nil
}

// needless says why there is nothing to review. Updates that change nothing we look at must
// pass untouched: controllers write finalizers and annotations on jobs that run, have ended
// or are being deleted, and a policy that came later must not stop them. That a job has ended is
// no reason by itself: a status may be written first and taken back afterwards, and no webhook hears of either.
// Nor is it one that a job is being deleted: a finalizer of its author's holds it, and not every operator minds
// (github.com/kubeflow/trainer v2.3.0 pkg/controller/trainjob_controller.go, Reconcile).
func needless(req Request) string {
	switch {
	case ModeOf(req.Namespace) == ModeOff:
		return "the namespace is labelled " + ModeLabel + "=" + ModeOff
	case req.Old != nil && SameWork(req.Old, req.Object):
		return sameWork
	case req.Old == nil && req.Object.GetDeletionTimestamp() != nil:
		return "the job is being deleted"
	}
	return ""
}

const sameWork = "neither spec nor labels nor an annotation that is reviewed was changed"

// changedAnnotations are the keys of annotations that are not as they were. Not those that Signalbox writes: whatever a
// policy makes of them must not stop it; nor kubectl's copy of the object.
func changedAnnotations(old, now *unstructured.Unstructured) (out []string) {
	was, is := old.GetAnnotations(), now.GetAnnotations()
	for _, of := range []map[string]string{was, is} {
		for key := range of {
			before, had := was[key]
			if after, has := is[key]; (had != has || before != after) && key != corev1.LastAppliedConfigAnnotation && !strings.HasPrefix(key, "signalbox.dev/") {
				out = append(out, key)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// SameWork says whether two states of an object ask for the same work: then admission has
// nothing to review.
func SameWork(old, now *unstructured.Unstructured) bool {
	return reflect.DeepEqual(old.Object["spec"], now.Object["spec"]) &&
		maps.Equal(old.GetLabels(), now.GetLabels()) && maps.Equal(ReviewedAnnotations(old), ReviewedAnnotations(now))
}

// ReviewedAnnotations are the annotations of a job that a review rests on: those that silence checks, and
// those that say what work is asked for. Operators write the others while the job runs.
func ReviewedAnnotations(u *unstructured.Unstructured) map[string]string {
	out := map[string]string{}
	all := u.GetAnnotations()
	for _, key := range reviewedKeys {
		if value, there := all[key]; there {
			out[key] = value
		}
	}
	return out
}

// ReviewedKeys are the keys of ReviewedAnnotations.
func ReviewedKeys() []string { return slices.Clone(reviewedKeys) }

var reviewedKeys = append(kinds.ReviewedAnnotations(), check.IgnoreAnnotation, check.ReasonAnnotation)

// stopped says whether somebody ended the job before its time: nothing of it starts again.
func stopped(kind *kinds.Kind, o *unstructured.Unstructured) bool {
	if kind.State == nil || o == nil {
		return false
	}
	defer func() { _ = recover() }() // a status that cannot be read says nothing
	return kind.State(o).Stopped()
}

// completed are the pods of each role that have completed and are not made again. A job that has ended is asked about as if it
// came anew.
func completed(kind *kinds.Kind, j *job.Job) (out map[string]int) {
	if kind.Completed == nil || kind.State == nil || j.Source == nil {
		return nil
	}
	defer func() { _ = recover() }() // as for stopped
	if phase := kind.State(j.Source).Phase; phase == kinds.Succeeded || phase == kinds.Failed {
		return nil
	}
	return kind.Completed(j)
}

// gangOf is what has to run together. Pods of the job that exist keep their places.
func gangOf(kind *kinds.Kind, j *job.Job, view *cluster.Snapshot) gang.Gang {
	g := gang.Of(j)
	g.Stopped = stopped(kind, j.Source)
	for role, n := range completed(kind, j) {
		g.Completed(role, n)
	}
	if j.Ref.UID == "" || kind.Pods == nil || kind.Place == nil {
		return g
	}
	own := kind.Select(j.Ref, j.Source)
	if requirements, _ := own[0].Requirements(); len(own) == 1 && len(requirements) > 0 {
		g.OwnLabels = map[string]string{}
		for i := range requirements {
			if values := requirements[i].ValuesUnsorted(); requirements[i].Operator() == selection.In && len(values) == 1 {
				g.OwnLabels[requirements[i].Key()] = values[0]
			}
		}
	}
	g.Own = func(pod *corev1.Pod) (string, bool) {
		if !slices.ContainsFunc(own, func(s labels.Selector) bool { return s.Matches(labels.Set(pod.Labels)) }) {
			return "", false
		}
		if o := metav1.GetControllerOfNoCopy(pod); o != nil && anothers(kind, j.Ref, *o, view) {
			return "", false
		}
		role, _, ok := kind.Place(pod)
		return role, ok
	}
	return g
}

// anothers says of the controller of a pod that it leads to another job, such as an earlier one of the same name, whose pods
// have the labels of those of the job.
func anothers(kind *kinds.Kind, ref job.Ref, controller metav1.OwnerReference, view *cluster.Snapshot) bool {
	owns, _ := kind.Owns(ref, controller, gotFrom(view))
	return owns == job.Absent
}

// check runs the checks and files their outcomes.
func (p *Pending) check(ctx context.Context) {
	report, req, j := &p.report, p.req, p.job
	asked, gang := false, gangOf(p.kind, j, req.Cluster)
	gang.Arrived = req.Admission
	report.Gang = &gang
	answer := sync.OnceValue(func() fit.Result { asked = true; return whatif.Answer(ctx, req.Cluster, gang) })
	limits := sync.OnceValue(func() []quota.Violation { return quota.Violations(req.Cluster, gang) })
	in := check.Input{
		Job: j, Partial: p.half, Cluster: req.Cluster, Namespace: req.Namespace, Live: req.Live, Fit: answer, Limits: limits,
	}
	if req.Admission {
		in.Answers, in.Admission = answers(p.kind, req), true
	}
	in.Silenced = p.asks(OnTheReview) && p.reads(OnTheReview)("findings")
	if req.Old != nil {
		in.Old, _ = read(p.kind, req.Old, req.Cluster) // what cannot be compared is not compared
	}
	if set := p.reviewer.checksIn(j.Ref.Namespace); set != nil {
		room, _ := outcomeRoom.Get().(*[]check.Outcome)
		outcomes := set.RunInto(ctx, in, *room)
		defer func() {
			clear(outcomes)
			*room = outcomes
			outcomeRoom.Put(room)
		}()
		report.file(outcomes)
		for _, o := range outcomes {
			if o.Skipped.Reason == check.Ignored {
				p.silenced = append(p.silenced, o.Findings...)
			}
		}
	}
	if req.Cluster != nil && (asked || ctx.Err() == nil) {
		report.Fit = fitOf(answer, gang.Pods(), p.half, req.Cluster)
	}
}

// outcomeRoom is where outcomes stand until they are filed.
var outcomeRoom = sync.Pool{New: func() any { return new([]check.Outcome) }}

// checksIn are the checks for jobs of a namespace.
func (r *Reviewer) checksIn(namespace string) *check.Set {
	if set, tuned := r.Namespaces[namespace]; tuned {
		return set
	}
	return r.Checks
}

// fitOf is the answer of the capacity engine about so many pods, or an unknown that says why.
func fitOf(answer func() fit.Result, pods int, partial bool, view *cluster.Snapshot) (out *fit.Result) {
	unknown := func(why string) *fit.Result {
		return &fit.Result{Verdict: fit.Unknown, Assumed: []string{why}}
	}
	switch {
	case partial:
		return unknown("the job could not be read whole")
	case view.Incomplete() != "":
		out := unknown(view.Incomplete())
		out.Wanted = pods
		return out
	}
	defer func() {
		if p := recover(); p != nil {
			out = unknown(fmt.Sprintf("the fit failed: %v", p))
		}
	}()
	result := answer()
	return &result
}

// file sorts outcomes into findings and what was not checked.
func (r *Report) file(outcomes []check.Outcome) {
	for _, o := range outcomes {
		switch {
		case o.Err != nil:
			r.Skipped = append(r.Skipped, Skip{Check: o.Check, Reason: o.Err.Error(), Failed: true})
		case o.Skipped.Concerns():
			r.Findings = append(r.Findings, o.Findings...)
			r.Skipped = append(r.Skipped, Skip{Check: o.Check, Reason: o.Skipped.String(), Why: o.Skipped.Reason, Failed: o.Failed})
		case o.Skipped.Reason == check.Ran:
			r.Ran++
			r.Findings = append(r.Findings, o.Findings...)
		}
	}
}

// read reads an object with what the cluster view knows. A panic of the reader is an error.
func read(kind *kinds.Kind, object *unstructured.Unstructured, view *cluster.Snapshot) (j *job.Job, err error) {
	defer func() {
		if p := recover(); p != nil {
			j, err = nil, fmt.Errorf("read %s: panic: %v", refOf(object), p)
		}
	}()
	return kind.Read(object, gotFrom(view))
}

// gotFrom answers from what a view knows; nil: nothing.
func gotFrom(view *cluster.Snapshot) kinds.Got {
	if view == nil {
		return nil
	}
	return func(w kinds.Want) (*unstructured.Unstructured, job.Presence) {
		return view.Lookup(w.GVK, w.Namespace, w.Name)
	}
}

// oldJob reads the job before an update whole, or says why it is not.
func oldJob(kind *kinds.Kind, req Request) (*job.Job, error) {
	j, err := read(kind, req.Old, req.Cluster)
	if err != nil {
		return nil, fmt.Errorf("the job before the update could not be read: %w", err)
	}
	return j, nil
}

func refOf(o *unstructured.Unstructured) job.Ref {
	return job.Ref{
		Kind: o.GetKind(), APIVersion: o.GetAPIVersion(),
		Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID()),
	}
}

func covered() []string {
	var out []string
	for _, k := range kinds.All() {
		for _, gvk := range k.GVKs {
			out = append(out, fmt.Sprintf("%s (%s)", gvk.Kind, gvk.GroupVersion()))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

const all = "all" // the name of what was skipped when everything was
