package assign

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// SpreadTerm is a topology spread constraint that must hold, ready to be counted.
type SpreadTerm struct {
	Topology                     string
	Skew, Domains                int
	HonorsAffinity, HonorsTaints bool // which nodes have a domain that counts
	Selector                     labels.Selector
	Now, Idle                    []int32 // by node: pods there that the selector matches
}

// spreadTermOf reads a constraint of a pod that is to be made, as the scheduler does: what
// is not written has its defaults
// (https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/).
func spreadTermOf(c *corev1.TopologySpreadConstraint, own *job.Pod) (e SpreadTerm, unread string) {
	e = SpreadTerm{Topology: c.TopologyKey, Skew: int(c.MaxSkew), Domains: 1, HonorsAffinity: true}
	if c.MinDomains != nil {
		e.Domains = int(*c.MinDomains)
	}
	if c.NodeAffinityPolicy != nil {
		e.HonorsAffinity = *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor
	}
	if c.NodeTaintsPolicy != nil {
		e.HonorsTaints = *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
	}
	var err error
	if e.Selector, err = metav1.LabelSelectorAsSelector(c.LabelSelector); err != nil {
		return e, "a label selector that cannot be read"
	}
	for _, key := range c.MatchLabelKeys {
		value, is, _, doubt := own.Label(key)
		if doubt != "" {
			return e, doubt
		}
		if is == job.Absent {
			continue
		}
		if r, err := labels.NewRequirement(key, "=", []string{value}); err == nil {
			e.Selector = e.Selector.Add(*r)
		}
	}
	return e, ""
}

// counts says whether the constraint counts a pod with these labels, in its namespace.
// An empty selector counts none, though it matches all.
func (e *SpreadTerm) counts(set labels.Labels) bool {
	return !e.Selector.Empty() && e.Selector.Matches(set)
}

// CountsOf says whether the constraint counts the pods of a group; doubt is what that
// cannot be told for.
func (e *SpreadTerm) CountsOf(p *job.Pod) (yes bool, doubt string) {
	if e.Selector.Empty() {
		return false, ""
	}
	return p.Meets(e.Selector)
}

// readSpread reads the constraints of a group and counts the pods that are there.
func (cycle *Cycle) readSpread(t *podFacts, namespace string, g *gang.Group) {
	for i := range g.Pod.Spec.TopologySpreadConstraints {
		c := &g.Pod.Spec.TopologySpreadConstraints[i]
		if c.WhenUnsatisfiable == corev1.ScheduleAnyway {
			continue
		}
		e, unread := spreadTermOf(c, &g.Pod)
		if unread != "" {
			t.doubtYes(fmt.Sprintf("%s: topology spread by %s is not judged", g.Name, unread))
			continue
		}
		cycle.countSpread(&e, namespace)
		t.Spread = append(t.Spread, e)
	}
}

// countSpread counts the pods that a constraint is about, node by node. Constraints with one selector count
// the same, over whatever topology.
func (cycle *Cycle) countSpread(e *SpreadTerm, namespace string) {
	selector := e.Selector.String()
	if counted, ok := cycle.spreadPods[selector]; ok {
		e.Now, e.Idle = counted[0], counted[1]
		return
	}
	e.Now, e.Idle = make([]int32, len(cycle.s.Nodes())), make([]int32, len(cycle.s.Nodes()))
	if cycle.spreadPods == nil {
		cycle.spreadPods = map[string][2][]int32{}
	}
	cycle.spreadPods[selector] = [2][]int32{e.Now, e.Idle}
	in := cycle.s.PodLists()[namespace]
	if in == nil || e.Selector.Empty() || !cycle.Budget.Spend(len(e.Now)/4) {
		return
	}
	for p := range in.With(cluster.NeededBy(e.Selector)) {
		if !cycle.Budget.Spend(stepsPerPod) {
			return
		}
		if p.Deleted() || !e.counts(p.Labels()) {
			continue
		}
		if at, ok := cycle.s.NodeAt(p.Node()); ok {
			e.Now[at]++
			if p.Resident() || cycle.stays[p] {
				e.Idle[at]++
			}
		}
	}
}

// readAffinity reads the required affinity of a group and finds the pods that are there for it:
// those that match all of its terms.
func (cycle *Cycle) readAffinity(t *podFacts, namespace string, g *gang.Group) {
	for _, term := range podspec.PodAffinity(&g.Pod.Spec) {
		t.Affinity = append(t.Affinity, cluster.OwnTermOf(term, namespace, &g.Pod))
	}
	if len(t.Affinity) == 0 {
		return
	}
	unread, unseen := false, false
	for i := range t.Affinity {
		if t.Affinity[i].Unread != "" {
			unread = true
			t.doubtYes(NotJudged(g.Name, "affinity", t.Affinity[i].Unread))
		}
	}
	var must []cluster.NeededLabel
	for i := range t.Affinity {
		must = append(must, cluster.NeededBy(t.Affinity[i].Selector)...)
	}
	for in, pods := range cycle.s.PodLists() {
		for p := range pods.With(must) {
			if !cycle.Budget.Spend(stepsPerPod * len(t.Affinity)) {
				return
			}
			at, ok := cycle.s.NodeAt(p.Node())
			if !ok {
				continue
			}
			switch yes, known := matchesAll(cycle.s, t.Affinity, in, p.Labels()); {
			case !known && !unread:
				t.doubtYes(NotJudged(g.Name, "affinity", cluster.UnseenNamespaces))
				unseen = true
			case yes:
				t.AffinityNodes = append(t.AffinityNodes, int32(at))
			}
		}
	}
	if unseen { // they may stand near a pod that was not recognised: without the rule a no is still proven
		t.Affinity, t.AffinityNodes = nil, nil
		return
	}
	slices.Sort(t.AffinityNodes)
	t.AffinityNodes = slices.Compact(t.AffinityNodes)
}

// matchesAll says whether a pod matches every one of some terms.
func matchesAll(s *cluster.Snapshot, terms []cluster.PodTerm, namespace string, set labels.Labels) (yes, known bool) {
	known = true
	for i := range terms {
		match, sure := terms[i].Matches(s, namespace, set)
		if sure && !match {
			return false, true
		}
		known = known && sure
	}
	return known && len(terms) > 0, known
}

// MeetsAll says whether the pods of a group match every one of some terms.
func MeetsAll(s *cluster.Snapshot, terms []cluster.PodTerm, namespace string, p *job.Pod) (yes bool, doubt string) {
	for i := range terms {
		match, why := terms[i].Meets(s, namespace, p)
		if !match && why == "" {
			return false, ""
		}
		doubt = cmp.Or(doubt, why)
	}
	return doubt == "" && len(terms) > 0, doubt
}

// isConstrained says that the pods of the gang decide where others of it may go, beyond their node:
// then they cannot be counted each pod set on its own.
func (cycle *Cycle) isConstrained(g gang.Gang) bool {
	pods, claims := 0, map[string]int{}
	for i := range g.Groups {
		pods += min(2, max(0, g.Groups[i].Count))
		for _, c := range cycle.Facts[i].Claims {
			claims[c.Claim] += min(2, max(0, g.Groups[i].Count))
		}
	}
	for i := range g.Groups {
		t := &cycle.Facts[i]
		if g.Groups[i].Count <= 0 {
			continue
		}
		if len(t.Affinity)+len(t.Spread) > 0 {
			return true
		}
		for _, c := range t.Claims {
			if c.Claim != "" && claims[c.Claim] > 1 && (c.Once || c.Node != AnyNode) || cycle.limited(c.Driver) {
				return true
			}
		}
		wide := func(term cluster.PodTerm) bool { return !cycle.s.IsNode(term.Topology) }
		if pods > 1 && slices.ContainsFunc(t.AntiAffinity, func(term cluster.PodTerm) bool { return wide(term) && cycle.concerns(&term, g) }) {
			return true
		}
	}
	return false
}

// concerns says whether a term may be about pods of the gang itself.
func (cycle *Cycle) concerns(term *cluster.PodTerm, g gang.Gang) bool {
	return slices.ContainsFunc(g.Groups, func(other gang.Group) bool {
		yes, doubt := term.Meets(cycle.s, g.Namespace, &other.Pod)
		return other.Count > 0 && (yes || doubt != "")
	})
}

// topologyKeys are the labels that decide what is near and what is apart, but for the
// node's own name.
func (cycle *Cycle) topologyKeys() []string {
	var out []string
	add := func(key string) {
		if !cycle.s.IsNode(key) {
			out = append(out, key)
		}
	}
	for i := range cycle.Facts {
		t := &cycle.Facts[i]
		for _, term := range slices.Concat(t.Affinity, t.AntiAffinity) {
			add(term.Topology)
		}
		for _, e := range t.Spread {
			add(e.Topology)
		}
	}
	return Distinct(out)
}

// splitByTopology splits the node groups until all nodes of one are alike for every rule between pods.
func (cycle *Cycle) splitByTopology(keys []string) {
	for _, key := range keys {
		if !cycle.Budget.Spend(stepsOfLabels(len(cycle.s.Nodes()), len(keys)) / len(keys)) {
			return
		}
		column := cycle.s.LabelColumn([]string{key})
		cycle.Grouping = cycle.Grouping.Split(func(at int32) int32 { return column.Of[at] })
	}
	for i := range cycle.Facts {
		t := &cycle.Facts[i]
		for _, e := range t.Spread {
			if cycle.s.IsNode(e.Topology) && cycle.Budget.Spend(len(e.Now)/4) {
				cycle.Grouping = cycle.Grouping.Split(func(at int32) int32 { return e.Now[at] }).Split(func(at int32) int32 { return e.Idle[at] })
			}
		}
		for _, term := range t.Affinity {
			if cycle.s.IsNode(term.Topology) {
				cycle.Grouping = cycle.Grouping.Split(func(at int32) int32 {
					_, seeded := slices.BinarySearch(t.AffinityNodes, at)
					return int32(OneIf(seeded))
				})
			}
		}
	}
	for i := range cycle.AttachLimits {
		row := &cycle.AttachLimits[i]
		cycle.Grouping = cycle.Grouping.Split(func(at int32) int32 { return row.Now[at] }).Split(func(at int32) int32 { return row.Idle[at] })
		for _, handle := range slices.Sorted(maps.Keys(row.Attached)) {
			there := row.Attached[handle]
			cycle.Grouping = cycle.Grouping.Split(func(at int32) int32 { return there[at] })
		}
	}
}
