package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// request is what is known of a request before the job is read.
func (h *Handler) request(req admission.Request) preflight.Request {
	return preflight.Request{
		Cluster:   h.o.View.Snapshot(),
		Namespace: h.o.View.Namespace(req.Namespace),
		Operation: string(req.Operation),
		User:      req.UserInfo.Username,
		Groups:    req.UserInfo.Groups,
		DryRun:    req.DryRun != nil && *req.DryRun,
		Live:      true,
		Admission: req.SubResource == "", // no other webhook is asked about a scale
	}
}

// begin decodes the request and begins its review.
func (h *Handler) begin(ctx context.Context, req admission.Request, ask preflight.Request) begun {
	instead := func(a answer) begun { return begun{answer: &a} }
	unread := func(why string) begun { return instead(h.unasked(ask, gap{reasonUndecodable, why})) }
	var err error
	behind := ""
	if req.SubResource == scale {
		if ask.Object, ask.Old, behind, err = h.scaled(req); err != nil {
			return unread(err.Error())
		}
	} else {
		if ask.Object, err = decode(req.Object.Raw); err != nil {
			return unread("the object cannot be decoded: " + err.Error())
		}
		if req.Operation == admissionv1.Update {
			if ask.Old, err = decode(req.OldObject.Raw); err != nil {
				return unread("the object before the update cannot be decoded: " + err.Error())
			}
		}
		if kind := schema.GroupVersionKind(req.Kind); h.kindOf(kind) == nil {
			if ask.Old != nil && preflight.SameWork(ask.Old, ask.Object) {
				return instead(answer{silent: "nothing was changed that a reader would look at"})
			}
			return unread(fmt.Sprintf("no reader for %s %s", kind.GroupVersion(), kind.Kind))
		}
	}
	if owner := h.madeByOperator(ctx, req, ask.Object); owner != "" {
		out := instead(answer{silent: "made by the operator of " + owner + ", which was reviewed itself"})
		out.job = ask.Object
		return out
	}
	if h.o.Earlier != nil {
		ask.Earlier = h.o.Earlier(ask.Object)
	}
	out := begun{job: ask.Object, behind: behind, asks: ask.DryRun && ask.Object.GetAnnotations()[AskAnnotation] == AskReview}
	if ask.Old != nil && preflight.SameWork(ask.Old, ask.Object) {
		out.job = nil // what is found of a change of annotations is not what was found of the job
		if out.asks {
			ask.Old = nil // a question about a job as it is wants an answer
		}
	}
	if out.review, err = h.o.Reviewer.Begin(ctx, ask); err != nil {
		return unread(err.Error())
	}
	return out
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
	for _, k := range h.o.Kinds {
		if slices.Contains(k.GVKs, gvk) {
			return k
		}
	}
	return nil
}

// decode reads one object as it came over the wire, but for who wrote its fields, which no review looks at.
func decode(raw []byte) (*unstructured.Unstructured, error) {
	room, _ := textRoom.Get().(*[]byte)
	defer textRoom.Put(room)
	text := append((*room)[:0], raw...)
	if *room = text; cap(text) > mostTextRoom {
		*room = nil
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(live.WithoutManagers(text)); err != nil {
		return nil, err
	}
	return u, nil
}

// madeByOperator names the job that this one was made for: a JobSet's Jobs, a TrainJob's
// JobSet. Its user has read the findings on the job he wrote; a policy that denies the
// part would only break the whole, silently. An owner reference is a claim of whoever
// writes it, so it counts only from the account of an operator, which may write the status of the owner, and only where
// that owner is stored under that UID.
func (h *Handler) madeByOperator(ctx context.Context, req admission.Request, object *unstructured.Unstructured) string {
	owner := metav1.GetControllerOf(object)
	if owner == nil || h.o.Stored == nil || !slices.Contains(h.o.Operators, req.UserInfo.Username) {
		return ""
	}
	kind := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind()
	if owner.UID == "" || h.o.Stored.UID(kind, req.Namespace, owner.Name) != owner.UID {
		return ""
	}
	if h.o.MayWriteStatus != nil && !h.o.MayWriteStatus(ctx, req.UserInfo, h.resourceOf(kind), req.Namespace) {
		return ""
	}
	return owner.Kind + " " + owner.Name
}

// resourceOf is the resource of a kind.
func (h *Handler) resourceOf(of schema.GroupKind) schema.GroupVersionResource {
	for _, k := range h.o.Kinds {
		if k.GVKs[0].GroupKind() == of {
			return k.GVKs[0].GroupVersion().WithResource(k.Resource)
		}
	}
	return schema.GroupVersionResource{}
}

// scale is the subresource by which kubectl scale and autoscalers change one number of a job.
const scale = "scale"

// scaled are the job whose scale is changed, as it would be, and as it is stored. The request holds
// the two numbers and the version of the job that they are of; behind says that another one was seen
// last: an author may change what a pod asks for a moment before he changes how many there are.
func (h *Handler) scaled(req admission.Request) (now, old *unstructured.Unstructured, behind string, err error) {
	at := slices.IndexFunc(h.o.Kinds, func(k *kinds.Kind) bool {
		return k.Resource == req.Resource.Resource && slices.ContainsFunc(k.GVKs, func(gvk schema.GroupVersionKind) bool { return gvk.Group == req.Resource.Group })
	})
	if at < 0 || h.o.Kinds[at].Scale == "" {
		return nil, nil, "", fmt.Errorf("it is not known where %s.%s hold the number that is scaled", req.Resource.Resource, req.Resource.Group)
	}
	kind := h.o.Kinds[at]
	var was, wanted autoscalingv1.Scale
	if err := errors.Join(json.Unmarshal(req.OldObject.Raw, &was), json.Unmarshal(req.Object.Raw, &wanted)); err != nil {
		return nil, nil, "", fmt.Errorf("the scale cannot be decoded: %w", err)
	}
	name := cmp.Or(req.Name, wanted.Name)
	if h.o.Stored != nil {
		old = h.o.Stored.Job(kind.GVKs[0].GroupKind(), req.Namespace, name)
	}
	if old == nil {
		return nil, nil, "", fmt.Errorf("%s %s, which is scaled to %d, has not been seen yet", kind.Name, name, wanted.Spec.Replicas)
	}
	// A Scale carries the version of its job (k8s.io/apiextensions-apiserver, pkg/registry/customresource/etcd.go, scaleFromCustomResource).
	if was.ResourceVersion != old.GetResourceVersion() {
		behind = fmt.Sprintf("%s %s, which is scaled to %d, has changed and has not been seen so yet", kind.Name, name, wanted.Spec.Replicas)
	}
	now, field := old.DeepCopy(), strings.Split(kind.Scale, ".")
	// A CRD says itself which field is scaled (specReplicasPath), and that of a cluster may name another than its operator's.
	if has, _, err := unstructured.NestedInt64(old.Object, field...); behind == "" && (err != nil || has != int64(was.Spec.Replicas)) {
		return nil, nil, "", fmt.Errorf("it is not known which number is scaled: it was %d, and %s is %d", was.Spec.Replicas, kind.Scale, has)
	}
	if err := errors.Join(
		unstructured.SetNestedField(old.Object, int64(was.Spec.Replicas), field...),
		unstructured.SetNestedField(now.Object, int64(wanted.Spec.Replicas), field...),
	); err != nil {
		return nil, nil, "", fmt.Errorf("scale %s %s: %w", kind.Name, name, err)
	}
	return now, old, behind, nil
}
