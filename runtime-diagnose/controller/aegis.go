package controller

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// An AegisDiagnosis is what users of Aegis create to have one job diagnosed
// (https://github.com/scitix/aegis, pkg/apis/diagnosis/v1alpha1/types.go). Where it is switched on, the
// rules answer it. Two things differ: the answer is a status subresource that whoever may write the object
// cannot write, and a job is answered for only in the namespace of the object, because whoever may create
// one there could otherwise have the pods of any namespace read.

var aegisKind = schema.GroupVersionKind{Group: "aegis.io", Version: "v1alpha1", Kind: "AegisDiagnosis"}

const (
	aegisResource = "aegisdiagnosises"
	// aegisJob is the kind as Aegis spells it.
	aegisJob = "PytorchJob"
	// aegisLives is how long an answer stays where its object does not say (Aegis: seven days).
	aegisLives = 7 * 24 * time.Hour
	// aegisGrace is how long an object waits for its job: both may have been applied together.
	aegisGrace = 10 * time.Second
	// aegisLines and aegisBytes bound what one status holds.
	aegisLines = 20
	aegisBytes = 8 << 10
)

// The phases that are written, and the reasons of the two Events: Aegis' own words.
const (
	aegisDiagnosing = "Diagnosing"
	aegisCompleted  = "Completed"
	aegisFailed     = "Failed"
	aegisSucceeded  = "Succeeded"
)

type aegisSpec struct {
	Object struct {
		Kind      string `json:"kind"`
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"object"`
	Timeout     string    `json:"timeout"`
	TTLStrategy *aegisTTL `json:"ttlStrategy"`
}

type aegisTTL struct {
	Completion *int32 `json:"secondsAfterCompletion"`
	Success    *int32 `json:"secondsAfterSuccess"`
	Failure    *int32 `json:"secondsAfterFailure"`
}

type aegisStatus struct {
	Phase       string       `json:"phase,omitempty"`
	Start       *metav1.Time `json:"startTime,omitempty"`
	Completion  *metav1.Time `json:"completionTime,omitempty"`
	Result      *aegisResult `json:"result,omitempty"`
	Explain     string       `json:"explain,omitempty"`
	ErrorResult string       `json:"errorResult,omitempty"`
}

type aegisResult struct {
	Status   string   `json:"status,omitempty"`
	Failures []string `json:"failures,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	Infos    []string `json:"infos,omitempty"`
}

// aegisAnswers answers one AegisDiagnosis at a time.
type aegisAnswers struct {
	*Reconciler
	objects dynamic.Interface
}

// Reconcile answers one that has no answer of ours, and removes one whose time is over.
func (a aegisAnswers) Reconcile(ctx context.Context, key types.NamespacedName) (reconcile.Result, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(aegisKind)
	if err := a.Cache.Get(ctx, key, u); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if u.GetDeletionTimestamp() != nil {
		return reconcile.Result{}, nil
	}
	var o struct {
		Spec   aegisSpec   `json:"spec"`
		Status aegisStatus `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &o); err != nil {
		return reconcile.Result{}, reconcile.TerminalError(fmt.Errorf("read AegisDiagnosis %s: %w", key, err))
	}
	if o.Status.Completion != nil && aegisOwn(u) {
		return a.expire(ctx, u, o.Spec.TTLStrategy, o.Status)
	}
	again, err := a.answer(ctx, u, o.Spec)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return reconcile.Result{RequeueAfter: firstRetry}, nil // it has changed or gone since it was read
	}
	return reconcile.Result{RequeueAfter: again}, err
}

// aegisOwn says that nobody but Signalbox has written any of the status.
func aegisOwn(u *unstructured.Unstructured) bool {
	mine := false
	for _, e := range u.GetManagedFields() {
		if e.FieldsV1 == nil || !bytes.Contains(e.FieldsV1.GetRawBytes(), []byte(`"f:status"`)) {
			continue
		}
		if e.Manager != FieldOwner || e.Subresource != "status" {
			return false
		}
		mine = true
	}
	return mine
}

// answer diagnoses the job and writes what came of it.
func (a aegisAnswers) answer(ctx context.Context, u *unstructured.Unstructured, spec aegisSpec) (again time.Duration, err error) {
	within, why := a.refused(u, spec)
	began := metav1.NewTime(a.now())
	if why != "" {
		return 0, a.finish(ctx, u, aegisStatus{Phase: aegisFailed, Start: &began, ErrorResult: why})
	}
	k, job, err := a.job(ctx, Request{pytorchJob, u.GetNamespace(), spec.Object.Name})
	switch {
	case err != nil:
		return 0, err
	case k == nil && a.Served.soon(pytorchJob):
		return time.Second, nil
	case (k == nil || job == nil) && a.now().Sub(u.GetCreationTimestamp().Time) < aegisGrace:
		return time.Second, nil
	case k == nil:
		why = "the cluster serves no " + pytorchJob + ", or the configuration leaves the kind out"
	case job == nil:
		why = fmt.Sprintf("%s %s/%s does not exist", pytorchJob, u.GetNamespace(), spec.Object.Name)
	}
	if why != "" {
		return 0, a.finish(ctx, u, aegisStatus{Phase: aegisFailed, Start: &began, ErrorResult: why})
	}
	// What others may have written goes before anything is added: the API server then names us for all of it.
	if u, err = a.write(ctx, u, aegisStatus{Phase: aegisDiagnosing, Start: &began}); err != nil {
		return 0, err
	}
	reading, stop := context.WithTimeout(ctx, within)
	defer stop()
	c, err := a.Collect(reading, k, job)
	if err == nil {
		known := a.memory.of(job.GetUID(), Request{k.Name, job.GetNamespace(), job.GetName()})
		c.Watched = known.watched.sightings(job.GetName())
		result := diagnose.Diagnose(reading, c, a.catalog(), a.Core)
		result.Remarks = append(result.Remarks, known.watched.remarks()...)
		if reading.Err() == nil {
			return 0, a.finish(ctx, u, aegisAnswer(began, job, result))
		}
	}
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err() // the process ends; the next one answers
	case errors.Is(reading.Err(), context.DeadlineExceeded):
		why = fmt.Sprintf("the diagnosis took longer than %s", within)
	default:
		why = "the evidence could not be read: " + err.Error()
	}
	return 0, a.finish(ctx, u, aegisStatus{Phase: aegisFailed, Start: &began, ErrorResult: why})
}

// pytorchJob is the kind as Kubeflow spells it.
const pytorchJob = "PyTorchJob"

// refused says why an object is not answered with a diagnosis; empty: it is, within a time.
func (a aegisAnswers) refused(u *unstructured.Unstructured, spec aegisSpec) (within time.Duration, why string) {
	within = cmp.Or(a.Timeout, time.Minute)
	if spec.Timeout != "" {
		wanted, err := time.ParseDuration(spec.Timeout)
		if err != nil || wanted <= 0 {
			return 0, fmt.Sprintf("spec.timeout %q is no duration; write it as 30s or 2m", cut(spec.Timeout, 64))
		}
		within = min(within, wanted)
	}
	of := spec.Object
	switch {
	case of.Kind != aegisJob && of.Kind != pytorchJob:
		return 0, fmt.Sprintf("spec.object.kind is %q; Signalbox answers %s, and diagnoses the jobs of other kinds without being asked", cut(of.Kind, 64), aegisJob)
	case of.Name == "":
		return 0, "spec.object.name is empty; it names the " + pytorchJob
	case of.Namespace != "" && of.Namespace != u.GetNamespace():
		return 0, fmt.Sprintf("spec.object.namespace is %q; an AegisDiagnosis is answered about jobs of its own namespace, %q", cut(of.Namespace, 64), u.GetNamespace())
	}
	return within, ""
}

// aegisAnswer is a diagnosis in the fields that Aegis has.
func aegisAnswer(began metav1.Time, job *unstructured.Unstructured, r diagnose.Result) aegisStatus {
	out := &aegisResult{Status: map[string]string{"Yes": "Healthy", "No": "UnHealthy"}[health(r.Verdict)]}
	if out.Status == "" {
		out.Status = "Unknown"
	}
	if r.Error != "" {
		out.Failures = aegisList([]string{r.Error})
	}
	var followed []string
	for _, e := range r.Effects {
		followed = append(followed, strings.TrimPrefix(e.Source.Pod+": "+cmp.Or(e.Title, e.Signature), ": "))
	}
	out.Warnings = aegisList(slices.Concat(r.Remarks, followed))
	infos := []string{fmt.Sprintf("pods: %d expected, %d seen, logs of %d read", r.Coverage.PodsExpected, r.Coverage.PodsSeen, r.Coverage.PodsRead)}
	if r.Waiting != "" {
		infos = append(infos, r.Waiting)
	}
	for _, m := range r.Coverage.Missing {
		infos = append(infos, "not read: "+m)
	}
	out.Infos = aegisList(infos)
	explain := FourLines(r)
	if before, ok := storedOn(job); ok && before.Story != nil && before.Fingerprint == diagnose.Fingerprint(r) {
		if before.Story.Text != "" {
			explain += fmt.Sprintf("\nAs %s tells it:\n%s\n", before.Model, before.Story.Text)
		}
		if said := before.Story.Unsupported; len(said) > 0 {
			explain += fmt.Sprintf("\nNot supported by what was read (%s):\n%s\n", before.Model, strings.Join(said, "\n"))
		}
	}
	return aegisStatus{Phase: aegisCompleted, Start: &began, Result: out, Explain: cut(explain, aegisBytes)}
}

// aegisList keeps the first lines, and says how many it leaves out.
func aegisList(lines []string) []string {
	out := make([]string, 0, min(len(lines), aegisLines))
	for i, line := range lines {
		if i == aegisLines-1 && len(lines) > aegisLines {
			return append(out, fmt.Sprintf("and %d more", len(lines)-i))
		}
		out = append(out, cut(line, 1024))
	}
	return out
}

// finish writes an answer, and its Event.
func (a aegisAnswers) finish(ctx context.Context, u *unstructured.Unstructured, s aegisStatus) error {
	at := metav1.NewTime(a.now())
	s.Completion = &at
	s.ErrorResult = cut(s.ErrorResult, aegisBytes)
	if !aegisOwn(u) && s.Phase == aegisFailed {
		// See answer: what was there before goes first.
		var err error
		if u, err = a.write(ctx, u, aegisStatus{Phase: aegisDiagnosing, Start: s.Start}); err != nil {
			return err
		}
	}
	u, err := a.write(ctx, u, s)
	if err != nil {
		return err
	}
	if s.Phase == aegisFailed {
		return a.Writer.event(ctx, u, corev1.EventTypeWarning, aegisFailed, s.ErrorResult)
	}
	note, _, _ := strings.Cut(s.Explain, "\nAnalysis: ")
	return a.Writer.event(ctx, u, corev1.EventTypeNormal, aegisSucceeded, strings.ReplaceAll(note, "\n", "; "))
}

// write replaces the status. A version that has changed since is a conflict.
func (a aegisAnswers) write(ctx context.Context, u *unstructured.Unstructured, s aegisStatus) (*unstructured.Unstructured, error) {
	status, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&s)
	if err != nil {
		return nil, fmt.Errorf("answer AegisDiagnosis %s/%s: %w", u.GetNamespace(), u.GetName(), err)
	}
	u = u.DeepCopy()
	u.Object["status"] = status
	api := a.objects.Resource(aegisKind.GroupVersion().WithResource(aegisResource)).Namespace(u.GetNamespace())
	now, err := api.UpdateStatus(ctx, u, metav1.UpdateOptions{FieldManager: FieldOwner})
	if err != nil {
		return nil, fmt.Errorf("answer AegisDiagnosis %s/%s: %w", u.GetNamespace(), u.GetName(), err)
	}
	return now, nil
}

// expire removes an answer whose time is over: counted, unlike in Aegis, from when it was given.
func (a aegisAnswers) expire(ctx context.Context, u *unstructured.Unstructured, ttl *aegisTTL, s aegisStatus) (reconcile.Result, error) {
	lives, ends := ttl.of(s.Phase)
	if !ends {
		return reconcile.Result{}, nil
	}
	if left := lives - a.now().Sub(s.Completion.Time); left > 0 {
		return reconcile.Result{RequeueAfter: left}, nil
	}
	api := a.objects.Resource(aegisKind.GroupVersion().WithResource(aegisResource)).Namespace(u.GetNamespace())
	uid := u.GetUID()
	err := api.Delete(ctx, u.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if apierrors.IsConflict(err) {
		return reconcile.Result{}, nil // another one of that name
	}
	return reconcile.Result{}, client.IgnoreNotFound(err)
}

// of is how long an answer in a phase lives; ends is false where it stays.
func (t *aegisTTL) of(phase string) (lives time.Duration, ends bool) {
	if t == nil {
		return aegisLives, true
	}
	seconds := t.Completion
	if seconds == nil && phase == aegisCompleted {
		seconds = t.Success
	}
	if seconds == nil && phase == aegisFailed {
		seconds = t.Failure
	}
	if seconds == nil {
		return 0, false
	}
	return time.Duration(*seconds) * time.Second, true
}

// FourLines is a diagnosis in the four lines that Aegis' manual asks a model for: healthy or not, the
// likely cause, why, and what to do. Each is one line, so that what reads Aegis' answers reads these.
func FourLines(r diagnose.Result) string {
	analysis := strings.Join(append([]string{cmp.Or(r.Analysis, r.Waiting)}, r.Remarks...), " ")
	var steps []string
	for i, step := range r.Solution {
		steps = append(steps, fmt.Sprintf("%d. %s", i+1, step))
	}
	var b strings.Builder
	for _, one := range [][2]string{
		{"Healthy", diagnose.HealthyWord(r.Verdict)}, {"Error", r.Error}, {"Analysis", analysis}, {"Solution", strings.Join(steps, " ")},
	} {
		fmt.Fprintf(&b, "%s: %s\n", one[0], cmp.Or(strings.Join(strings.Fields(one[1]), " "), "none"))
	}
	return b.String()
}
