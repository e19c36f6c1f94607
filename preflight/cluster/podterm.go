package cluster

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// PodTerm is a required term of pod affinity or anti-affinity, ready to be compared with
// pods.
type PodTerm struct {
	Topology   string
	Selector   labels.Selector
	namespaces []string
	chosen     labels.Selector // of namespaces; nil: only those listed
	Unread     string          // why the term cannot be judged; empty: it can
	Number     int             // of a term of the gang; equal terms have the same
	Must       Label           // a label that pods need for it to be about them; the zero value: none, or several
}

// Label is the key and the value of a label, held once however many pods have it: quick to compare.
type Label = unique.Handle[[2]string]

// podTermsOf reads the terms of a pod that exists.
func podTermsOf(terms []corev1.PodAffinityTerm, namespace string) []PodTerm {
	if len(terms) == 0 {
		return nil
	}
	out := make([]PodTerm, len(terms))
	for i, t := range terms {
		out[i] = podTermOf(t, namespace)
	}
	return out
}

// Equal says that two terms are about the same pods and topology.
func (k PodTerm) Equal(o PodTerm) bool {
	return k.Topology == o.Topology && k.Unread == o.Unread && slices.Equal(k.namespaces, o.namespaces) &&
		reflect.DeepEqual(k.Selector, o.Selector) && reflect.DeepEqual(k.chosen, o.chosen)
}

// podTermOf reads a term of a pod that exists.
func podTermOf(t corev1.PodAffinityTerm, namespace string) PodTerm {
	k := PodTerm{Topology: t.TopologyKey, namespaces: t.Namespaces}
	var err error
	if k.Selector, err = metav1.LabelSelectorAsSelector(t.LabelSelector); err != nil {
		k.Selector, k.Unread = labels.Nothing(), "a label selector that cannot be read"
	}
	if t.LabelSelector != nil {
		if key := slices.Sorted(maps.Keys(t.LabelSelector.MatchLabels)); len(key) > 0 {
			k.Must = unique.Make([2]string{key[0], t.LabelSelector.MatchLabels[key[0]]})
		}
	}
	if t.NamespaceSelector != nil {
		if k.chosen, err = metav1.LabelSelectorAsSelector(t.NamespaceSelector); err != nil {
			k.Unread = "a namespace selector that cannot be read"
		}
	} else if len(t.Namespaces) == 0 {
		k.namespaces = []string{namespace}
	}
	return k
}

// OwnTermOf reads a term of a pod that is to be made. The API server writes what its label
// keys mean into the selector when it makes the pod
// (https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#matchlabelkeys).
func OwnTermOf(t corev1.PodAffinityTerm, namespace string, own *job.Pod) PodTerm {
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
		if _, _, _, doubt := own.Label(key); doubt != "" && k.Unread == "" {
			k.Unread = doubt
		}
	}
	return k
}

// Covers says whether the term looks at pods of the namespace; known is false where that
// depends on labels of the namespace that are not in the view.
func (k *PodTerm) Covers(s *Snapshot, namespace string) (yes, known bool) {
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

// Matches says whether the term is about a pod.
func (k *PodTerm) Matches(s *Snapshot, namespace string, set labels.Labels) (yes, known bool) {
	if k.Unread != "" {
		return false, false
	}
	if !k.Selector.Matches(set) {
		return false, true
	}
	return k.Covers(s, namespace)
}

// Meets says whether the term is about the pods of a group; doubt is what that cannot be
// told for.
func (k *PodTerm) Meets(s *Snapshot, namespace string, p *job.Pod) (yes bool, doubt string) {
	if k.Unread != "" {
		return false, k.Unread
	}
	yes, doubt = p.Meets(k.Selector)
	if !yes && doubt == "" {
		return false, ""
	}
	switch covers, known := k.Covers(s, namespace); {
	case known && !covers:
		return false, ""
	case !known:
		return false, cmp.Or(doubt, UnseenNamespaces)
	default:
		return yes, doubt
	}
}

// UnseenNamespaces is why a term with a namespace selector may not be judged.
const UnseenNamespaces = "labels of namespaces that are not in the view"
