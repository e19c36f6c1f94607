package webhook

import (
	"context"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// Names of the second configuration, which is closed: where it is installed, a job of a namespace that was chosen is
// refused when nobody can say what the policies say. It is not part of an installation unless somebody asks for it.
const (
	ClosedConfigurationName = "signalbox-closed"
	ClosedName              = "closed.signalbox.dev"
	ClosedPath              = Path + "/closed"
	// ClosedLabel on a namespace, with the value ClosedValue, chooses it; the selector may be replaced.
	ClosedLabel = "signalbox.dev/failure"
	ClosedValue = "closed"
)

// neverClosed are namespaces in which nothing of ours may stand in the way of anybody, whatever their labels say: those
// of the cluster itself (https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/#initial-namespaces)
// and our own.
func neverClosed() []string {
	return append(excludedNamespaces(), "kube-public", "kube-node-lease")
}

// ClosedConfiguration is the configuration with failurePolicy Fail for the kinds: of namespaces that enforce and that
// were chosen, and of none of the cluster's own.
//
// Only what changes a job is sent, and annotations, which a policy may read: operators write status and finalizers of
// jobs all the time, Signalbox its own annotations, and a job that is being deleted has to come to its end, also while
// no webhook answers: only another spec is sent of it. An expression that fails would refuse, too, so none reads a field that may be missing.
func ClosedConfiguration(all []*kinds.Kind) *admissionregistrationv1.ValidatingWebhookConfiguration {
	out := Configuration(all)
	out.Name = ClosedConfigurationName
	w := &out.Webhooks[0]
	w.Name, w.FailurePolicy = ClosedName, new(admissionregistrationv1.Fail)
	w.ClientConfig.Service.Path = new(ClosedPath)
	w.NamespaceSelector = &metav1.LabelSelector{
		MatchLabels: map[string]string{ClosedLabel: ClosedValue},
		MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpNotIn, Values: neverClosed()},
			{Key: preflight.ModeLabel, Operator: metav1.LabelSelectorOpIn, Values: []string{preflight.ModeEnforce}},
		},
	}
	w.MatchConditions = []admissionregistrationv1.MatchCondition{
		{Name: "goes-on", Expression: `!has(object.metadata.deletionTimestamp) || ` + differs("spec")},
		{Name: "changes-the-job", Expression: `request.operation != "UPDATE" || ` + differs("spec") + ` || ` + differs("metadata.labels") + ` || ` +
			setIn("object", "oldObject") + ` || ` + setIn("oldObject", "object")},
	}
	return out
}

// differs says in CEL whether an update changes a field, which may be missing before or after it.
func differs(field string) string {
	return fmt.Sprintf(`has(object.%[1]s) != has(oldObject.%[1]s) || has(object.%[1]s) && object.%[1]s != oldObject.%[1]s`, field)
}

// setIn says in CEL whether an object has an annotation that another has not, or not so. What Signalbox writes, and
// kubectl notes, is none.
func setIn(object, other string) string {
	const annotations = ".metadata.annotations"
	reviewed := fmt.Sprintf("[%q, %q]", check.IgnoreAnnotation, check.ReasonAnnotation)
	return fmt.Sprintf(`has(%[1]s) && %[1]s.exists(k, (!k.startsWith("signalbox.dev/") || k in %[3]s) && k != %[4]q && `+
		`(!has(%[2]s) || !(k in %[2]s) || %[2]s[k] != %[1]s[k]))`, object+annotations, other+annotations, reviewed, corev1.LastAppliedConfigAnnotation)
}

// failClosed answers for the second configuration: what policies deny is denied, and so is what could not be decided.
// Warnings are the first configuration's to give, and so is the record of what was reviewed.
type failClosed struct{ *Handler }

// Handle answers one admission request. It never panics.
func (c failClosed) Handle(ctx context.Context, req admission.Request) (resp admission.Response) {
	a := answer{}
	ctx, end := c.trace(ctx, req)
	defer func() {
		if v := recover(); v != nil {
			a = c.panicked(req, v)
		}
		resp = a.closed()
		end(a)
		c.o.Metrics.observeClosed(c.kindLabel(req), resp.Allowed)
	}()
	switch why := c.passes(req); {
	case why != "":
		a = answer{silent: why}
	case slices.Contains(neverClosed(), req.Namespace):
		a = answer{silent: "the namespace is one of the cluster's own"}
	case c.o.View.Namespace(req.Namespace) == nil:
		// The API server sends jobs of namespaces that enforce; what is not seen yet must not read as one that does not.
		a = notChecked(reasonView, "namespace "+req.Namespace+" has not been seen yet")
	default:
		a = c.within(ctx, req)
	}
	return
}

// closed is the answer where failing is refusing.
func (a answer) closed() admission.Response {
	resp := a.response()
	resp.Warnings = nil
	if a.report == nil && a.silent == "" {
		resp = admission.Denied(denial([]preflight.Ruling{{
			Policy: "signalbox", Effect: preflight.Deny,
			Message: "the policies of this namespace could not be asked, and it is closed on failure: " + oneLine(a.gapText()),
			Remedy:  "Try again; if it stays so, tell who runs Signalbox.",
		}}))
		resp.AuditAnnotations = a.audit()
		resp.AuditAnnotations[auditDecision] = string(preflight.Denied)
	}
	return resp
}
