package topology

import (
	"cmp"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Tied says that a rule holds between pod sets of two sets.
func Tied(q *assign.Solver, early, late []*assign.PodSet) bool {
	for _, a := range early {
		for _, b := range late {
			if q.Clashes(a, b) {
				return true
			}
		}
	}
	w := NewRuleSet(q, slices.Concat(early, late), false)
	return w != nil && w.spans(len(early))
}

// spans says that a rule of the rule set holds between its first pod sets and the others. A spread that the
// first ask for was looked at when they were placed.
func (w *RuleSet) spans(first int) bool {
	early, late := w.set(), w.set()
	for i := range w.podSets {
		if i < first {
			early.add(i)
		} else {
			late.add(i)
		}
	}
	across := func(a, b podSetSet) bool { return a.meets(early) && b.meets(late) || a.meets(late) && b.meets(early) }
	return slices.ContainsFunc(w.antiAffinity, func(r antiAffinityRule) bool { return across(r.holders, r.with) }) ||
		slices.ContainsFunc(w.affinity, func(r affinityRule) bool { return across(r.holders, r.with) }) ||
		slices.ContainsFunc(w.spread, func(r spreadRule) bool { return r.holders.meets(late) && r.counted.meets(early) }) ||
		slices.ContainsFunc(w.sharedVolumes, func(r sharedVolumeRule) bool { return across(r.members, r.members) }) ||
		slices.ContainsFunc(w.attachLimits, func(r attachLimitRule) bool { users := r.users(); return across(users, users) })
}

// users are the pod sets whose pods bring volumes of the driver.
func (r *attachLimitRule) users() podSetSet {
	set := newPodSetSet(len(r.own))
	for i, n := range r.own {
		if n > 0 {
			set.add(i)
		}
	}
	for _, podSets := range r.shared {
		set.join(podSets)
	}
	return set
}

// RuleSet is the rules between the pods of a stage, and between them and pods that exist, beyond what
// a node alone decides: affinity, anti-affinity and spread over any topology, volumes that
// one pod or one node may use, and how many volumes a node attaches.
type RuleSet struct {
	solver     *assign.Solver
	podSets    []*assign.PodSet
	idle       bool
	topologies []topology

	antiAffinity  []antiAffinityRule
	affinity      []affinityRule
	spread        []spreadRule
	sharedVolumes []sharedVolumeRule
	attachLimits  []attachLimitRule

	counters []counter
	feeds    [][]int    // by pod set: the counters that count its pods
	about    []rulesFor // by pod set

	places        []int32 // by affinity rule: a domain that its pods may have to themselves; -1: any; nil: none do
	stepsPerMix   int
	unordered     bool        // nodes were found for all pods, and no order to bind them
	spare         *simulation // of no use any more
	roomsOf       [][]int64
	capacityOrder [][]int32 // by pod set; see byCapacity
}

// topology parts the nodes into domains.
type topology struct {
	key  string
	of   []int32 // by node group: its domain, -1 for nodes that are in none; nil: each node is a domain
	size int
}

// domain of a node in a node group; -1: none.
func (t *topology) domain(nodeGroup int, node int32) int32 {
	if t.of == nil {
		return node
	}
	return t.of[nodeGroup]
}

// antiAffinityRule: no pod of the holders shares a domain with another pod of one of the pod sets in with.
type antiAffinityRule struct {
	top           int
	holders, with podSetSet

	held, there, both int // counters: of holders, of with (-1: what there is of both and not of held), of either
}

// affinityRule: a pod of the holders goes where, in every one of the topologies, a pod of the
// pod sets in with is, or one that existed before. The first of all may go anywhere if it is
// itself of those.
type affinityRule struct {
	holders, with podSetSet
	tops          []int
	seeded        [][]bool // by topology of the rule, then domain: there is one already
	open          bool     // there is none anywhere, so a first may seed itself

	held, there, others []int // counters by topology of the rule: of holders, of with, of those in with that hold no rule
}

// sharedVolumeRule: pods of these pod sets share a volume that one pod, or one node, may use.
type sharedVolumeRule struct {
	members podSetSet
	once    bool // one pod
	hard    bool // proven; else not known
	local   bool // because one node reaches the volume
	devices bool // it is a ResourceClaim
	why     string
	claim   string
}

// attachLimitRule: volumes of a driver that nodes attach up to a limit, by node group.
type attachLimitRule struct {
	of     string // whose limit it is, in words
	left   []int32
	own    []int32     // by pod set: volumes that each of its pods brings
	shared []podSetSet // volumes that pods of several pod sets share: by whom
	there  [][]bool    // by shared volume, then node group: it is attached already
}

// counter counts the pods of some pod sets by domain; node groups: only on nodes of these (nil: of all).
type counter struct {
	top        int
	of         podSetSet
	nodeGroups []bool
}

// NewRuleSet makes the rule set of a stage; nil where no rule holds between its pods. The groups that were
// placed before are there still: their affinity and spread were looked at then, beside pods that have
// completed since, and no longer hold.
func NewRuleSet(q *assign.Solver, podSets []*assign.PodSet, idle bool, before ...int) *RuleSet {
	if !q.Cycle.Constrained || len(podSets) == 0 {
		return nil
	}
	w := &RuleSet{solver: q, podSets: podSets, idle: idle}
	for i, k := range podSets {
		w.addAntiAffinity(i, k)
		if !slices.ContainsFunc(k.Groups, func(g int) bool { return slices.Contains(before, g) }) {
			w.addAffinity(i, k)
			w.addSpread(i, k)
		}
	}
	w.addSharedVolumes()
	w.addAttachLimits()
	w.count()
	if len(w.antiAffinity)+len(w.affinity)+len(w.spread)+len(w.sharedVolumes)+len(w.attachLimits) == 0 {
		return nil
	}
	return w
}

// topology finds or numbers the domains of a key.
func (w *RuleSet) topology(key string) int {
	if at := slices.IndexFunc(w.topologies, func(t topology) bool { return t.key == key }); at >= 0 {
		return at
	}
	t := topology{key: key, size: len(w.solver.Snapshot.Nodes())}
	if !w.solver.Snapshot.IsNode(key) && w.solver.Cycle.Budget.Spend(t.size) {
		column := w.solver.Snapshot.LabelColumn([]string{key})
		t.of, t.size = make([]int32, len(w.solver.Cycle.Grouping.Nodes)), column.Values+1
		for nodeGroup, members := range w.solver.Cycle.Grouping.Nodes {
			t.of[nodeGroup] = -1
			if _, ok := w.solver.Snapshot.Nodes()[members[0]].Labels[key]; ok {
				t.of[nodeGroup] = column.Of[members[0]]
			}
		}
	}
	w.topologies = append(w.topologies, t)
	return len(w.topologies) - 1
}

// count gives the rules their counters; rules that look at the same pods share one.
func (w *RuleSet) count() {
	number := func(top int, of podSetSet, nodeGroups []bool) int {
		for at := range w.counters {
			if !w.solver.Cycle.Budget.Spend(2 + len(of)) {
				break
			}
			if c := &w.counters[at]; c.top == top && c.of.equal(of) && slices.Equal(c.nodeGroups, nodeGroups) {
				return at
			}
		}
		w.counters = append(w.counters, counter{top, of, nodeGroups})
		return len(w.counters) - 1
	}
	for at := range w.antiAffinity {
		r := &w.antiAffinity[at]
		r.held, r.there, r.both = number(r.top, r.holders, nil), -1, number(r.top, r.holders.with(r.with), nil)
		if r.holders.meets(r.with) {
			r.there = number(r.top, r.with, nil)
		}
	}
	for at := range w.affinity {
		r := &w.affinity[at]
		for _, top := range r.tops {
			r.held = append(r.held, number(top, r.holders, nil))
			r.there = append(r.there, number(top, r.with, nil))
			r.others = append(r.others, number(top, r.with.without(r.holders), nil))
		}
	}
	for at := range w.spread {
		r := &w.spread[at]
		r.level, r.held = number(r.top, r.counted, r.nodeGroups), number(r.top, r.holders, nil)
		r.heldCounted, r.heldSelf = number(r.top, r.holders.and(r.counted), nil), number(r.top, r.holders.and(r.self), nil)
	}
	w.feeds = make([][]int, len(w.podSets))
	rules := len(w.antiAffinity) + len(w.affinity) + len(w.spread) + len(w.sharedVolumes) + len(w.attachLimits)
	w.stepsPerMix = 4 + rules + (len(w.counters)+len(w.podSets))/2
	for at := range w.counters {
		for i := range w.counters[at].of.all() {
			w.feeds[i] = append(w.feeds[i], at)
		}
	}
	w.sortRules()
}

// set is the set of some pod sets.
func (w *RuleSet) set(of ...int) podSetSet {
	out := newPodSetSet(len(w.podSets))
	for _, i := range of {
		out.add(i)
	}
	return out
}

// matching are the pod sets that a function holds for.
func (w *RuleSet) matching(is func(k *assign.PodSet) bool) podSetSet {
	set := w.set()
	for i, k := range w.podSets {
		if is(k) {
			set.add(i)
		}
	}
	return set
}

// meeting are the pod sets that a rule is about; doubt is why that is not known of one.
func (w *RuleSet) meeting(rule assign.Relation, is func(*job.Pod) (yes bool, doubt string)) (set podSetSet, doubt string) {
	set = w.matching(func(k *assign.PodSet) bool {
		yes, why := w.solver.Cycle.Meets(rule, k.Groups[0], func() (bool, string) { return is(k.Pod) })
		doubt = cmp.Or(doubt, why)
		return yes
	})
	return set, doubt
}

// addAntiAffinity reads anti-affinity between pod sets over more than a node; that over nodes is what
// pod sets clash for.
func (w *RuleSet) addAntiAffinity(i int, k *assign.PodSet) {
	for at := range k.Facts.AntiAffinity {
		term := &k.Facts.AntiAffinity[at]
		with := w.matching(func(other *assign.PodSet) bool {
			return w.solver.KeepsFrom(k, other, term)
		})
		if with.empty() || w.solver.Snapshot.IsNode(term.Topology) {
			continue
		}
		top := w.topology(term.Topology)
		at := slices.IndexFunc(w.antiAffinity, func(r antiAffinityRule) bool { return r.top == top && r.with.equal(with) })
		if at < 0 {
			at, w.antiAffinity = len(w.antiAffinity), append(w.antiAffinity, antiAffinityRule{top: top, holders: w.set(), with: with})
		}
		w.antiAffinity[at].holders.add(i)
	}
}

func (w *RuleSet) addAffinity(i int, k *assign.PodSet) {
	terms := k.Facts.Affinity
	if len(terms) == 0 || slices.ContainsFunc(terms, func(t cluster.PodTerm) bool { return t.Unread != "" }) {
		return
	}
	r := affinityRule{holders: w.set(i), open: true}
	with, doubt := w.meeting(assign.Relation{Sort: assign.Affine, Group: k.Groups[0]}, func(p *job.Pod) (bool, string) {
		return assign.MeetsAll(w.solver.Snapshot, terms, w.solver.Gang.Namespace, p)
	})
	if doubt != "" { // without the rule a no is still proven
		w.solver.DoubtYes(assign.NotJudged(k.Name, "affinity", doubt))
		return
	}
	r.with = with
	for at := range terms {
		top := w.topology(terms[at].Topology)
		if slices.Contains(r.tops, top) {
			continue
		}
		r.tops = append(r.tops, top)
		seeded := make([]bool, w.topologies[top].size)
		for _, node := range k.Facts.AffinityNodes {
			if _, ok := w.solver.Snapshot.Nodes()[node].Labels[w.topologies[top].key]; !ok && w.topologies[top].of != nil {
				continue // a pod on a node in no domain is near to none
			}
			seeded[w.domainOf(top, node)] = true
			r.open = w.idle // where those go away, the first may seed itself
		}
		r.seeded = append(r.seeded, seeded)
	}
	for at := range w.affinity {
		if !w.solver.Cycle.Budget.Spend(assign.StepsPerMatch) {
			return
		}
		if other := &w.affinity[at]; other.with.equal(r.with) && slices.Equal(other.tops, r.tops) && slices.EqualFunc(other.seeded, r.seeded, slices.Equal) {
			other.holders.join(r.holders)
			return
		}
	}
	w.affinity = append(w.affinity, r)
}

// domainOf is the domain of a node, whatever its node group.
func (w *RuleSet) domainOf(top int, node int32) int32 {
	if w.topologies[top].of == nil {
		return node
	}
	return w.solver.Snapshot.LabelColumn([]string{w.topologies[top].key}).Of[node]
}

// addSharedVolumes reads claims that several pods share and that one pod or one node may use.
func (w *RuleSet) addSharedVolumes() {
	for i, k := range w.podSets {
		for _, c := range k.Facts.Claims {
			if c.Claim == "" || !c.Once && c.Node == assign.AnyNode || slices.ContainsFunc(w.sharedVolumes, func(r sharedVolumeRule) bool { return r.claim == c.Claim }) {
				continue
			}
			r := sharedVolumeRule{members: w.set(), once: c.Once, hard: c.Once || c.Node == assign.SameNode, local: c.Local, devices: strings.HasPrefix(c.Claim, assign.SharedClaim), why: c.Why, claim: c.Claim}
			pods := 0
			for j := i; j < len(w.podSets); j++ {
				if !w.solver.Cycle.Budget.Spend(1 + len(w.podSets[j].Facts.Claims)) {
					return
				}
				if slices.ContainsFunc(w.podSets[j].Facts.Claims, func(o assign.ClaimUse) bool { return o.Claim == c.Claim }) {
					r.members.add(j)
					pods += w.podSets[j].Count
				}
			}
			if pods > 1 || w.solver.Several(k) {
				w.sharedVolumes = append(w.sharedVolumes, r)
			}
		}
	}
}

func (w *RuleSet) addAttachLimits() {
	for at := range w.solver.Cycle.AttachLimits {
		row := &w.solver.Cycle.AttachLimits[at]
		left, attached := row.Now, int32(1)
		if w.idle {
			left, attached = row.Idle, 2
		}
		r := attachLimitRule{of: "how many volumes of " + row.Driver + " a node attaches", own: make([]int32, len(w.podSets))}
		switch {
		case row.Devices:
			r.of = "how many devices of " + row.Driver + " a node has"
		case row.Local:
			r.of = "how many " + row.Driver + " a node has"
		}
		for _, members := range w.solver.Cycle.Grouping.Nodes {
			r.left = append(r.left, left[members[0]])
		}
		var handles []string
		for i, k := range w.podSets {
			for _, c := range k.Facts.Claims {
				switch seen := slices.Index(handles, c.Handle); {
				case c.Driver != row.Driver:
				case c.Claim == "":
					r.own[i]++
				case seen >= 0:
					r.shared[seen].add(i)
				default:
					handles, r.shared = append(handles, c.Handle), append(r.shared, w.set(i))
					there := make([]bool, len(r.left))
					for nodeGroup, members := range w.solver.Cycle.Grouping.Nodes {
						there[nodeGroup] = row.Attached[c.Handle] != nil && row.Attached[c.Handle][members[0]] >= attached
					}
					r.there = append(r.there, there)
				}
			}
		}
		if slices.Max(r.own) > 0 || len(r.shared) > 0 {
			w.attachLimits = append(w.attachLimits, r)
		}
	}
}
