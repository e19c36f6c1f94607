package job

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Parts are equal parts of a role that choose their neighbours by themselves, as the Jobs of a JobSet do: the pods of each
// carry a label with a value of their own.
type Parts struct {
	Label  string
	Values []string // by part
	By     string   // the annotation that asks for it
}

// OwnPart stands in an affinity between pods for the value that the pod's own part has.
const OwnPart = ""

// Pod is the pod of the part that has a value.
func (p *Parts) Pod(of Pod, value string) Pod {
	of.Labels, of.Marks.Labels = maps.Clone(of.Labels), maps.Clone(of.Marks.Labels)
	for _, all := range []*map[string]string{&of.Labels, &of.Marks.Labels} {
		if *all == nil {
			*all = map[string]string{}
		}
		(*all)[p.Label] = value
	}
	other := func(key string) bool { return key == p.Label }
	of.Marks.Varies = slices.DeleteFunc(slices.Clone(of.Marks.Varies), other)
	of.Spec.Affinity = of.Spec.Affinity.DeepCopy()
	if a := of.Spec.Affinity; a != nil && a.PodAffinity != nil {
		p.settle(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, value)
	}
	if a := of.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		p.settle(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, value)
	}
	return of
}

// settle writes the part's value where OwnPart stands for it.
func (p *Parts) settle(terms []corev1.PodAffinityTerm, value string) {
	for i := range terms {
		if terms[i].LabelSelector == nil {
			continue
		}
		for k := range terms[i].LabelSelector.MatchExpressions {
			if r := &terms[i].LabelSelector.MatchExpressions[k]; r.Key == p.Label && slices.Equal(r.Values, []string{OwnPart}) {
				r.Values = []string{value}
			}
		}
	}
}
