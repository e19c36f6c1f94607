package fit

import (
	"cmp"
	"context"
	"slices"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
)

// holdersOf asks whose end lets a job start.
func holdersOf(ctx context.Context, w *review.World, j review.Reviewed, mayRead func(context.Context, string) bool) *review.WhoAnswer {
	out := &review.WhoAnswer{Asked: w.Now, Holders: []whatif.Holder{}, Plan: []fit.Placement{}}
	switch {
	case j.Fit == nil || j.Gang == nil:
		out.Reason = "the job could not be read"
		return out
	case w.Nodeless:
		out.Reason = "you may not list nodes, so who holds them is not known"
		return out
	}
	d := whatif.Holders(ctx, w.Cluster, *j.Gang, *j.Fit)
	out.Smallest, out.Reason, out.Plan = d.Smallest, d.Reason, append(out.Plan, d.Plan...)
	for _, h := range d.Holders {
		if !mayRead(ctx, h.Namespace) {
			if out.Unreadable == nil {
				out.Unreadable = &review.Unnamed{}
			}
			out.Unreadable.Jobs++
			out.Unreadable.Pods += h.Pods
			out.Unreadable.Devices = saturate.Add(out.Unreadable.Devices, h.Devices)
			continue
		}
		look(ctx, w, &h)
		out.Holders = append(out.Holders, h)
	}
	if d.Reason == "" {
		for _, v := range j.Fit.Violations {
			out.Remains = append(out.Remains, v.Message)
		}
	}
	return out
}

// reader says of which namespaces the asker may list the pods: where there is no asker, of all. What
// cannot be found out is taken for no.
func reader(w *review.World) func(context.Context, string) bool {
	known := map[string]bool{}
	return func(ctx context.Context, namespace string) bool {
		if w.Live == nil {
			return true
		}
		allowed, asked := known[namespace]
		if !asked {
			review, err := w.Live.Clients.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
				Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "list", Resource: "pods"}},
			}, metav1.CreateOptions{})
			allowed = err == nil && review.Status.Allowed
			known[namespace] = allowed
		}
		return allowed
	}
}

// look says of a holder since when it runs, how long it still may, and what says that it does no work: as far as its
// job, or one of its pods, tells.
func look(ctx context.Context, w *review.World, h *whatif.Holder) {
	for _, o := range objectsOf(ctx, w, *h) {
		if began, ok := startOf(o); ok {
			h.Since = &began
		}
		if k := kinds.Of(job.Ref{APIVersion: o.GetAPIVersion(), Kind: o.GetKind()}); k != nil {
			if left, ok := boundOf(o, k.Deadline, w.Now); ok {
				h.Marks = append(h.Marks, "ends "+left.String())
			}
		}
		if j := review.ReadJob(o, w.Cluster); j != nil && j.Suspended {
			h.Marks = append(h.Marks, "paused, and its pods are still there")
		}
		if text := o.GetAnnotations()[controller.Healthy]; text == "No" {
			h.Marks = append(h.Marks, "not healthy: "+cmp.Or(o.GetAnnotations()[controller.Error], "see its diagnosis"))
		}
		if sleeps(ctx, w, o) {
			h.Marks = append(h.Marks, "debugging: its command only sleeps")
		}
	}
}

// startOf is when a job or pod started, by its status; where its kind does not say so, when it was made.
func startOf(o *unstructured.Unstructured) (time.Time, bool) {
	text, _, _ := unstructured.NestedString(o.Object, "status", "startTime")
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UTC(), true
	}
	at := o.GetCreationTimestamp()
	return at.UTC(), !at.IsZero()
}

// objectsOf is the job that a holder is, or a Job like one of its pods where that can be read.
func objectsOf(ctx context.Context, w *review.World, h whatif.Holder) []*unstructured.Unstructured {
	asked := &unstructured.Unstructured{}
	asked.SetNamespace(h.Namespace)
	asked.SetName(h.Name)
	for _, k := range kinds.All() {
		for _, gvk := range k.GVKs {
			if gvk.Kind != h.Kind {
				continue
			}
			if o, _ := w.Cluster.Lookup(gvk, h.Namespace, h.Name); o != nil {
				return []*unstructured.Unstructured{o}
			}
			asked.SetGroupVersionKind(gvk)
			if w.Live == nil {
				continue
			}
			if o := w.Live.Job(ctx, asked); o != nil {
				return []*unstructured.Unstructured{o}
			}
		}
	}
	if w.Live == nil || h.Pod == "" {
		return nil
	}
	pod, err := w.Live.Objects.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace(h.Namespace).Get(ctx, h.Pod, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	spec, _, _ := unstructured.NestedMap(pod.Object, "spec")
	if began, ok := startOf(pod); ok {
		asked.SetCreationTimestamp(metav1.NewTime(began))
	}
	asked.Object["spec"] = map[string]any{"template": map[string]any{"spec": spec}}
	asked.SetAPIVersion("batch/v1")
	asked.SetKind("Job")
	return []*unstructured.Unstructured{asked}
}

const sleepCheck = "gpus-held-by-sleep"

// sleeps says whether the command of a job waits for ever and holds devices.
func sleeps(ctx context.Context, w *review.World, o *unstructured.Unstructured) bool {
	set, err := check.NewSet(checkCalled(sleepCheck))
	if err != nil {
		return false
	}
	r, err := (&preflight.Reviewer{Checks: set}).Review(ctx, preflight.Request{Object: o, Operation: "CREATE", Now: w.Now})
	return err == nil && slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Check == sleepCheck })
}
