package webhook

import (
	"maps"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// Names of what is installed on the cluster.
const (
	Namespace         = "signalbox-system"
	ConfigurationName = "signalbox"
	Name              = "validate.signalbox.dev" // of the webhook; prefix of the audit annotations
	Path              = "/validate"
	ServiceName       = "signalbox-webhook"
	// timeoutSeconds is how long the API server waits. An answer is due long before (see patience): what is above it
	// is for an API server that has no time itself, as in a burst of jobs, and would leave jobs unreviewed.
	timeoutSeconds = 10
)

// excludedNamespaces are never looked at: nothing of ours may stand in the way of the
// cluster's own parts, or of our own.
func excludedNamespaces() []string { return []string{"kube-system", Namespace} }

// Rules are the webhook rules for the kinds: one for each group, in order, of all its versions. A CRD may serve one that
// no reader understands, and a job that is written in it is a job all the same: it is said that it was not read.
// Operations are creations and updates. Of subresources only scale is listed, of each kind, for a CRD of another version may
// have it: kubectl scale changes the number of pods, and the update of the job is not sent for it.
func Rules(all []*kinds.Kind) []admissionregistrationv1.RuleWithOperations {
	resources := map[string][]string{}
	for _, k := range all {
		for _, gvk := range k.GVKs {
			resources[gvk.Group] = append(resources[gvk.Group], k.Resource, k.Resource+"/"+scale)
		}
	}
	scope := admissionregistrationv1.NamespacedScope
	var out []admissionregistrationv1.RuleWithOperations
	for _, group := range slices.Sorted(maps.Keys(resources)) {
		slices.Sort(resources[group])
		out = append(out, admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			Rule: admissionregistrationv1.Rule{
				APIGroups:   []string{group},
				APIVersions: []string{"*"},
				Resources:   slices.Compact(resources[group]),
				Scope:       &scope,
			},
		})
	}
	return out
}

// Configuration is the webhook configuration for the kinds. Its caBundle is empty: certs
// or cert-manager fill it in.
//
// The match policy is Exact. With Equivalent the API server converts an object of a
// version that no rule names, and when that conversion fails it refuses the request,
// whatever the failure policy says (k8s.io/apiserver, validating dispatcher:
// VersionedAttribute's error becomes an internal error). A reader also names paths as
// the user wrote them, so it wants the version he wrote.
func Configuration(all []*kinds.Kind) *admissionregistrationv1.ValidatingWebhookConfiguration {
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		TypeMeta:   metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingWebhookConfiguration"},
		ObjectMeta: metav1.ObjectMeta{Name: ConfigurationName},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: Name,
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				Service: &admissionregistrationv1.ServiceReference{Namespace: Namespace, Name: ServiceName, Path: new(Path), Port: new(int32(443))},
			},
			Rules:                   Rules(all),
			FailurePolicy:           new(admissionregistrationv1.Ignore),
			MatchPolicy:             new(admissionregistrationv1.Exact),
			NamespaceSelector:       namespaceSelector(),
			SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
			TimeoutSeconds:          new(int32(timeoutSeconds)),
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
}

// namespaceSelector keeps requests away that would only be waved through.
func namespaceSelector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpNotIn, Values: excludedNamespaces()},
		{Key: preflight.ModeLabel, Operator: metav1.LabelSelectorOpNotIn, Values: []string{preflight.ModeOff}},
	}}
}
