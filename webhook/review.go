package webhook

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// Annotations of our domain: these two are the user's and change what a review says; the
// others are our answers, or requests to the diagnosis.
const (
	ownPrefix    = "signalbox.dev/"
	ignoreChecks = "signalbox.dev/ignore"
	ignoreReason = "signalbox.dev/ignore-reason"
)

// review decodes the request and has it reviewed. It runs under the deadline.
func (h *Handler) review(ctx context.Context, req admission.Request) answer {
	kind := schema.GroupVersionKind(req.Kind)
	if h.kindOf(kind) == nil {
		return notChecked(reasonUndecodable, fmt.Sprintf("no reader for %s %s", kind.GroupVersion(), kind.Kind))
	}
	labels := h.view.Namespace(req.Namespace)
	if preflight.ModeOf(labels) == preflight.ModeOff {
		return answer{silent: "the namespace is labelled " + preflight.ModeLabel + "=" + preflight.ModeOff}
	}
	object, err := decode(req.Object.Raw)
	if err != nil {
		return notChecked(reasonUndecodable, "the object cannot be decoded: "+err.Error())
	}
	var old *unstructured.Unstructured
	if req.Operation == admissionv1.Update {
		if old, err = decode(req.OldObject.Raw); err != nil {
			return notChecked(reasonUndecodable, "the object before the update cannot be decoded: "+err.Error())
		}
	}
	if why := h.uninteresting(req, object, old); why != "" {
		return answer{silent: why}
	}
	view := h.view.Snapshot()
	report, err := h.reviewer.Review(ctx, preflight.Request{
		Object:    object,
		Old:       old,
		Cluster:   view,
		Namespace: labels,
		Operation: string(req.Operation),
		User:      req.UserInfo.Username,
		Groups:    req.UserInfo.Groups,
		DryRun:    req.DryRun != nil && *req.DryRun,
		Live:      true,
	})
	if err != nil {
		return notChecked(reasonUndecodable, err.Error())
	}
	return reported(report, view.Incomplete(), h.broken())
}

func (h *Handler) kindOf(gvk schema.GroupVersionKind) *kinds.Kind {
	for _, k := range h.kinds {
		if slices.Contains(k.GVKs, gvk) {
			return k
		}
	}
	return nil
}

// decode reads one object as it came over the wire.
func decode(raw []byte) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw); err != nil {
		return nil, err
	}
	return u, nil
}

// uninteresting says why a job needs no review; empty: review it.
func (h *Handler) uninteresting(req admission.Request, object, old *unstructured.Unstructured) string {
	switch {
	case object.GetDeletionTimestamp() != nil:
		return "the job is being deleted"
	case old != nil && !changed(old, object):
		return "nothing changed that a review looks at"
	}
	if owner := h.madeByOperator(req, object); owner != "" {
		return "made by the operator of " + owner + ", which was reviewed itself"
	}
	return ""
}

// changed says whether an update touches what a user writes: anything besides metadata
// and status, the labels, and the annotations that are not Signalbox's own answers.
// Operators and this project's controller update jobs all the time; repeating warnings
// to them would help nobody.
func changed(old, object *unstructured.Unstructured) bool {
	return !equality.Semantic.DeepEqual(written(old), written(object)) ||
		!maps.Equal(old.GetLabels(), object.GetLabels()) ||
		!maps.Equal(userAnnotations(old), userAnnotations(object))
}

// written is the object without what the API server and operators keep in it.
func written(u *unstructured.Unstructured) map[string]any {
	out := maps.Clone(u.Object)
	delete(out, "metadata")
	delete(out, "status")
	return out
}

func userAnnotations(u *unstructured.Unstructured) map[string]string {
	out := u.GetAnnotations()
	maps.DeleteFunc(out, func(key, _ string) bool {
		if strings.HasPrefix(key, ownPrefix) {
			return key != ignoreChecks && key != ignoreReason
		}
		// kubectl's copy of the manifest says nothing that the object does not.
		return key == "kubectl.kubernetes.io/last-applied-configuration"
	})
	return out
}

// madeByOperator names the job that this one was made for: a JobSet's Jobs, a TrainJob's
// JobSet. Its user has read the findings on the job he wrote; a policy that denies the
// part would only break the whole, silently. An owner reference is a claim of whoever
// writes it, so it counts only from a controller: a service account of another namespace
// than the job's, or kube-controller-manager.
func (h *Handler) madeByOperator(req admission.Request, object *unstructured.Unstructured) string {
	owner := metav1.GetControllerOf(object)
	if owner == nil || !isController(req.UserInfo.Username, req.Namespace) {
		return ""
	}
	gv, err := schema.ParseGroupVersion(owner.APIVersion)
	if err != nil {
		return ""
	}
	for _, k := range h.kinds {
		for _, gvk := range k.GVKs {
			if gvk.Group == gv.Group && gvk.Kind == owner.Kind {
				return owner.Kind + " " + owner.Name
			}
		}
	}
	return ""
}

func isController(user, namespace string) bool {
	if user == "system:kube-controller-manager" {
		return true
	}
	account, ok := strings.CutPrefix(user, "system:serviceaccount:")
	return ok && !strings.HasPrefix(account, namespace+":")
}
