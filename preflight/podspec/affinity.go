package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// AntiAffinity are the required terms that keep pods apart.
func AntiAffinity(spec *corev1.PodSpec) []corev1.PodAffinityTerm {
	if spec.Affinity == nil || spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	return spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// PodAffinity are the required terms that draw pods to others.
func PodAffinity(spec *corev1.PodSpec) []corev1.PodAffinityTerm {
	if spec.Affinity == nil || spec.Affinity.PodAffinity == nil {
		return nil
	}
	return spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// NodeAffinity is what nodes have to meet by the affinity of a pod; nil: any will do.
func NodeAffinity(spec *corev1.PodSpec) *corev1.NodeSelector {
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil {
		return nil
	}
	return spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// AlsoRequired is a copy of an affinity that takes only nodes which meet requirements besides. A term without any
// takes no node, and goes on taking none (NodeSelectorTerm of k8s.io/api/core/v1).
func AlsoRequired(a *corev1.Affinity, requirements []corev1.NodeSelectorRequirement) *corev1.Affinity {
	if len(requirements) == 0 {
		return a
	}
	if a = a.DeepCopy(); a == nil {
		a = &corev1.Affinity{}
	}
	if a.NodeAffinity == nil {
		a.NodeAffinity = &corev1.NodeAffinity{}
	}
	required := &a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if *required == nil {
		*required = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: requirements}}}
		return a
	}
	for i := range (*required).NodeSelectorTerms {
		if t := &(*required).NodeSelectorTerms[i]; len(t.MatchExpressions)+len(t.MatchFields) > 0 {
			t.MatchExpressions = slices.Concat(t.MatchExpressions, requirements)
		}
	}
	return a
}
