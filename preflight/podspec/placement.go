package podspec

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// affinity: what nodes and other pods are matched by has operators with the values they take, keys and
// weights. It is said of the affinity as a whole: paths below it leave no room for a message.
func (r *refusals) affinity(pod *job.Pod) {
	a := pod.Spec.Affinity
	if a == nil {
		return
	}
	at := job.Path("affinity")
	if n := a.NodeAffinity; n != nil {
		here := at.Child("nodeAffinity")
		if required := n.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
			if len(required.NodeSelectorTerms) == 0 {
				r.add(here, "a required node affinity has no nodeSelectorTerms, and needs one at least")
			}
			for _, t := range required.NodeSelectorTerms {
				r.nodeTerm(here, t)
			}
		}
		for _, t := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			r.weight(here, t.Weight)
			r.nodeTerm(here, t.Preference)
		}
	}
	if p := a.PodAffinity; p != nil {
		r.podTerms(pod, at.Child("podAffinity"), p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		r.podTerms(pod, at.Child("podAntiAffinity"), p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

func (r *refusals) weight(at job.Path, weight int32) {
	if weight < 1 || weight > 100 {
		r.add(at, "a preference has weight %d; it takes 1 to 100", weight)
	}
}

func (r *refusals) nodeTerm(at job.Path, t corev1.NodeSelectorTerm) {
	for _, e := range t.MatchExpressions {
		r.expression(at, e.Key, string(e.Operator), len(e.Values), []string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"})
	}
	for _, e := range t.MatchFields {
		if e.Key != metav1.ObjectNameField {
			r.add(at, "a node is matched by field %q; the only field there is is %s", e.Key, metav1.ObjectNameField)
		}
	}
}

// expression: In and NotIn take values, Exists and DoesNotExist none, Gt and Lt one.
func (r *refusals) expression(at job.Path, key, operator string, values int, known []string) {
	switch {
	case !slices.Contains(known, operator):
		r.add(at, "the expression of %s has operator %q; it takes %s", key, operator, strings.Join(known, ", "))
	case (operator == "In" || operator == "NotIn") && values == 0:
		r.add(at, "the expression of %s has operator %s and no values", key, operator)
	case (operator == "Exists" || operator == "DoesNotExist") && values > 0:
		r.add(at, "the expression of %s has operator %s, which takes no values", key, operator)
	case (operator == "Gt" || operator == "Lt") && values != 1:
		r.add(at, "the expression of %s has operator %s, which takes one value", key, operator)
	}
}

func (r *refusals) selector(at job.Path, s *metav1.LabelSelector) {
	if s == nil {
		return
	}
	for _, e := range s.MatchExpressions {
		r.expression(at, e.Key, string(e.Operator), len(e.Values), []string{"In", "NotIn", "Exists", "DoesNotExist"})
	}
}

func (r *refusals) podTerms(pod *job.Pod, at job.Path, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
	term := func(t corev1.PodAffinityTerm) {
		if t.TopologyKey == "" {
			r.add(at, "a pod affinity has no topologyKey, such as kubernetes.io/hostname")
		}
		r.selector(at, t.LabelSelector)
		r.keysOfLabels(pod, at, t.LabelSelector, t.MatchLabelKeys, t.MismatchLabelKeys)
	}
	for _, t := range required {
		term(t)
	}
	for _, t := range preferred {
		r.weight(at, t.Weight)
		term(t.PodAffinityTerm)
	}
}

// keysOfLabels: labels whose values are the pod's own belong to a selector, and are not in it already. The API server
// writes those that the pod has into the selector, and then takes none of them that is there twice; one that the pod
// lacks is left out (pkg/registry/core/pod/strategy.go, applyLabelKeysToLabelSelector). Before 1.34 it took no key of a
// spread that was in the selector, either.
func (r *refusals) keysOfLabels(pod *job.Pod, at job.Path, s *metav1.LabelSelector, match, mismatch []string) {
	if s == nil && len(match)+len(mismatch) > 0 {
		r.add(at, "matchLabelKeys and mismatchLabelKeys go with a labelSelector only")
		return
	}
	for i, key := range match {
		if slices.Contains(match[:i], key) {
			continue
		}
		selected, written := 0, 0
		if _, is := s.MatchLabels[key]; is {
			selected++
		}
		for _, e := range s.MatchExpressions {
			if e.Key == key {
				selected++
			}
		}
		if _, is, varies, _ := pod.Label(key); is == job.Present || varies {
			for _, other := range match[i:] {
				if other == key {
					written++
				}
			}
		}
		switch {
		case slices.Contains(mismatch, key):
			r.add(at, "%s is in matchLabelKeys and in mismatchLabelKeys", key)
		case selected > 0 && selected+written > 1:
			r.add(at, "%s is in matchLabelKeys and in labelSelector", key)
		case written > 1:
			r.add(at, "%s is in matchLabelKeys twice", key)
		}
	}
}

// spread: a skew of one at least, over a named label, by a word that is known.
func (r *refusals) spread(pod *job.Pod) {
	type once struct {
		key  string
		when corev1.UnsatisfiableConstraintAction
	}
	var seen []once
	for i, c := range pod.Spec.TopologySpreadConstraints {
		at := job.Path("topologySpreadConstraints").Index(i)
		same := once{c.TopologyKey, c.WhenUnsatisfiable}
		switch {
		case c.MaxSkew < 1:
			r.add(at, "a spread has maxSkew %d; it takes 1 or more", c.MaxSkew)
		case c.TopologyKey == "":
			r.add(at, "a spread has no topologyKey, such as kubernetes.io/hostname")
		case c.WhenUnsatisfiable != corev1.DoNotSchedule && c.WhenUnsatisfiable != corev1.ScheduleAnyway:
			r.add(at, "a spread has whenUnsatisfiable %q; it takes DoNotSchedule or ScheduleAnyway", c.WhenUnsatisfiable)
		case c.MinDomains != nil && *c.MinDomains < 1:
			r.add(at, "a spread has minDomains %d; it takes 1 or more", *c.MinDomains)
		case c.MinDomains != nil && c.WhenUnsatisfiable != corev1.DoNotSchedule:
			r.add(at, "a spread has minDomains and whenUnsatisfiable %s; it goes with DoNotSchedule only", c.WhenUnsatisfiable)
		case slices.Contains(seen, same):
			r.add(at, "two spreads are over %s with whenUnsatisfiable %s", c.TopologyKey, c.WhenUnsatisfiable)
		}
		seen = append(seen, same)
		r.policy(at.Child("nodeAffinityPolicy"), c.NodeAffinityPolicy)
		r.policy(at.Child("nodeTaintsPolicy"), c.NodeTaintsPolicy)
		r.selector(at, c.LabelSelector)
		r.keysOfLabels(pod, at, c.LabelSelector, c.MatchLabelKeys, nil)
	}
}

func (r *refusals) policy(at job.Path, policy *corev1.NodeInclusionPolicy) {
	if policy != nil && *policy != corev1.NodeInclusionPolicyHonor && *policy != corev1.NodeInclusionPolicyIgnore {
		r.add(at, "a spread counts nodes by %q; it takes Honor or Ignore", *policy)
	}
}
