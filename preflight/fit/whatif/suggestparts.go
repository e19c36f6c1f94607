package whatif

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/gang"
)

// parts is how many parts the role has whose first is a group.
func (q *suggester) parts(first int) (n int) {
	for _, g := range q.gang.Groups[first:] {
		if g.Part == nil || g.Name != q.gang.Groups[first].Name {
			break
		}
		n++
	}
	return n
}

// inFewerParts keeps so many parts of the role whose first is a group; what other roles have of the others goes with them.
func (q *suggester) inFewerParts(first, parts int) gang.Gang {
	gone := map[string]bool{}
	for _, g := range q.gang.Groups[first+parts : first+q.parts(first)] {
		gone[g.Part.Value] = true
	}
	return q.with(func(_ int, g *gang.Group) {
		if g.Part != nil && gone[g.Part.Value] {
			g.Count, g.Min = 0, 0
		}
	})
}

// apartBy is the annotation by which parts of the job keep apart; empty: none do.
func (q *suggester) apartBy() string {
	for _, g := range q.gang.Groups {
		if g.Part != nil {
			return g.Part.By
		}
	}
	return ""
}

// withoutPart is an affinity without the terms by which the parts of a role keep apart.
func withoutPart(a *corev1.Affinity, label string) *corev1.Affinity {
	if a == nil || a.PodAffinity == nil || a.PodAntiAffinity == nil {
		return a // it has no such terms
	}
	a = a.DeepCopy()
	about := func(t corev1.PodAffinityTerm) bool {
		return t.LabelSelector != nil && slices.ContainsFunc(t.LabelSelector.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool { return r.Key == label })
	}
	for _, terms := range []*[]corev1.PodAffinityTerm{
		&a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
	} {
		*terms = slices.DeleteFunc(*terms, about)
	}
	return a
}
