package assign

import (
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// Cycle is what a gang and all changes tried of it have in common; it is worked out
// once. Changes alter counts, requests, selectors, node affinity and tolerations of
// groups, and nothing else.
type Cycle struct {
	s            *cluster.Snapshot
	Budget       *Budget
	Grouping     *cluster.NodeGrouping
	Facts        []podFacts // by group
	Own          []ownPod
	stays        map[*cluster.Pod]bool  // pods of the gang: they keep their places on an idle cluster too
	AttachLimits []cluster.AttachLimits // of drivers that attach the gang's volumes and have a limit, and of devices
	Constrained  bool                   // pods of the gang decide where others of it may go, beyond their node
	selectorKeys map[string]bool        // keys of labels of pods that some rule looks at; nil: not gathered yet
	Order        *gang.Order
	Arena        *arena
	Filters      []*nodeFilter
	ResourceSums []*resourceSums
	matched      [sorts][][][]int8     // by sort, group, rule and group: whether it is about that; 0: not asked yet
	spreadPods   map[string][2][]int32 // by selector: pods that are there by node, now and idle
	nominees     []nominee
	terms        []cluster.PodTerm // of anti-affinity, equal ones once
	sameLabels   []int             // by group: the first one whose pods have the same labels
	partless     string            // a role with a pod that has a node and does not say of which part it is; empty: none
	strict       bool              // what is not known is taken against the pods
}

// Relation is a rule between pods: for anti-affinity its number among the terms of the cycle, else a
// group and the number among the rules that this has of the sort.
type Relation struct {
	Sort, Group, Rule int
}

// number is the number of a term of anti-affinity; equal ones have the same.
func (cycle *Cycle) number(term *cluster.PodTerm) int {
	for at := range cycle.terms {
		if cycle.Budget.Spend(StepsPerMatch) && cycle.terms[at].Equal(*term) {
			return at
		}
	}
	cycle.terms = append(cycle.terms, *term)
	return len(cycle.terms) - 1
}

// findSameLabels finds the groups whose pods have the same labels.
func (cycle *Cycle) findSameLabels(g gang.Gang) {
	cycle.sameLabels = make([]int, len(g.Groups))
	var first []int
	for i := range g.Groups {
		p := &g.Groups[i].Pod
		at := slices.IndexFunc(first, func(j int) bool {
			q := &g.Groups[j].Pod
			return cycle.Budget.Spend(StepsPerMatch) && maps.Equal(p.Labels, q.Labels) && reflect.DeepEqual(p.Marks, q.Marks)
		})
		if cycle.sameLabels[i] = i; at >= 0 {
			cycle.sameLabels[i] = first[at]
			continue
		}
		first = append(first, i)
	}
}

// The sorts of rules between pods.
const (
	AntiAffine = iota
	Affine
	Spread
	sorts
)

// Meets says whether a rule is about the pods of a group, and asks once.
func (cycle *Cycle) Meets(rule Relation, group int, ask func() (yes bool, doubt string)) (yes bool, doubt string) {
	rows := &cycle.matched[rule.Sort]
	for rule.Group >= len(*rows) {
		*rows = append(*rows, nil)
	}
	of := &(*rows)[rule.Group]
	for rule.Rule >= len(*of) {
		*of = append(*of, nil)
	}
	if (*of)[rule.Rule] == nil {
		(*of)[rule.Rule] = make([]int8, len(cycle.Facts))
	}
	row := (*of)[rule.Rule]
	group = cycle.sameLabels[group]
	switch {
	case row[group] == 1:
		return true, ""
	case row[group] == 2 || !cycle.Budget.Spend(StepsPerMatch):
		return false, ""
	}
	yes, doubt = ask()
	switch {
	case doubt != "":
	case yes:
		row[group] = 1
	default:
		row[group] = 2
	}
	return yes, doubt
}

// podFacts are what of a group no change alters.
type podFacts struct {
	Ports                            []podspec.HostPort
	Disks                            []podspec.Disk
	AntiAffinity, Affinity           []cluster.PodTerm // required anti-affinity and affinity
	AffinityNodes                    []int32           // nodes of pods that match every term of near
	Spread                           []SpreadTerm      // topology spread that must hold
	Claims                           []ClaimUse
	storage                          []storageUse
	waiting                          []waitingClaim
	taking                           []takenVolume
	apartBy                          []string // classes of volumes for which its pods keep from those of others
	onHosts                          bool     // a volume that its pods have is reached from nodes that it names
	claimMayMove                     string   // a ResourceClaim that has devices, and may be given others
	devicesCounted                   bool     // its claims of devices are counted, and nothing of them is left out
	closedIdle, closedNow, neverOpen []bool   // by node; nil: none
	keptNow                          []bool   // by node: its room is kept for others; those of closedNow; nil: none
	KeptFor                          string   // for whom, in words; empty: none is
	BlockedBy                        string   // why no pod is scheduled, whatever room there is; empty: nothing
	flipsYes, info                   []string // as in question
}

func (t *podFacts) doubtYes(why string) {
	if !slices.Contains(t.flipsYes, why) {
		t.flipsYes = append(t.flipsYes, why)
	}
}

// stepsPerGroup is what it costs to read the template of a group.
const stepsPerGroup = 100

// ownPod is a pod of the gang that has a node.
type ownPod struct {
	group  int
	Record *cluster.Pod
}

// NewCycle reads what of a gang no change alters. The caller releases it.
func NewCycle(s *cluster.Snapshot, g gang.Gang, b *Budget) *Cycle { return newCycle(s, g, b, false) }

// NewStrictCycle is a cycle in which pods keep apart wherever it is not known whether they must: what has a
// place so has one, and what has none proves nothing.
func NewStrictCycle(s *cluster.Snapshot, g gang.Gang, b *Budget) *Cycle {
	return newCycle(s, g, b, true)
}

func newCycle(s *cluster.Snapshot, g gang.Gang, b *Budget, strict bool) *Cycle {
	cycle := &Cycle{s: s, Budget: b, Facts: make([]podFacts, len(g.Groups)), stays: map[*cluster.Pod]bool{}, Arena: arenas.Get().(*arena), strict: strict}
	cycle.Order, _ = g.Order(b.Spend) // where that was too much, there is no verdict
	cycle.countOwn(g)
	cycle.findSameLabels(g)
	var keys []string // of the labels by which pods choose nodes
	byName := false
	for i := range g.Groups {
		if g.Groups[i].Count <= 0 {
			continue
		}
		if !b.Spend(stepsPerGroup) {
			return cycle
		}
		cycle.Facts[i] = cycle.factsOf(g.Namespace, &g.Groups[i])
		spec := &g.Groups[i].Pod.Spec
		more, fixed := podspec.SelectorKeys(spec)
		byName = byName || fixed
		if class := s.RuntimeClass(spec); class != nil && class.Scheduling != nil {
			more = append(more, slices.Collect(maps.Keys(class.Scheduling.NodeSelector))...)
		}
		keys = append(keys, more...)
	}
	if byName {
		keys = append(keys, corev1.LabelHostname)
	}
	keys = Distinct(keys)
	if !b.Spend(stepsOfLabels(len(s.Nodes()), len(keys))) {
		return cycle
	}
	cycle.doubtSharedClasses()
	cycle.doubtStorage(g)
	cycle.closeNominated(g)
	cycle.Grouping = s.GroupNodes(keys)
	byLabels := cycle.Grouping
	if byName {
		cycle.Grouping = cycle.Grouping.Split(func(at int32) int32 { return at })
	}
	for i := range cycle.Facts {
		t := &cycle.Facts[i]
		for _, flags := range [][]bool{t.closedIdle, t.closedNow, t.neverOpen} {
			if flags != nil {
				cycle.Grouping = cycle.Grouping.Split(func(at int32) int32 { return int32(OneIf(flags[at])) })
			}
		}
	}
	cycle.countAttached()
	cycle.countDevices(g)
	cycle.countVolumes()
	if cycle.Constrained = cycle.isConstrained(g); cycle.Constrained {
		cycle.splitByTopology(cycle.topologyKeys())
	}
	if cycle.Grouping != byLabels && len(keys) > 0 {
		cycle.Grouping = cycle.Grouping.Labelled(s.LabelColumn(keys))
	} else if cycle.Grouping.LabelSet == nil {
		cycle.Grouping.LabelSet, cycle.Grouping.LabelSets = make([]int32, len(cycle.Grouping.Nodes)), 1
	}
	return cycle
}

// OneIf is 1 for what is so.
func OneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// countOwn finds the pods of the gang that have a node and keep it. A pod that is being
// deleted takes room but will be replaced.
func (cycle *Cycle) countOwn(g gang.Gang) {
	in := cycle.s.PodLists()[g.Namespace]
	if g.Own == nil || in == nil {
		return
	}
	var scratch corev1.Pod
	groupOf := g.Indexes()
	for p := range in.With(cluster.Needed(g.OwnLabels)) {
		if p.Node() == "" || p.Deleted() {
			continue
		}
		pod := p.Metadata(&scratch)
		role, own := g.Own(pod)
		if !own {
			continue
		}
		if at := groupOf(role, pod); at >= 0 {
			cycle.Own = append(cycle.Own, ownPod{at, p})
			cycle.stays[p] = true
			if part := g.Groups[at].Part; part != nil && pod.Labels[part.Label] != part.Value {
				cycle.partless = role
			}
		}
	}
	slices.SortFunc(cycle.Own, func(a, b ownPod) int { return a.Record.Compare(b.Record) })
}

func (cycle *Cycle) factsOf(namespace string, g *gang.Group) podFacts {
	t := podFacts{Ports: podspec.HostPorts(&g.Pod.Spec)}
	if len(g.Pod.Spec.Volumes) > 0 {
		volumes(cycle.s, cycle, &t, namespace, g)
	}
	cycle.allocatedClaims(&t, namespace, g.Pod.Spec.ResourceClaims)
	cycle.declared(&t, g)
	for _, term := range podspec.AntiAffinity(&g.Pod.Spec) {
		own := cluster.OwnTermOf(term, namespace, &g.Pod)
		own.Number = cycle.number(&own)
		t.AntiAffinity = append(t.AntiAffinity, own)
	}
	cycle.readAffinity(&t, namespace, g)
	cycle.readSpread(&t, namespace, g)
	idle, now := cycle.closedByPods(&t, namespace, g)
	t.closedIdle, t.closedNow = either(t.closedIdle, idle.nodes), either(t.closedNow, now.nodes)
	if t.BlockedBy != "" {
		closeWhereNot(cycle.s, &t, func(int) bool { return false })
	}
	return t
}

// alike says that two pods have the same labels, as far as any rule looks at them: those of
// the gang's own pods, and those of pods that exist.
func (cycle *Cycle) alike(x, y *job.Pod) bool {
	if cycle.selectorKeys == nil {
		cycle.selectorKeys = map[string]bool{}
		ask := func(selector labels.Selector) {
			requirements, _ := selector.Requirements()
			for i := range requirements {
				cycle.selectorKeys[requirements[i].Key()] = true
			}
		}
		for i := range cycle.Facts {
			for _, term := range slices.Concat(cycle.Facts[i].AntiAffinity, cycle.Facts[i].Affinity) {
				ask(term.Selector)
			}
			for _, e := range cycle.Facts[i].Spread {
				ask(e.Selector)
			}
		}
		for _, p := range cycle.s.PodsWithAntiAffinity() {
			for i := range p.AntiAffinity() {
				ask(p.AntiAffinity()[i].Selector)
			}
		}
	}
	for key := range cycle.selectorKeys {
		a, isA, _, _ := x.Label(key)
		if b, isB, _, _ := y.Label(key); a != b || isA != isB {
			return false
		}
	}
	return true
}

// either marks what one of two lists marks; nil is a list without marks.
func either(a, b []bool) []bool {
	if a == nil || b == nil {
		return append(a, b...)
	}
	for i := range a {
		a[i] = a[i] || b[i]
	}
	return a
}

// Distinct sorts keys and drops repeated ones.
func Distinct(keys []string) []string {
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Forget drops what was counted of the room on the nodes.
func (cycle *Cycle) Forget() {
	for _, a := range cycle.Filters {
		a.Capacities = nil
	}
	cycle.ResourceSums = nil
	if cycle.Arena != nil {
		cycle.Arena.Used = 0
	}
}
