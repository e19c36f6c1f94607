package webhook

import (
	"context"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
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
	if owner := h.madeByOperator(req, object); owner != "" {
		return answer{silent: "made by the operator of " + owner + ", which was reviewed itself"}
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
		Admission: true,
	})
	if err != nil {
		return notChecked(reasonUndecodable, err.Error())
	}
	if why := needless(report); why != "" {
		return answer{silent: why}
	}
	a := reported(report, view.Incomplete(), h.broken())
	if req.DryRun != nil && *req.DryRun && object.GetAnnotations()[AskAnnotation] == AskFit {
		a.fit = fitLines(report.Fit)
	}
	return a
}

// needless says why the reviewer found nothing to review (an update that changes only
// status and annotations, a job that is being deleted); empty: it reviewed. Controllers
// update jobs all the time, and repeating warnings to them would help nobody.
func needless(r preflight.Report) string {
	if len(r.Skipped) != 1 || len(r.Findings) > 0 || r.Ran > 0 {
		return ""
	}
	if s := r.Skipped[0]; s.Check == "all" && !s.Failed {
		return s.Reason
	}
	return ""
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
