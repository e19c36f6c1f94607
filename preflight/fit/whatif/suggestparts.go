package whatif

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
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

// inParts says that a role of the job is taken apart.
func (q *suggester) inParts() bool {
	return slices.ContainsFunc(q.gang.Groups, func(g gang.Group) bool { return g.Part != nil })
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

// withoutTerms is an affinity without the required terms about other pods that some are.
func withoutTerms(a *corev1.Affinity, some func(corev1.PodAffinityTerm) bool) *corev1.Affinity {
	if a == nil || a.PodAffinity == nil && a.PodAntiAffinity == nil {
		return a
	}
	a = a.DeepCopy()
	if a.PodAffinity != nil {
		of := &a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*of = slices.DeleteFunc(*of, some)
	}
	if a.PodAntiAffinity != nil {
		of := &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*of = slices.DeleteFunc(*of, some)
	}
	return a
}

// ofParts says which terms are those by which the parts of a role keep apart, by the label of the parts: its author
// wrote the others.
func ofParts(label string) func(corev1.PodAffinityTerm) bool {
	return func(t corev1.PodAffinityTerm) bool {
		return t.LabelSelector != nil && slices.ContainsFunc(t.LabelSelector.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool { return r.Key == label })
	}
}

// looserParts drops the rule by which parts keep apart, and the rules that the author of a job in parts wrote himself.
func (q *suggester) looserParts(by string) {
	without := func(what string, terms func(label string) func(corev1.PodAffinityTerm) bool) {
		g := q.with(func(_ int, g *gang.Group) {
			label := ""
			if g.Part != nil {
				label = g.Part.Label
			}
			g.Pod.Spec.Affinity = withoutTerms(g.Pod.Spec.Affinity, terms(label))
		})
		q.keepOn(g, assign.NewCycle(q.s, g, q.cycle.Budget), "fits without %s", what)
	}
	without(by, ofParts)
	if slices.ContainsFunc(q.gang.Groups, hasOwnTerms) {
		without("the required affinity and anti-affinity to other pods, but for "+by, func(label string) func(corev1.PodAffinityTerm) bool {
			return func(t corev1.PodAffinityTerm) bool { return !ofParts(label)(t) }
		})
	}
}

// hasOwnTerms says that a group has required terms about other pods that are not those of its parts.
func hasOwnTerms(g gang.Group) bool {
	label := ""
	if g.Part != nil {
		label = g.Part.Label
	}
	terms := slices.Concat(podspec.PodAffinity(&g.Pod.Spec), podspec.AntiAffinity(&g.Pod.Spec))
	return slices.ContainsFunc(terms, func(t corev1.PodAffinityTerm) bool { return !ofParts(label)(t) })
}
