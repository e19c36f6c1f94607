package capacity

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// antiAffinity are the required terms that keep pods apart.
func antiAffinity(spec *corev1.PodSpec) []corev1.PodAffinityTerm {
	if spec.Affinity == nil || spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	return spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// keepAway is a required anti-affinity term, ready to be compared with pods.
type keepAway struct {
	topology   string
	selector   labels.Selector
	namespaces []string
	chosen     labels.Selector // of namespaces; nil: only those listed
	unread     string          // why the term cannot be judged; empty: it can
}

// keepAwayOf reads a term of a pod in a namespace.
func keepAwayOf(t corev1.PodAffinityTerm, namespace string) keepAway {
	k := keepAway{topology: t.TopologyKey, namespaces: t.Namespaces}
	var err error
	if k.selector, err = metav1.LabelSelectorAsSelector(t.LabelSelector); err != nil {
		k.selector, k.unread = labels.Nothing(), "a label selector that cannot be read"
	}
	if t.NamespaceSelector != nil {
		if k.chosen, err = metav1.LabelSelectorAsSelector(t.NamespaceSelector); err != nil {
			k.unread = "a namespace selector that cannot be read"
		}
	} else if len(t.Namespaces) == 0 {
		k.namespaces = []string{namespace}
	}
	if len(t.MatchLabelKeys)+len(t.MismatchLabelKeys) > 0 {
		k.unread = "matchLabelKeys"
	}
	return k
}

// covers says whether the term looks at pods of the namespace; known is false where that
// depends on labels of the namespace that are not in the view.
func (k *keepAway) covers(s *Snapshot, namespace string) (yes, known bool) {
	if slices.Contains(k.namespaces, namespace) {
		return true, true
	}
	if k.chosen == nil {
		return false, true
	}
	if k.chosen.Empty() {
		return true, true
	}
	object, presence := s.Lookup(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, "", namespace)
	if presence != job.Present {
		return false, false
	}
	return k.chosen.Matches(labels.Set(object.GetLabels())), true
}

// rejects says whether the term keeps a pod away.
func (k *keepAway) rejects(s *Snapshot, namespace string, set map[string]string) (yes, known bool) {
	if k.unread != "" {
		return false, false
	}
	if !k.selector.Matches(labels.Set(set)) {
		return false, true
	}
	return k.covers(s, namespace)
}

// barred marks the nodes that pods which exist close to a kin: by their ports, by their
// anti-affinity, by its anti-affinity; nil: none. idle counts only pods that stay on an
// idle cluster.
func (q *question) barred(k *kin, idle bool) []bool {
	if len(k.ports) == 0 && len(k.apart) == 0 && len(q.s.guarded) == 0 {
		return nil
	}
	out := make([]bool, len(q.s.nodes))
	counts := func(p *podRecord) bool { return !idle || p.resident }
	if len(k.ports) > 0 {
		for at, n := range q.s.nodes {
			out[at] = slices.ContainsFunc(n.pods, func(p *podRecord) bool { return counts(p) && conflict(p.ports, k.ports) })
		}
	}
	for i := range k.apart {
		term := &k.apart[i]
		for namespace, pods := range q.s.podsIn {
			for _, p := range pods {
				if p.node == "" || !counts(p) {
					continue
				}
				q.close(out, k, term, p.node, namespace, p.object.Labels)
			}
		}
	}
	for _, p := range q.s.guarded {
		if !counts(p) {
			continue
		}
		for _, t := range antiAffinity(&p.object.Spec) {
			term := keepAwayOf(t, p.object.Namespace)
			q.close(out, k, &term, p.node, q.gang.Namespace, k.pod.Labels)
		}
	}
	return out
}

// close marks the nodes of the domain of a node, if the term rejects a pod.
func (q *question) close(out []bool, k *kin, term *keepAway, node, namespace string, set map[string]string) {
	rejects, known := term.rejects(q.s, namespace, set)
	if !known {
		q.blur(fmt.Sprintf("%s: anti-affinity by %s is not judged", k.name, cmp.Or(term.unread, "labels of namespaces that are not in the view")))
		return
	}
	if !rejects {
		return
	}
	at, ok := q.s.nodeAt(node)
	if !ok {
		return
	}
	if _, ok := q.s.nodes[at].Labels[term.topology]; !ok {
		out[at] = out[at] || term.topology == corev1.LabelHostname
		return
	}
	column := q.s.labelColumn(term.topology)
	for i := range out {
		out[i] = out[i] || column[i] == column[at]
	}
}

// clashes says whether pods of two kins (or of one, with itself) cannot share a node,
// and blurs the answer where they cannot share something wider than a node.
func (q *question) clashes(a, b *kin) bool {
	if conflict(a.ports, b.ports) {
		return true
	}
	return q.apart(a, b) || q.apart(b, a)
}

func (q *question) apart(a, b *kin) bool {
	apart := false
	for i := range a.apart {
		term := &a.apart[i]
		rejects, known := term.rejects(q.s, q.gang.Namespace, b.pod.Labels)
		switch {
		case !known:
			q.blur(fmt.Sprintf("%s: anti-affinity by %s is not judged", a.name, cmp.Or(term.unread, "labels of namespaces that are not in the view")))
		case rejects && term.topology == corev1.LabelHostname:
			apart = true
		case rejects:
			q.blur(fmt.Sprintf("%s: anti-affinity over %s between the job's own pods is not judged", a.name, term.topology))
		}
	}
	return apart
}
