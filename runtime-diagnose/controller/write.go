package controller

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/words"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// Reasons of the Events that Signalbox writes on jobs.
const (
	// DiagnosisChanged (Warning): the verdict or the cause is another than before.
	DiagnosisChanged = "DiagnosisChanged"
	// JobHealthy (Normal): the job ended well, or what was wrong is over.
	JobHealthy = "JobHealthy"
	// StragglerSeen (Warning): some ranks take longer for a step than the rest; the job goes on.
	StragglerSeen = "StragglerSeen"
	// BottleneckSeen (Warning): what the job waits for, by the metrics of its pods and nodes; it goes on.
	BottleneckSeen = "BottleneckSeen"
	// PromptInvalid (Warning): the operator's template does not parse or run; the built-in one was used.
	PromptInvalid = "PromptInvalid"
	// ExplanationFailed (Warning): the model did not answer; the finding stands without a story.
	ExplanationFailed = "ExplanationFailed"
	// ExplanationLeftOut (Warning, Normal where some is shown): the evidence does not support all of what the model wrote; the note says why.
	ExplanationLeftOut = "ExplanationLeftOut"
	// NominationRefused (Warning): the line that the model named as the cause fails a test of the rules; the note says which.
	NominationRefused = "NominationRefused"
)

// Writer puts findings on jobs. It is safe for concurrent use.
type Writer struct {
	Kube    kubernetes.Interface
	Dynamic dynamic.Interface
	Mapper  meta.RESTMapper
	Now     func() time.Time // nil: the system's clock
	// Notify is told when the verdict or the cause is another, or what was wrong is over; nil: not called. It must not wait.
	Notify func(Notice)
	// Runbook is the address of a page about a category, or where there is none about the reason of an Event; empty, or
	// nil: no Event names a page.
	Runbook func(category, reason string) string
}

// Notice is a diagnosis that changed.
type Notice struct {
	Job         *unstructured.Unstructured
	Result      diagnose.Result
	Fingerprint string
	Over        bool // nothing is wrong any more
}

// Write puts a diagnosis on its job if it says anything new, and an Event if the verdict is
// another. It reports whether it wrote. A job that goes is left alone; one that a finalizer holds is not.
func (w Writer) Write(ctx context.Context, u *unstructured.Unstructured, r diagnose.Result, state kinds.State) (bool, error) {
	f := finding{result: r, print: diagnose.Fingerprint(r), state: state, asked: u.GetAnnotations()[Ask]}
	before, _ := storedOn(u)
	return w.write(ctx, u, f, before)
}

// write is Write; before is what was told last.
func (w Writer) write(ctx context.Context, u *unstructured.Unstructured, f finding, before stored) (bool, error) {
	wrote, err := w.apply(ctx, u, f.annotations())
	if !wrote || err != nil {
		return wrote, err
	}
	return true, w.tell(ctx, u, f, before, "")
}

// tell says what is new against what stood on a job to those who are told, and as an Event, with a word before it.
func (w Writer) tell(ctx context.Context, u *unstructured.Unstructured, f finding, before stored, word string) error {
	reason, kind, note := f.event(before)
	if reason == "" {
		return nil
	}
	if w.Notify != nil {
		w.Notify(Notice{Job: u, Result: f.result, Fingerprint: f.print, Over: reason == JobHealthy})
	}
	note = word + note
	if reason != JobHealthy { // of which there is nothing to read up
		note = w.led(note, f.result.Category, reason)
	}
	return w.event(ctx, u, kind, reason, note)
}

// tellOnly tells what cannot be written on a job because the API server does not take the job with it: its author may
// have filled all the room that annotations have.
func (w Writer) tellOnly(ctx context.Context, u *unstructured.Unstructured, f finding) error {
	before, _ := storedOn(u)
	return w.tell(ctx, u, f, before, "(the job takes no annotation) ")
}

// takesNone says that a job will not be taken with our annotations later, either.
func takesNone(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err)
}

// writeReason puts on a job only why it waits; the rest of what stands there stays.
func (w Writer) writeReason(ctx context.Context, u *unstructured.Unstructured, why string) (bool, error) {
	return w.apply(ctx, u, because(u, why))
}

// because are the annotations of a job with why it waits.
func because(u *unstructured.Unstructured, why string) map[string]string {
	want := ours(u.GetAnnotations())
	delete(want, Waiting)
	if why != "" {
		want[Waiting] = cut(why, 1024)
	}
	return want
}

// apply makes ours the annotations of the job, by server-side apply: keys that are no longer
// wanted go, keys of others stay. The UID keeps it from creating a job that was deleted since.
func (w Writer) apply(ctx context.Context, u *unstructured.Unstructured, want map[string]string) (bool, error) {
	if u.GetDeletionTimestamp() != nil && len(u.GetFinalizers()) == 0 || same(want, ours(u.GetAnnotations())) {
		return false, nil
	}
	m, err := w.Mapper.RESTMapping(u.GroupVersionKind().GroupKind(), u.GroupVersionKind().Version)
	if err != nil {
		return false, fmt.Errorf("annotate %s %s/%s: %w", u.GetKind(), u.GetNamespace(), u.GetName(), err)
	}
	patch := &unstructured.Unstructured{}
	patch.SetGroupVersionKind(u.GroupVersionKind())
	patch.SetNamespace(u.GetNamespace())
	patch.SetName(u.GetName())
	patch.SetUID(u.GetUID())
	patch.SetAnnotations(maps.Clone(want))
	// Force takes only the keys in the patch, and those are Signalbox's own.
	resource := w.Dynamic.Resource(m.Resource).Namespace(u.GetNamespace())
	now, err := resource.Apply(ctx, u.GetName(), patch, metav1.ApplyOptions{FieldManager: FieldOwner, Force: true})
	if err == nil {
		err = w.clear(ctx, resource, now, want)
	}
	if err != nil {
		return false, fmt.Errorf("annotate %s %s/%s: %w", u.GetKind(), u.GetNamespace(), u.GetName(), err)
	}
	return true, nil
}

// clear removes those of our keys that are no longer wanted and that somebody else owns as well: they came
// with a job that was exported and created again, and an apply leaves them.
func (w Writer) clear(ctx context.Context, in dynamic.ResourceInterface, u *unstructured.Unstructured, want map[string]string) error {
	stale := map[string]any{}
	for key := range ours(u.GetAnnotations()) {
		if _, wanted := want[key]; !wanted {
			stale[key] = nil
		}
	}
	if len(stale) == 0 {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": u.GetUID(), "annotations": stale}})
	if err != nil {
		return err
	}
	_, err = in.Patch(ctx, u.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: FieldOwner})
	return err
}

// event says what changed against what stood on the job; no reason: nothing worth an Event.
func (f finding) event(before stored) (reason, kind, note string) {
	r := f.result
	done := r.Verdict == diagnose.Healthy && over(f.state.Phase) && before.State != stateMark(f.state)
	if before.Verdict == r.Verdict && before.Category == r.Category && !done {
		return "", "", ""
	}
	switch r.Verdict {
	case diagnose.Healthy:
		if before.Verdict == "" && !over(f.state.Phase) {
			return "", "", "" // it was never otherwise
		}
		return JobHealthy, corev1.EventTypeNormal, cmp.Or(r.Analysis, "Nothing is wrong any more.")
	case diagnose.Diagnosed, diagnose.Inconclusive:
		note = r.Error
		if r.Category != "" {
			note = r.Category + ": " + note
		}
		return DiagnosisChanged, corev1.EventTypeWarning, note
	case diagnose.Unknown:
		if before.Verdict == "" {
			return "", "", ""
		}
	}
	return DiagnosisChanged, corev1.EventTypeWarning, cmp.Or(r.Analysis, "What is wrong can no longer be said.")
}

// led is a note that ends in the address of a page. The note is cut, the address is not: half of one leads nowhere.
func (w Writer) led(note, category, reason string) string {
	note = strings.TrimSpace(note)
	if w.Runbook == nil {
		return note
	}
	at := w.Runbook(category, reason)
	if at == "" || len(at) > maxNote/2 {
		return note
	}
	at = " Runbook: " + at
	return cut(note, maxNote-len(at)) + at
}

// maxNote is the API's limit of a note (k8s.io/kubernetes pkg/apis/core/validation/events.go: 1 kB).
const maxNote = 1024

func (w Writer) event(ctx context.Context, u *unstructured.Unstructured, kind, reason, note string) error {
	now := time.Now
	if w.Now != nil {
		now = w.Now
	}
	at := now()
	e := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: u.GetNamespace(),
			Name:      fmt.Sprintf("%s.%x", words.Stem(u.GetName()), at.UnixNano()),
		},
		EventTime:           metav1.MicroTime{Time: at},
		ReportingController: FieldOwner,
		ReportingInstance:   FieldOwner,
		Action:              "Diagnose",
		Reason:              reason,
		Type:                kind,
		Note:                cut(note, maxNote),
		Regarding: corev1.ObjectReference{
			APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(), UID: u.GetUID(),
		},
	}
	if _, err := w.Kube.EventsV1().Events(u.GetNamespace()).Create(ctx, e, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("write event %s on %s %s/%s: %w", reason, u.GetKind(), u.GetNamespace(), u.GetName(), err)
	}
	return nil
}
