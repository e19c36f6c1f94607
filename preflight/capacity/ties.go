package capacity

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

// evenTerm is a topology spread constraint that must hold, ready to be counted.
type evenTerm struct {
	topology                     string
	skew, domains                int
	honorsAffinity, honorsTaints bool // which nodes have a domain that counts
	selector                     labels.Selector
	now, idle                    []int32 // by node: pods there that the selector matches
}

// evenTermOf reads a constraint of a pod that is to be made, as the scheduler does: what
// is not written has its defaults
// (https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/).
func evenTermOf(c *corev1.TopologySpreadConstraint, own *job.Pod) (e evenTerm, unread string) {
	e = evenTerm{topology: c.TopologyKey, skew: int(c.MaxSkew), domains: 1, honorsAffinity: true}
	if c.MinDomains != nil {
		e.domains = int(*c.MinDomains)
	}
	if c.NodeAffinityPolicy != nil {
		e.honorsAffinity = *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor
	}
	if c.NodeTaintsPolicy != nil {
		e.honorsTaints = *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
	}
	var err error
	if e.selector, err = metav1.LabelSelectorAsSelector(c.LabelSelector); err != nil {
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
			e.selector = e.selector.Add(*r)
		}
	}
	return e, ""
}

// counts says whether the constraint counts a pod with these labels, in its namespace.
// An empty selector counts none, though it matches all.
func (e *evenTerm) counts(set map[string]string) bool {
	return !e.selector.Empty() && e.selector.Matches(labels.Set(set))
}

// countsOf says whether the constraint counts the pods of a group; doubt is what that
// cannot be told for.
func (e *evenTerm) countsOf(p *job.Pod) (yes bool, doubt string) {
	if e.selector.Empty() {
		return false, ""
	}
	return p.Meets(e.selector)
}

// level reads the constraints of a group and counts the pods that are there.
func (on *ground) level(t *traits, namespace string, g *gang.Group) {
	for i := range g.Pod.Spec.TopologySpreadConstraints {
		c := &g.Pod.Spec.TopologySpreadConstraints[i]
		if c.WhenUnsatisfiable == corev1.ScheduleAnyway {
			continue
		}
		e, unread := evenTermOf(c, &g.Pod)
		if unread != "" {
			t.blur(fmt.Sprintf("%s: topology spread by %s is not judged", g.Name, unread))
			continue
		}
		e.now, e.idle = make([]int32, len(on.s.Nodes())), make([]int32, len(on.s.Nodes()))
		if in := on.s.PodLists()[namespace]; in != nil {
			for p := range in.With(cluster.HashesIn(e.selector)) {
				if p.Deleted() || !e.counts(p.Labels()) {
					continue
				}
				if at, ok := on.s.NodeAt(p.Node()); ok {
					e.now[at]++
					if p.Resident() || on.stays[p] {
						e.idle[at]++
					}
				}
			}
		}
		t.even = append(t.even, e)
	}
}

// attract reads the required affinity of a group and finds the pods that are there for it:
// those that match all of its terms.
func (on *ground) attract(t *traits, namespace string, g *gang.Group) {
	for _, term := range podspec.PodAffinity(&g.Pod.Spec) {
		t.near = append(t.near, cluster.OwnTermOf(term, namespace, &g.Pod))
	}
	if len(t.near) == 0 {
		return
	}
	unread, unseen := false, false
	for i := range t.near {
		if t.near[i].Unread != "" {
			unread = true
			t.blur(notJudged(g.Name, "affinity", t.near[i].Unread))
		}
	}
	var must []cluster.LabelHash
	for i := range t.near {
		must = append(must, cluster.HashesIn(t.near[i].Selector)...)
	}
	for in, pods := range on.s.PodLists() {
		for p := range pods.With(must) {
			at, ok := on.s.NodeAt(p.Node())
			if !ok {
				continue
			}
			switch yes, known := matchesAll(on.s, t.near, in, p.Labels()); {
			case !known && !unread:
				t.blur(notJudged(g.Name, "affinity", cluster.UnseenNamespaces))
				unseen = true
			case yes:
				t.seeds = append(t.seeds, int32(at))
			}
		}
	}
	if unseen { // they may stand near a pod that was not recognised: without the rule a no is still proven
		t.near, t.seeds = nil, nil
		return
	}
	slices.Sort(t.seeds)
	t.seeds = slices.Compact(t.seeds)
}

// matchesAll says whether a pod matches every one of some terms.
func matchesAll(s *cluster.Snapshot, terms []cluster.PodTerm, namespace string, set map[string]string) (yes, known bool) {
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

// meetsAll says whether the pods of a group match every one of some terms.
func meetsAll(s *cluster.Snapshot, terms []cluster.PodTerm, namespace string, p *job.Pod) (yes bool, doubt string) {
	for i := range terms {
		match, why := terms[i].Meets(s, namespace, p)
		if !match && why == "" {
			return false, ""
		}
		doubt = cmp.Or(doubt, why)
	}
	return doubt == "" && len(terms) > 0, doubt
}

// tied says that the pods of the gang decide where others of it may go, beyond their node:
// then they cannot be counted each kin on its own.
func (on *ground) tied(g gang.Gang) bool {
	pods, claims := 0, map[string]int{}
	for i := range g.Groups {
		pods += min(2, max(0, g.Groups[i].Count))
		for _, c := range on.traits[i].claims {
			claims[c.claim] += min(2, max(0, g.Groups[i].Count))
		}
	}
	for i := range g.Groups {
		t := &on.traits[i]
		if g.Groups[i].Count <= 0 {
			continue
		}
		if len(t.near)+len(t.even) > 0 {
			return true
		}
		for _, c := range t.claims {
			if c.claim != "" && claims[c.claim] > 1 && (c.once || c.node != anyNode) || on.limited(c.driver) {
				return true
			}
		}
		wide := func(term cluster.PodTerm) bool { return term.Topology != corev1.LabelHostname }
		if pods > 1 && slices.ContainsFunc(t.apart, func(term cluster.PodTerm) bool { return wide(term) && on.concerns(&term, g) }) {
			return true
		}
	}
	return false
}

// concerns says whether a term may be about pods of the gang itself.
func (on *ground) concerns(term *cluster.PodTerm, g gang.Gang) bool {
	return slices.ContainsFunc(g.Groups, func(other gang.Group) bool {
		yes, doubt := term.Meets(on.s, g.Namespace, &other.Pod)
		return other.Count > 0 && (yes || doubt != "")
	})
}

// topologyKeys are the labels that decide what is near and what is apart, but for the
// node's own name.
func (on *ground) topologyKeys() []string {
	var out []string
	add := func(key string) {
		if key != corev1.LabelHostname {
			out = append(out, key)
		}
	}
	for i := range on.traits {
		t := &on.traits[i]
		for _, term := range slices.Concat(t.near, t.apart) {
			add(term.Topology)
		}
		for _, e := range t.even {
			add(e.topology)
		}
	}
	return distinct(out)
}

// part splits the cells until all nodes of one are alike for everything that ties pods.
func (on *ground) part(keys []string) {
	for _, key := range keys {
		column := on.s.LabelColumn([]string{key})
		on.grid = on.grid.Split(func(at int32) int32 { return column.Of[at] })
	}
	for i := range on.traits {
		t := &on.traits[i]
		for _, e := range t.even {
			if e.topology == corev1.LabelHostname {
				on.grid = on.grid.Split(func(at int32) int32 { return e.now[at] }).Split(func(at int32) int32 { return e.idle[at] })
			}
		}
		for _, term := range t.near {
			if term.Topology == corev1.LabelHostname {
				on.grid = on.grid.Split(func(at int32) int32 {
					_, seeded := slices.BinarySearch(t.seeds, at)
					return int32(number(seeded))
				})
			}
		}
	}
	for i := range on.slots {
		row := &on.slots[i]
		on.grid = on.grid.Split(func(at int32) int32 { return row.Now[at] }).Split(func(at int32) int32 { return row.Idle[at] })
		for _, handle := range slices.Sorted(maps.Keys(row.There)) {
			there := row.There[handle]
			on.grid = on.grid.Split(func(at int32) int32 { return there[at] })
		}
	}
}
