package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/webhook"
)

// kinds are those that the cluster serves: in a version that has a reader, and with a rule.
func (d *doctor) kinds(e *examination, hook *admissionregistrationv1.ValidatingWebhook) {
	const part = "kinds"
	var covered []string
	for _, k := range kinds.All() {
		group := k.GVKs[0].Group
		read, unread, err := apiserver.ServedVersions(d.kube.Discovery(), d.served, k)
		if err != nil {
			e.unknown(part, err)
			return
		}
		switch {
		case len(read)+len(unread) == 0:
		case len(read) == 0:
			e.wrong(part, "Install a version of Signalbox that reads it, or of the operator that Signalbox reads.",
				"the cluster serves %s.%s in %s; %s is read in %s", k.Resource, group, strings.Join(unread, ", "), k.Name, k.GVKs[0].Version)
		case len(unread) > 0: // the rules match exactly, so that whoever writes this version passes every policy
			e.wrong(part, "Install a version of Signalbox that reads it, or stop serving it in the CustomResourceDefinition.",
				"the cluster serves %s.%s in %s as well, which nobody reviews; %s is read in %s", k.Resource, group, strings.Join(unread, ", "), k.Name, strings.Join(read, ", "))
		case hook != nil && slices.ContainsFunc(read, func(v string) bool { return !hasRule(hook.Rules, group, v, k.Resource) }):
			e.wrong(part, d.install(), "the webhook configuration has no rule for %s in %s: it is of another version of Signalbox", k.Name, strings.Join(read, ", "))
		default:
			covered = append(covered, k.Name)
		}
	}
	if len(covered) > 0 {
		e.fine(part, "%s", strings.Join(covered, ", "))
	}
}

func hasRule(all []admissionregistrationv1.RuleWithOperations, group, version, resource string) bool {
	return slices.ContainsFunc(all, func(r admissionregistrationv1.RuleWithOperations) bool {
		return slices.Contains(r.APIGroups, group) && (slices.Contains(r.APIVersions, "*") || slices.Contains(r.APIVersions, version)) && slices.Contains(r.Resources, resource)
	})
}

// otherWebhook is what a validating and a mutating webhook have in common.
type otherWebhook struct {
	name    string
	rules   []admissionregistrationv1.RuleWithOperations
	failure *admissionregistrationv1.FailurePolicyType
	at      admissionregistrationv1.WebhookClientConfig
}

// otherWebhooks are all webhooks of the cluster but our own.
func (d *doctor) otherWebhooks(ctx context.Context) (out []otherWebhook, err error) {
	validating, err := d.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	mutating, err := d.kube.AdmissionregistrationV1().MutatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, c := range validating.Items {
		for _, w := range c.Webhooks {
			if w.Name != webhook.Name && w.Name != webhook.ClosedName {
				out = append(out, otherWebhook{w.Name, w.Rules, w.FailurePolicy, w.ClientConfig})
			}
		}
	}
	for _, c := range mutating.Items {
		for _, w := range c.Webhooks {
			out = append(out, otherWebhook{w.Name, w.Rules, w.FailurePolicy, w.ClientConfig})
		}
	}
	return out, nil
}

// operators are other webhooks that are asked about jobs or their pods and refuse them while they do not answer. One service
// that validates and mutates is often asked by two of the same name, of which one line says enough.
func (d *doctor) operators(ctx context.Context, e *examination) {
	const part = "operators' webhooks"
	all, err := d.otherWebhooks(ctx)
	if err != nil {
		e.unknown(part, err)
		return
	}
	looked, byURL, broken := 0, 0, []string(nil)
	for _, w := range all {
		what := w.refuses()
		if what == "" {
			continue
		}
		service := w.at.Service
		if service == nil { // only the API server knows whether it reaches the address
			byURL++
			continue
		}
		looked++
		behind, err := d.kube.DiscoveryV1().EndpointSlices(service.Namespace).List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + service.Name})
		if err != nil {
			e.unknown(part, err)
			return
		}
		says := fmt.Sprintf("nobody is behind Service %s/%s, and %s refuses %s until somebody is", service.Namespace, service.Name, w.name, what)
		if !answers(behind.Items) && !slices.Contains(broken, says) {
			broken = append(broken, says)
			e.wrong(part, "kubectl -n "+word(service.Namespace)+" get pods", "%s", says)
		}
	}
	if byURL > 0 {
		e.unknown(part, fmt.Errorf("%d reached by URL, not looked at", byURL))
	}
	switch {
	case len(broken) > 0:
	case looked > 0:
		e.fine(part, "%d that may refuse jobs or pods, all with somebody behind them", looked)
	case byURL == 0:
		e.fine(part, "none that may refuse jobs or pods")
	}
}

// refuses is what a webhook refuses while it does not answer: jobs of our kinds, or the pods that they are made of; empty: none
// of them.
func (w otherWebhook) refuses() string {
	if w.failure != nil && *w.failure == admissionregistrationv1.Ignore {
		return ""
	}
	for _, k := range kinds.All() {
		if w.asksAbout(k.GVKs[0].Group, k.Resource) {
			return "jobs"
		}
	}
	if w.asksAbout("", "pods") {
		return "pods"
	}
	return ""
}

func (w otherWebhook) asksAbout(group, resource string) bool {
	has := func(all []string, names ...string) bool {
		return slices.ContainsFunc(all, func(name string) bool { return slices.Contains(names, name) })
	}
	return slices.ContainsFunc(w.rules, func(r admissionregistrationv1.RuleWithOperations) bool {
		return has(r.APIGroups, group, "*") && has(r.Resources, resource, "*", "*/*")
	})
}

func answers(all []discoveryv1.EndpointSlice) bool {
	return slices.ContainsFunc(all, func(s discoveryv1.EndpointSlice) bool {
		return slices.ContainsFunc(s.Endpoints, func(p discoveryv1.Endpoint) bool { return p.Conditions.Ready == nil || *p.Conditions.Ready })
	})
}
