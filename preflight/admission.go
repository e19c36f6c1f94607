package preflight

import (
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var webhookConfigurations = schema.GroupKind{Group: admissionv1.GroupName, Kind: "ValidatingWebhookConfiguration"}

// answers says what else refuses what the operator of the kind refuses, while the API server
// asks us: the API server itself for a kind of its own, or the operator's webhook where it is
// seen to be called for this very request. Empty: none is known, and the checks speak.
func answers(kind *kinds.Kind, req Request) string {
	who := kind.Operator.Validates
	if who.APIServer {
		return "the API server, which validates " + kind.Name
	}
	if who.Webhook == "" {
		return ""
	}
	configurations, _ := req.Cluster.Objects(webhookConfigurations, "")
	for _, o := range configurations {
		entries, _ := o.Object["webhooks"].([]any)
		for _, e := range entries {
			fields, ok := e.(map[string]any)
			if !ok || fields["name"] != who.Webhook {
				continue
			}
			var hook admissionv1.ValidatingWebhook
			if runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &hook) == nil && calledFor(&hook, kind, req) {
				return fmt.Sprintf("webhook %s of ValidatingWebhookConfiguration %s", hook.Name, o.GetName())
			}
		}
	}
	return ""
}

// calledFor says whether the API server surely calls a webhook for the request and refuses
// the job where it does not answer: one that may be passed over answers nothing.
func calledFor(hook *admissionv1.ValidatingWebhook, kind *kinds.Kind, req Request) bool {
	if len(hook.MatchConditions) > 0 || hook.FailurePolicy != nil && *hook.FailurePolicy != admissionv1.Fail {
		return false
	}
	operation := admissionv1.Create
	if req.Operation != "" {
		operation = admissionv1.OperationType(req.Operation)
	}
	gvk := req.Object.GroupVersionKind()
	named := func(list []string, name string) bool {
		return slices.Contains(list, name) || slices.Contains(list, "*")
	}
	if !slices.ContainsFunc(hook.Rules, func(r admissionv1.RuleWithOperations) bool {
		return (slices.Contains(r.Operations, operation) || slices.Contains(r.Operations, admissionv1.OperationAll)) &&
			named(r.APIGroups, gvk.Group) && named(r.APIVersions, gvk.Version) &&
			(named(r.Resources, kind.Resource) || slices.Contains(r.Resources, "*/*")) &&
			(r.Scope == nil || *r.Scope != admissionv1.ClusterScope)
	}) {
		return false
	}
	return selects(hook.ObjectSelector, req.Object.GetLabels()) &&
		(req.Namespace != nil || unselective(hook.NamespaceSelector)) && selects(hook.NamespaceSelector, req.Namespace)
}

func selects(s *metav1.LabelSelector, of map[string]string) bool {
	if unselective(s) {
		return true
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(of))
}

func unselective(s *metav1.LabelSelector) bool {
	return s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0
}
