package capacity

import (
	"cmp"
	"fmt"
	"reflect"
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

// podAffinity are the required terms that draw pods to others.
func podAffinity(spec *corev1.PodSpec) []corev1.PodAffinityTerm {
	if spec.Affinity == nil || spec.Affinity.PodAffinity == nil {
		return nil
	}
	return spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// podTerm is a required term of pod affinity or anti-affinity, ready to be compared with
// pods.
type podTerm struct {
	topology   string
	selector   labels.Selector
	namespaces []string
	chosen     labels.Selector // of namespaces; nil: only those listed
	unread     string          // why the term cannot be judged; empty: it can
	number     int             // of an own term; see ground.number
	must       [2]string       // a label that pods need for it to be about them; empty: none, or several
}

// podTermsOf reads the terms of a pod that exists.
func podTermsOf(terms []corev1.PodAffinityTerm, namespace string) []podTerm {
	if len(terms) == 0 {
		return nil
	}
	out := make([]podTerm, len(terms))
	for i, t := range terms {
		out[i] = podTermOf(t, namespace)
	}
	return out
}

// equal says that two terms are about the same pods and topology.
func (k podTerm) equal(o podTerm) bool {
	return k.topology == o.topology && k.unread == o.unread && slices.Equal(k.namespaces, o.namespaces) &&
		reflect.DeepEqual(k.selector, o.selector) && reflect.DeepEqual(k.chosen, o.chosen)
}

// podTermOf reads a term of a pod that exists.
func podTermOf(t corev1.PodAffinityTerm, namespace string) podTerm {
	k := podTerm{topology: t.TopologyKey, namespaces: t.Namespaces}
	var err error
	if k.selector, err = metav1.LabelSelectorAsSelector(t.LabelSelector); err != nil {
		k.selector, k.unread = labels.Nothing(), "a label selector that cannot be read"
	}
	if t.LabelSelector != nil {
		for key, value := range t.LabelSelector.MatchLabels {
			if k.must[0] == "" || key < k.must[0] {
				k.must = [2]string{key, value}
			}
		}
	}
	if t.NamespaceSelector != nil {
		if k.chosen, err = metav1.LabelSelectorAsSelector(t.NamespaceSelector); err != nil {
			k.unread = "a namespace selector that cannot be read"
		}
	} else if len(t.Namespaces) == 0 {
		k.namespaces = []string{namespace}
	}
	return k
}

// ownTermOf reads a term of a pod that is to be made. The API server writes what its label
// keys mean into the selector when it makes the pod
// (https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#matchlabelkeys).
func ownTermOf(t corev1.PodAffinityTerm, namespace string, own *job.Pod) podTerm {
	if t.LabelSelector != nil && len(t.MatchLabelKeys)+len(t.MismatchLabelKeys) > 0 {
		selector := t.LabelSelector.DeepCopy()
		add := func(keys []string, op metav1.LabelSelectorOperator) {
			for _, key := range keys {
				if value, is, _, _ := own.Label(key); is == job.Present {
					selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: []string{value}})
				}
			}
		}
		add(t.MatchLabelKeys, metav1.LabelSelectorOpIn)
		add(t.MismatchLabelKeys, metav1.LabelSelectorOpNotIn)
		t.LabelSelector = selector
	}
	k := podTermOf(t, namespace)
	for _, key := range slices.Concat(t.MatchLabelKeys, t.MismatchLabelKeys) {
		if _, _, _, doubt := own.Label(key); doubt != "" && k.unread == "" {
			k.unread = doubt
		}
	}
	return k
}

// covers says whether the term looks at pods of the namespace; known is false where that
// depends on labels of the namespace that are not in the view.
func (k *podTerm) covers(s *Snapshot, namespace string) (yes, known bool) {
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

// matches says whether the term is about a pod.
func (k *podTerm) matches(s *Snapshot, namespace string, set map[string]string) (yes, known bool) {
	if k.unread != "" {
		return false, false
	}
	if !k.selector.Matches(labels.Set(set)) {
		return false, true
	}
	return k.covers(s, namespace)
}

// meets says whether the term is about the pods of a group; doubt is what that cannot be
// told for.
func (k *podTerm) meets(s *Snapshot, namespace string, p *job.Pod) (yes bool, doubt string) {
	if k.unread != "" {
		return false, k.unread
	}
	yes, doubt = p.Meets(k.selector)
	if !yes && doubt == "" {
		return false, ""
	}
	switch covers, known := k.covers(s, namespace); {
	case known && !covers:
		return false, ""
	case !known:
		return false, cmp.Or(doubt, unseenNamespaces)
	default:
		return yes, doubt
	}
}

// notJudged says that a term could not be compared with pods.
func notJudged(who, what, doubt string) string {
	return fmt.Sprintf("%s: %s by %s is not judged", who, what, cmp.Or(doubt, unseenNamespaces))
}

// barred marks the nodes that pods which exist close to a group: by their ports, by their
// anti-affinity, by its anti-affinity; nil: none. idle counts only pods that stay on an
// idle cluster: those that come back by themselves, and those of the gang.
func (on *ground) barred(t *traits, namespace string, g *Group) (idle, now []bool) {
	s := on.s
	stays := func(p *Pod) bool { return p.resident || on.stays[p] }
	if len(t.ports) == 0 && len(t.disks) == 0 && len(t.apart) == 0 && len(s.guarded) == 0 {
		return nil, nil
	}
	idle, now = make([]bool, len(s.nodes)), make([]bool, len(s.nodes))
	bar := func(p *Pod, term *podTerm) {
		if at, ok := s.nodeAt(p.node); ok {
			s.close(now, at, term.topology)
			if stays(p) {
				s.close(idle, at, term.topology)
			}
		}
	}
	if len(t.ports)+len(t.disks) > 0 {
		for at, n := range s.nodes {
			for _, p := range n.pods {
				if conflict(p.ports, t.ports) || len(t.disks) > 0 && diskConflict(p.disks, t.disks) {
					now[at], idle[at] = true, idle[at] || stays(p)
				}
			}
		}
	}
	for i := range t.apart {
		s.eachKeptAway(&t.apart[i], func(p *Pod, known bool) {
			if !known {
				t.blur(notJudged(g.Name, "anti-affinity", t.apart[i].unread))
				return
			}
			bar(p, &t.apart[i])
		})
	}
	has := map[[2]string]bool{}
	for _, p := range s.guarded {
		if !on.budget.spend(3 * len(p.apart)) {
			return idle, now
		}
		for i := range p.apart {
			term := &p.apart[i]
			if !mayHave(&g.Pod, term.must, has) {
				continue
			}
			if !on.budget.spend(stepsPerMatch) {
				return idle, now
			}
			switch yes, doubt := term.meets(s, namespace, &g.Pod); {
			case doubt != "":
				t.blur(notJudged(g.Name, "anti-affinity", doubt))
			case yes:
				bar(p, term)
			}
		}
	}
	slices.Sort(t.blind)
	return idle, now
}

// mayHave says that the pods of a role may have a label; known keeps what was asked.
func mayHave(p *job.Pod, label [2]string, known map[[2]string]bool) bool {
	if label[0] == "" {
		return true
	}
	may, asked := known[label]
	if !asked {
		value, is, _, _ := p.Label(label[0])
		may = is == job.Unknown || is == job.Present && value == label[1]
		known[label] = may
	}
	return may
}

// eachKeptAway calls back for each pod on a node that a term keeps its own pod away from,
// or of which that is not known.
func (s *Snapshot) eachKeptAway(term *podTerm, call func(p *Pod, known bool)) {
	for namespace, pods := range s.podsIn {
		if yes, known := term.covers(s, namespace); !yes && known {
			continue
		}
		for p := range pods.with(labelsOf(term.selector)) {
			if p.node == "" {
				continue
			}
			if yes, known := term.matches(s, namespace, p.labels); yes || !known {
				call(p, known)
			}
		}
	}
}

// close marks the nodes of the domain of a node.
func (s *Snapshot) close(out []bool, at int, topology string) {
	if _, ok := s.nodes[at].Labels[topology]; !ok {
		out[at] = out[at] || topology == corev1.LabelHostname
		return
	}
	if out[at] && topology == corev1.LabelHostname {
		return
	}
	column := s.labelColumn([]string{topology}).of
	for i := range out {
		out[i] = out[i] || column[i] == column[at]
	}
}

// clashes says whether pods of two kins (or of one, with itself) cannot share a node.
// What they cannot share beyond a node is for the web.
func (q *question) clashes(a, b *kin) bool {
	if conflict(a.traits.ports, b.traits.ports) || diskConflict(a.traits.disks, b.traits.disks) {
		return true
	}
	return q.apart(a, b) || q.apart(b, a)
}

func (q *question) apart(a, b *kin) bool {
	apart := false
	for i := range a.traits.apart {
		term := &a.traits.apart[i]
		rejects, doubt := q.on.meets(relation{antiAffine, term.number, 0}, b.groups[0], func() (bool, string) { return term.meets(q.s, q.gang.Namespace, b.pod) })
		switch {
		case doubt != "":
			q.blur(notJudged(a.name, "anti-affinity", doubt))
		case rejects && term.topology == corev1.LabelHostname:
			apart = true
		}
	}
	return apart
}
