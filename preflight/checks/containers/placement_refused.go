package containers

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// refusedAffinity: what nodes and other pods are matched by has operators with the values they take, keys and
// weights. It is said of the affinity as a whole: paths below it leave no room for a message.
func refusedAffinity(r *job.Role, refuse refuse) {
	a := r.Pod.Spec.Affinity
	if a == nil {
		return
	}
	at := job.Path("affinity")
	if n := a.NodeAffinity; n != nil {
		here := r.Pod.At(at.Child("nodeAffinity"))
		if required := n.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
			if len(required.NodeSelectorTerms) == 0 {
				refuse(here, "a required node affinity has no nodeSelectorTerms, and needs one at least")
			}
			for _, t := range required.NodeSelectorTerms {
				refusedNodeTerm(here, t, refuse)
			}
		}
		for _, t := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			refusedWeight(here, t.Weight, refuse)
			refusedNodeTerm(here, t.Preference, refuse)
		}
	}
	if p := a.PodAffinity; p != nil {
		refusedPodTerms(r.Pod.At(at.Child("podAffinity")), p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution, refuse)
	}
	if p := a.PodAntiAffinity; p != nil {
		refusedPodTerms(r.Pod.At(at.Child("podAntiAffinity")), p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution, refuse)
	}
}

func refusedWeight(at job.Path, weight int32, refuse refuse) {
	if weight < 1 || weight > 100 {
		refuse(at, "a preference has weight %d; it takes 1 to 100", weight)
	}
}

func refusedNodeTerm(at job.Path, t corev1.NodeSelectorTerm, refuse refuse) {
	for _, e := range t.MatchExpressions {
		refusedExpression(at, e.Key, string(e.Operator), len(e.Values), []string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"}, refuse)
	}
	for _, e := range t.MatchFields {
		if e.Key != metav1.ObjectNameField {
			refuse(at, "a node is matched by field %q; the only field there is is %s", e.Key, metav1.ObjectNameField)
		}
	}
}

// refusedExpression: In and NotIn take values, Exists and DoesNotExist none, Gt and Lt one.
func refusedExpression(at job.Path, key, operator string, values int, known []string, refuse refuse) {
	switch {
	case !slices.Contains(known, operator):
		refuse(at, "the expression of %s has operator %q; it takes %s", key, operator, joined(known))
	case (operator == "In" || operator == "NotIn") && values == 0:
		refuse(at, "the expression of %s has operator %s and no values", key, operator)
	case (operator == "Exists" || operator == "DoesNotExist") && values > 0:
		refuse(at, "the expression of %s has operator %s, which takes no values", key, operator)
	case (operator == "Gt" || operator == "Lt") && values != 1:
		refuse(at, "the expression of %s has operator %s, which takes one value", key, operator)
	}
}

func refusedSelector(at job.Path, s *metav1.LabelSelector, refuse refuse) {
	if s == nil {
		return
	}
	for _, e := range s.MatchExpressions {
		refusedExpression(at, e.Key, string(e.Operator), len(e.Values), []string{"In", "NotIn", "Exists", "DoesNotExist"}, refuse)
	}
}

func refusedPodTerms(at job.Path, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm, refuse refuse) {
	term := func(t corev1.PodAffinityTerm) {
		if t.TopologyKey == "" {
			refuse(at, "a pod affinity has no topologyKey, such as kubernetes.io/hostname")
		}
		refusedSelector(at, t.LabelSelector, refuse)
		refusedKeys(at, t.LabelSelector, t.MatchLabelKeys, t.MismatchLabelKeys, refuse)
	}
	for _, t := range required {
		term(t)
	}
	for _, t := range preferred {
		refusedWeight(at, t.Weight, refuse)
		term(t.PodAffinityTerm)
	}
}

// refusedKeys: labels whose values are the pod's own belong to a selector, and are not in it already.
func refusedKeys(at job.Path, s *metav1.LabelSelector, match, mismatch []string, refuse refuse) {
	if s == nil && len(match)+len(mismatch) > 0 {
		refuse(at, "matchLabelKeys and mismatchLabelKeys go with a labelSelector only")
		return
	}
	for _, key := range match {
		_, selected := s.MatchLabels[key]
		selected = selected || slices.ContainsFunc(s.MatchExpressions, func(e metav1.LabelSelectorRequirement) bool { return e.Key == key })
		switch {
		case slices.Contains(mismatch, key):
			refuse(at, "%s is in matchLabelKeys and in mismatchLabelKeys", key)
		case selected:
			refuse(at, "%s is in matchLabelKeys and in labelSelector", key)
		}
	}
}

// refusedSpread: a skew of one at least, over a named label, by a word that is known.
func refusedSpread(r *job.Role, refuse refuse) {
	type once struct {
		key  string
		when corev1.UnsatisfiableConstraintAction
	}
	seen := map[once]bool{}
	for i, c := range r.Pod.Spec.TopologySpreadConstraints {
		at := r.Pod.At(job.Path("topologySpreadConstraints").Index(i))
		same := once{c.TopologyKey, c.WhenUnsatisfiable}
		switch {
		case c.MaxSkew < 1:
			refuse(at, "a spread has maxSkew %d; it takes 1 or more", c.MaxSkew)
		case c.TopologyKey == "":
			refuse(at, "a spread has no topologyKey, such as kubernetes.io/hostname")
		case c.WhenUnsatisfiable != corev1.DoNotSchedule && c.WhenUnsatisfiable != corev1.ScheduleAnyway:
			refuse(at, "a spread has whenUnsatisfiable %q; it takes DoNotSchedule or ScheduleAnyway", c.WhenUnsatisfiable)
		case c.MinDomains != nil && *c.MinDomains < 1:
			refuse(at, "a spread has minDomains %d; it takes 1 or more", *c.MinDomains)
		case c.MinDomains != nil && c.WhenUnsatisfiable != corev1.DoNotSchedule:
			refuse(at, "a spread has minDomains and whenUnsatisfiable %s; it goes with DoNotSchedule only", c.WhenUnsatisfiable)
		case seen[same]:
			refuse(at, "two spreads are over %s with whenUnsatisfiable %s", c.TopologyKey, c.WhenUnsatisfiable)
		}
		seen[same] = true
		refusedPolicy(at.Child("nodeAffinityPolicy"), c.NodeAffinityPolicy, refuse)
		refusedPolicy(at.Child("nodeTaintsPolicy"), c.NodeTaintsPolicy, refuse)
		refusedSelector(at, c.LabelSelector, refuse)
		refusedKeys(at, c.LabelSelector, c.MatchLabelKeys, nil, refuse)
	}
}

func refusedPolicy(at job.Path, policy *corev1.NodeInclusionPolicy, refuse refuse) {
	if policy != nil && *policy != corev1.NodeInclusionPolicyHonor && *policy != corev1.NodeInclusionPolicyIgnore {
		refuse(at, "a spread counts nodes by %q; it takes Honor or Ignore", *policy)
	}
}
