package whatif

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// looserRules drops the rules by which pods choose their neighbours, one at a time: a
// spread that must hold, affinity, anti-affinity; and it lets several nodes use a claim.
func (q *suggester) looserRules() {
	for _, key := range firstOf(q, "spreads", q.spreads()) {
		q.drop("fits without the spread over "+key, func(spec *corev1.PodSpec) {
			spec.TopologySpreadConstraints = slices.DeleteFunc(slices.Clone(spec.TopologySpreadConstraints), func(c corev1.TopologySpreadConstraint) bool {
				return c.TopologyKey == key && c.WhenUnsatisfiable != corev1.ScheduleAnyway
			})
		})
	}
	if by := q.apartBy(); by != "" {
		q.looserParts(by)
		q.widerClaim()
		return
	}
	has := func(terms func(*corev1.PodSpec) []corev1.PodAffinityTerm) bool {
		return slices.ContainsFunc(q.gang.Groups, func(g gang.Group) bool { return len(terms(&g.Pod.Spec)) > 0 })
	}
	if has(podspec.PodAffinity) {
		q.drop("fits without "+q.affinityText(), func(spec *corev1.PodSpec) {
			if spec.Affinity != nil {
				free := *spec.Affinity
				free.PodAffinity, spec.Affinity = nil, &free
			}
		})
	}
	if has(podspec.AntiAffinity) {
		q.drop("fits without the required pod anti-affinity", func(spec *corev1.PodSpec) {
			if spec.Affinity != nil {
				free := *spec.Affinity
				free.PodAntiAffinity, spec.Affinity = nil, &free
			}
		})
	}
	q.widerClaim()
}

// affinityText is what the required pod affinity of the gang stands for: an annotation that asks for it, what its
// author wrote, or both.
func (q *suggester) affinityText() string {
	var by []string
	written := false
	for i := range q.gang.Groups {
		g := &q.gang.Groups[i]
		own := len(podspec.PodAffinity(&g.Pod.Spec))
		if g.Near != "" {
			by, own = append(by, g.Near), own-1
		}
		written = written || own > 0
	}
	by = assign.Distinct(by)
	if written {
		by = append(by, "the required pod affinity")
	}
	return strings.Join(by, " and ")
}

// spreads are the topologies over which pods must spread, in order.
func (q *suggester) spreads() []string {
	var keys []string
	for i := range q.gang.Groups {
		for _, c := range q.gang.Groups[i].Pod.Spec.TopologySpreadConstraints {
			if c.WhenUnsatisfiable != corev1.ScheduleAnyway {
				keys = append(keys, c.TopologyKey)
			}
		}
	}
	return assign.Distinct(keys)
}

// drop tries the gang without a rule.
func (q *suggester) drop(text string, change func(*corev1.PodSpec)) {
	g := q.with(func(_ int, g *gang.Group) { change(&g.Pod.Spec) })
	q.keepOn(g, assign.NewCycle(q.s, g, q.cycle.Budget), "%s", text)
}

// widerClaim asks whether it is a claim for one pod or one node that stands in the way.
func (q *suggester) widerClaim() {
	for i := range q.cycle.Facts {
		for _, c := range q.cycle.Facts[i].Claims {
			if c.Claim == "" || !c.Once && c.Node != assign.SameNode {
				continue
			}
			devices := strings.HasPrefix(c.Claim, assign.SharedClaim)
			cycle := assign.NewCycle(q.s, q.gang, q.cycle.Budget)
			for at := range cycle.Facts {
				for k := range cycle.Facts[at].Claims {
					if u := &cycle.Facts[at].Claims[k]; u.Claim == c.Claim {
						if u.Once, u.Node = false, assign.AnyNode; devices {
							u.Claim = ""
						}
					}
				}
			}
			if devices {
				q.keepOn(q.gang, cycle, "fits with a ResourceClaim for each pod (resourceClaimTemplateName) instead of the %s", c.Claim)
				return
			}
			q.keepOn(q.gang, cycle, "fits with a claim that many nodes can use (ReadWriteMany) instead of %s", c.Claim)
			return
		}
	}
}
