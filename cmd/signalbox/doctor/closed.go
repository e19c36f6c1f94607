package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/webhook"
)

// closedPart is the webhook configuration that refuses jobs of chosen namespaces while no replica answers.
const closedPart = "closed on failure"

// switchOff opens the namespaces that are closed on failure, at once.
const switchOff = "kubectl delete validatingwebhookconfiguration " + webhook.ClosedConfigurationName

// closed looks at the second configuration. Where neither it nor a setting is there, nothing is said: it was not asked for.
func (d *doctor) closed(ctx context.Context, e *examination, settings *config.Config, pods *appsv1.Deployment) {
	found, err := d.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, webhook.ClosedConfigurationName, metav1.GetOptions{})
	wanted := settings != nil && settings.Webhook.Closed.Enabled
	switch {
	case apierrors.IsNotFound(err) && wanted:
		e.wrong(closedPart, d.install()+" --set closed.enabled=true", "webhook.closed.enabled wants it, and there is no %s: chosen namespaces are open", webhook.ClosedConfigurationName)
		return
	case apierrors.IsNotFound(err):
		return
	case err != nil:
		e.unknown(closedPart, err)
		return
	}
	at := slices.IndexFunc(found.Webhooks, func(w admissionregistrationv1.ValidatingWebhook) bool { return w.Name == webhook.ClosedName })
	if at < 0 {
		e.wrong(closedPart, d.install()+" --set closed.enabled=true", "%s holds no webhook called %s", found.Name, webhook.ClosedName)
		return
	}
	hook, before := &found.Webhooks[at], len(e.Parts)
	if settings != nil && !wanted {
		e.wrong(closedPart, switchOff+", or set webhook.closed.enabled", "%s is installed, and the settings say that it is not: nobody renews its CA, and no metric watches it", found.Name)
	}
	if p := hook.FailurePolicy; p == nil || *p != admissionregistrationv1.Fail {
		e.wrong(closedPart, d.install()+" --set closed.enabled=true", "failurePolicy is not Fail: chosen namespaces are open")
	}
	d.closedService(ctx, e, hook)
	if pods != nil && pods.Spec.Replicas != nil && *pods.Spec.Replicas < webhook.LeastClosed {
		e.wrong(closedPart, fmt.Sprintf("%s scale deployment signalbox --replicas=%d", d.kubectl(), webhook.LeastClosed),
			"%d of the %d replicas that it takes: each restart refuses all jobs of the chosen namespaces", *pods.Spec.Replicas, webhook.LeastClosed)
	}
	chosen, known := d.chosen(ctx, e, hook)
	d.certificate(e, "certificate of "+found.Name, hook)
	if known && !slices.ContainsFunc(e.Parts[before:], func(p Examined) bool { return p.Part == closedPart && p.State != partFine }) {
		if len(chosen) == 0 {
			e.fine(closedPart, "no namespace is chosen")
			return
		}
		e.fine(closedPart, "%s: %s", terminal.Count(len(chosen), "namespace"), strings.Join(firstNames(chosen), ", "))
	}
}

// closedService says where the API server asks, if that is not our own Service and path, and that nothing is there.
func (d *doctor) closedService(ctx context.Context, e *examination, hook *admissionregistrationv1.ValidatingWebhook) {
	service := hook.ClientConfig.Service
	if service == nil { // a process outside of the cluster: its address says nothing
		return
	}
	path := ""
	if service.Path != nil {
		path = *service.Path
	}
	if service.Namespace != d.own || path != webhook.ClosedPath {
		e.wrong(closedPart, d.install()+" --set closed.enabled=true", "it asks Service %s/%s at %q; expected namespace %s and %q: all jobs of chosen namespaces may be refused",
			service.Namespace, service.Name, path, d.own, webhook.ClosedPath)
		return
	}
	behind, err := d.kube.DiscoveryV1().EndpointSlices(service.Namespace).List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + service.Name})
	switch {
	case err != nil:
		e.unknown(closedPart, err)
	case !answers(behind.Items):
		e.wrong(closedPart, switchOff, "nobody is behind Service %s/%s: all jobs of chosen namespaces are refused until somebody is", service.Namespace, service.Name)
	}
}

// chosen are the namespaces that are closed. One that carries the label and is not chosen is named, and so is one of
// the cluster's own that is.
func (d *doctor) chosen(ctx context.Context, e *examination, hook *admissionregistrationv1.ValidatingWebhook) (names []string, known bool) {
	selector, err := metav1.LabelSelectorAsSelector(hook.NamespaceSelector)
	if err != nil {
		e.unknown(closedPart, err)
		return nil, false
	}
	all, err := d.kube.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		e.unknown(closedPart, err)
		return nil, false
	}
	byLabel := hook.NamespaceSelector != nil && hook.NamespaceSelector.MatchLabels[webhook.ClosedLabel] == webhook.ClosedValue
	own := []string{metav1.NamespaceSystem, metav1.NamespacePublic, "kube-node-lease", d.own}
	for _, n := range all.Items {
		set := labels.Set{}
		maps.Copy(set, n.Labels)
		set[corev1.LabelMetadataName] = n.Name
		switch {
		case selector.Matches(set) && slices.Contains(own, n.Name):
			e.wrong(closedPart, d.install()+" --set closed.enabled=true", "namespace %s is chosen: while no replica answers, nothing is created there, Signalbox neither", n.Name)
		case selector.Matches(set):
			names = append(names, n.Name)
		case byLabel && n.Labels[webhook.ClosedLabel] == webhook.ClosedValue && preflight.ModeOf(n.Labels) != preflight.ModeEnforce && !slices.Contains(own, n.Name):
			e.wrong(closedPart, fmt.Sprintf("kubectl label namespace %s %s=%s --overwrite", word(n.Name), preflight.ModeLabel, preflight.ModeEnforce),
				"namespace %s is labelled %s=%s and does not enforce: it is open", n.Name, webhook.ClosedLabel, webhook.ClosedValue)
		}
	}
	slices.Sort(names)
	return names, true
}

// firstNames are the first of many.
func firstNames(all []string) []string {
	const most = 5
	if len(all) <= most {
		return all
	}
	return append(slices.Clone(all[:most]), fmt.Sprintf("and %d more", len(all)-most))
}
