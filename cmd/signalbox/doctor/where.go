package doctor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/signalbox-dev/signalbox/preflight"
)

// mostTried bounds how many namespaces are read to find one that the webhook is asked about.
const mostTried = 500

// modes are what policies may do in each namespace. A label that is none of them is taken for warn, and somebody
// believes the namespace to be guarded.
func (d *doctor) modes(ctx context.Context, e *examination) {
	const part = "modes of namespaces"
	all, err := d.kube.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		e.unknown(part, err)
		return
	}
	counts, odd, first := map[string]int{}, []string{}, ""
	for i := range all.Items {
		label, mode := all.Items[i].Labels[preflight.ModeLabel], preflight.ModeOf(all.Items[i].Labels)
		counts[mode]++
		if label != "" && label != mode {
			first = cmp.Or(first, all.Items[i].Name)
			odd = append(odd, fmt.Sprintf("%s (%q)", all.Items[i].Name, label))
		}
	}
	if len(odd) > 0 {
		e.wrong(part, fmt.Sprintf("kubectl label namespace %s %s=%s --overwrite", word(first), preflight.ModeLabel, preflight.ModeEnforce),
			"%s=off, warn or enforce says what policies may do; what namespaces carry instead is taken for warn: %s", preflight.ModeLabel, strings.Join(firstNames(odd), ", "))
		return
	}
	e.fine(part, "%d warn, %d enforce, %d off", counts[preflight.ModeWarn], counts[preflight.ModeEnforce], counts[preflight.ModeOff])
}

// tried is the namespace of the dry run: the one of the context, unless the webhook is not asked about it. Silence there
// would say nothing of the webhook, so another one is taken, but for one that was asked for.
func (d *doctor) tried(ctx context.Context, hook *admissionregistrationv1.ValidatingWebhook) (string, error) {
	in, err := d.chosenBy(ctx, hook)
	if err != nil {
		return "", err
	}
	asked := func(n *corev1.Namespace) bool { return in(n) && preflight.ModeOf(n.Labels) != preflight.ModeOff }
	ours, err := d.kube.CoreV1().Namespaces().Get(ctx, d.namespace, metav1.GetOptions{})
	if err != nil {
		ours = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: d.namespace}} // the dry run says what is with it
	}
	if asked(ours) {
		return d.namespace, nil
	}
	if d.named {
		return "", leftOut(ours, "")
	}
	all, err := d.kube.CoreV1().Namespaces().List(ctx, metav1.ListOptions{Limit: mostTried})
	if err != nil {
		return "", leftOut(ours, ", and the others may not be listed")
	}
	for i := range all.Items {
		n := &all.Items[i]
		if n.DeletionTimestamp == nil && !strings.HasPrefix(n.Name, "kube-") && asked(n) {
			return n.Name, nil
		}
	}
	of := ""
	if all.Continue != "" {
		of = "the first "
	}
	return "", leftOut(ours, fmt.Sprintf(", and no other of %s%d is reviewed", of, len(all.Items)))
}

// chosenBy says whether jobs of a namespace get to the webhook, whatever the mode of the namespace.
func (d *doctor) chosenBy(ctx context.Context, hook *admissionregistrationv1.ValidatingWebhook) (func(*corev1.Namespace) bool, error) {
	selector, err := metav1.LabelSelectorAsSelector(hook.NamespaceSelector)
	if err != nil {
		return nil, fmt.Errorf("read the namespaceSelector: %w", err)
	}
	if hook.NamespaceSelector == nil {
		selector = labels.Everything() // as the API server takes it
	}
	excluded := []string{d.own}
	if settings := d.settings(ctx, &examination{}); settings != nil { // what is wrong with them is said elsewhere
		excluded = append(excluded, settings.Webhook.Exclude...)
	}
	return func(n *corev1.Namespace) bool {
		of := labels.Set{corev1.LabelMetadataName: n.Name}
		maps.Copy(of, n.Labels)
		return !slices.Contains(excluded, n.Name) && selector.Matches(of)
	}, nil
}

// leftOut says why a dry run in a namespace would tell nothing.
func leftOut(n *corev1.Namespace, others string) error {
	if preflight.ModeOf(n.Labels) == preflight.ModeOff {
		return fmt.Errorf("namespace %s is labelled %s=off%s; name another with -n", n.Name, preflight.ModeLabel, others)
	}
	return fmt.Errorf("namespace %s is left out by the webhook's namespaceSelector or webhook.exclude%s; name another with -n", n.Name, others)
}
