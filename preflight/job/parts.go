package job

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Parts are equal parts of a role that choose their neighbours by themselves, as the Jobs of a JobSet do: the pods of each
// carry a label with a value of their own.
type Parts struct {
	Label         string
	Values        []string // by part
	By            string   // the annotation that asks for it; empty: rules between the pods do
	PriorityLabel string   // a label that says the priority of the pods, which keep apart from those of their own; empty: from all
}

// Own stands in an affinity between pods for the value that the pod itself has.
const Own = ""

// Pod is the pod of the part that has a value; priority: that of the pod, as a label says it (empty: not known).
func (p *Parts) Pod(of Pod, value, priority string) Pod {
	of.Labels, of.Marks.Labels = maps.Clone(of.Labels), maps.Clone(of.Marks.Labels)
	for _, all := range []*map[string]string{&of.Labels, &of.Marks.Labels} {
		if *all == nil {
			*all = map[string]string{}
		}
		if (*all)[p.Label] = value; p.PriorityLabel != "" && priority != "" {
			(*all)[p.PriorityLabel] = priority
		}
	}
	known := func(key string) bool { return key == p.Label || key == p.PriorityLabel && priority != "" }
	of.Marks.Varies = slices.DeleteFunc(slices.Clone(of.Marks.Varies), known)
	of.Marks.Some = slices.DeleteFunc(slices.Clone(of.Marks.Some), known)
	of.Spec.Affinity = of.Spec.Affinity.DeepCopy()
	if a := of.Spec.Affinity; a != nil && a.PodAffinity != nil {
		p.settle(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, value, priority)
	}
	if a := of.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		p.settle(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, value, priority)
	}
	return of
}

// settle writes the pod's own values where Own stands for them. Of a priority that is not known it keeps apart from all.
func (p *Parts) settle(terms []corev1.PodAffinityTerm, value, priority string) {
	for i := range terms {
		selector := terms[i].LabelSelector
		if selector == nil {
			continue
		}
		selector.MatchExpressions = slices.DeleteFunc(selector.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
			return r.Key == p.PriorityLabel && priority == "" && slices.Equal(r.Values, []string{Own})
		})
		for k := range selector.MatchExpressions {
			switch r := &selector.MatchExpressions[k]; {
			case !slices.Equal(r.Values, []string{Own}):
			case r.Key == p.Label:
				r.Values = []string{value}
			case r.Key == p.PriorityLabel:
				r.Values = []string{priority}
			}
		}
	}
}
