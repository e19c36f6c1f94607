package topology

import (
	"cmp"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// mostAnchors is how many beginnings of a set that must stay together are tried.
const mostAnchors = 8

// mostStarts is how many sets have their beginnings tried.
const mostStarts = 4 * mostAnchors

// mostRebuilds is how often pods that found no place are tried again before the others.
const mostRebuilds = 16

// mostBuildSteps is what it may cost to bind pod after pod in several ways: what is left finds out whether
// there is a way at all.
const mostBuildSteps = assign.MostSteps / 4

// SolveConstrained places pod sets between which rules hold. What does not fit without the rules does not fit with
// them; a way to bind pod after pod by all rules is a plan; where neither is found, bounds
// of single rules and then an exhaustive search decide.
func SolveConstrained(q *assign.Solver, w *RuleSet, beside assign.Reserved) assign.Answer {
	a := assign.Answer{No: q.Cannot(w.podSets, w.idle)}
	if !a.No {
		a.Rule, a.Everywhere = w.bound()
		a.No = a.Rule != ""
	}
	if a.No && q.Purpose > assign.Placing {
		return a
	}
	best := w.build(beside, a.No)
	a.Yes = keep(&a, best)
	if a.Yes || a.No {
		return a
	}
	if a.No = q.Solve(w.podSets, w.idle, beside).No; a.No {
		return a
	}
	if a.Yes = keep(&a, w.rebuild(best, beside)); a.Yes {
		return a
	}
	if a.Rule = w.refutePart(beside); a.Rule != "" {
		a.No, a.Unordered = true, w.unordered
		return a
	}
	switch found, decided := w.search(beside); {
	case found != nil:
		a.Yes = keep(&a, found)
	case decided:
		a.No, a.Rule, a.Unordered = true, w.All(), w.unordered
	case w.doubtful(beside):
		a.Yes = false
	}
	return a
}

// keep makes a simulation the answer's, and says whether it is whole.
func keep(a *assign.Answer, b *simulation) (whole bool) {
	a.Best, b.Assignment.Order = b.Assignment, b
	return b.Whole()
}

// doubtful says whether the pods find a place if what is not known of a volume is no
// obstacle; then that is what stands in the way of a yes.
func (w *RuleSet) doubtful(beside assign.Reserved) bool {
	soft := false
	for _, r := range w.sharedVolumes {
		soft = soft || !r.hard
	}
	if !soft {
		return false
	}
	b := w.simulate(beside)
	b.ignoreDoubt = true
	b.grow(assign.PodSetOrder(w.podSets, w.idle))
	if !b.Whole() {
		return false
	}
	for _, r := range w.sharedVolumes {
		if !r.hard {
			w.solver.Inform("%s", r.why)
		}
	}
	return true
}

// build binds pod after pod, and returns the first simulation that is whole, else the one that has most pods: one for
// each place to begin. hopeless: none can be whole.
func (w *RuleSet) build(beside assign.Reserved, hopeless bool) (best *simulation) {
	order := assign.PodSetOrder(w.podSets, w.idle)
	done := func() bool { return true }
	defer func() { done() }()
	share := func() { done = w.solver.Cycle.Budget.Try(mostBuildSteps) }
	if hopeless {
		share()
	}
	for _, anchor := range w.starts() {
		b := w.simulate(beside)
		copy(b.anchors, anchor)
		b.grow(order)
		if best == nil && !hopeless { // the first way may cost what there is, the others a share
			share()
		}
		if best == nil || b.Total() > best.Total() {
			best, b = b, best
		}
		if w.spare = b; best.Whole() || !w.solver.Cycle.Budget.Spend(1) {
			return best
		}
	}
	return best
}

// rebuild begins again with the pod sets that found no place before, as long as others are left over then:
// what is hard to place comes first. It returns the simulation that has most pods.
func (w *RuleSet) rebuild(best *simulation, beside assign.Reserved) *simulation {
	budget := w.solver.Cycle.Budget
	defer budget.Try(mostBuildSteps)()
	tied := func(i int) int {
		return min(1, len(w.about[i].antiAffinity)+len(w.about[i].affinity)+len(w.about[i].counting))
	}
	order := assign.PodSetOrder(w.podSets, w.idle)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(tied(j), tied(i)) })
	for range mostRebuilds {
		b := w.simulate(beside)
		b.grow(order)
		placed := slices.Clone(b.Placed)
		if b.Total() > best.Total() {
			best, b = b, best
		}
		if w.spare = b; best.Whole() || !budget.Spend(len(order)) {
			break
		}
		lacks := func(i int) int { return assign.OneIf(placed[i] < w.podSets[i].Count) }
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(lacks(j), lacks(i)) })
	}
	return best
}

// starts are the domains in which pods that stay together may begin, the roomiest first,
// for the rules that have a choice; the first of them leaves it open.
func (w *RuleSet) starts() [][]int32 {
	free := make([]int32, len(w.affinity))
	for i := range free {
		free[i] = -1
	}
	out := [][]int32{free}
	if w.places != nil { // of the ways to give all of them domains, one at a time is none
		return append(out, w.places)
	}
	for at := range w.affinity {
		r := &w.affinity[at]
		if !r.open || !r.holders.meets(r.with) {
			continue
		}
		if len(out) > mostStarts {
			break
		}
		for _, d := range w.roomiest(r.tops[0], r.holders)[:min(mostAnchors, w.topologies[r.tops[0]].size)] {
			start := slices.Clone(free)
			start[at] = d
			out = append(out, start)
		}
	}
	return out
}

// roomiest are the domains by how much of what some pod sets need they take, the most first.
func (w *RuleSet) roomiest(top int, podSets podSetSet) []int32 {
	rooms := w.rooms(top)
	share := make([]int64, w.topologies[top].size)
	order := make([]int32, len(share))
	for d := range share {
		order[d], share[d] = int32(d), 1<<40
		for i := range podSets.all() {
			if k := w.podSets[i]; k.Count > 0 {
				share[d] = min(share[d], rooms[d*len(w.podSets)+i]*1024/int64(k.Count))
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		switch {
		case share[a] > share[b]:
			return -1
		case share[a] < share[b]:
			return 1
		default:
			return 0
		}
	})
	return order
}

// rooms are how many pods of each pod set alone the nodes of each domain take.
func (w *RuleSet) rooms(top int) []int64 {
	for len(w.roomsOf) < len(w.topologies) {
		w.roomsOf = append(w.roomsOf, nil)
	}
	if w.roomsOf[top] != nil {
		return w.roomsOf[top]
	}
	out := make([]int64, w.topologies[top].size*len(w.podSets))
	for i, k := range w.podSets {
		if !w.solver.Cycle.Budget.Spend((len(w.solver.Cycle.Grouping.Nodes) + len(w.solver.Snapshot.Nodes())) / 4) {
			return out
		}
		for nodeGroup, n := range w.caps(k) {
			if n == 0 {
				continue
			}
			if !w.mayAttach(i, nodeGroup, nil) {
				continue
			}
			for _, node := range w.solver.Cycle.Grouping.Nodes[nodeGroup] {
				d := w.topologies[top].domain(nodeGroup, node)
				if d < 0 {
					break
				}
				at := int(d)*len(w.podSets) + i
				out[at] = saturate.Add(out[at], int64(n))
			}
		}
	}
	w.roomsOf[top] = out // what was counted in part is not kept
	return out
}

// caps are how many of a pod set a node of each node group takes alone.
func (w *RuleSet) caps(k *assign.PodSet) []int32 {
	if w.idle {
		k.CountIdle()
		return k.Idle
	}
	return k.Now
}

// grow binds pods, pod set by pod set and round after round, until all are or none can be.
func (b *simulation) grow(order []int) {
	for moved := true; moved && !b.Whole(); {
		moved = false
		for _, i := range order {
			for b.Placed[i] < b.PodSets[i].Count && b.next(i) {
				moved = true
			}
		}
	}
}

// next binds one pod of a pod set to the best place there is; false: there is none.
func (b *simulation) next(i int) bool {
	var best candidate
	found, looks := false, 0
	consider := func(s candidate) {
		if !b.mayNow(i, s.nodeGroup, s.node) {
			return
		}
		s.fill = b.domainFill(i, s.nodeGroup, s.node)
		if !found || s.before(best) {
			best, found = s, true
		}
	}
	caps := b.Capacities(b.PodSets[i])
	open := b.openFor(i)
	bins := open.bins
	open.bins = bins[:0]
	for _, at := range bins {
		p := &b.Bins[at]
		pods := b.PodsPerNode(i, int(at))
		if pods == 0 {
			continue
		}
		if looks++; b.mayStill(i, p.NodeGroup, p.Nodes[0], b.Count(int(at))) {
			open.bins = append(open.bins, at)
			consider(candidate{bin: int(at), nodeGroup: p.NodeGroup, node: p.Nodes[0], pods: pods})
		}
	}
	emptiest, passed := b.emptiest(i), 0
	fresh := b.rules.byCapacity(i)
	for open.usedUp < len(fresh) && b.Left(int(fresh[open.usedUp])) == 0 {
		open.usedUp++
	}
	for _, nodeGroup := range fresh[open.usedUp:] {
		s := candidate{bin: -1, nodeGroup: int(nodeGroup), pods: int(caps[nodeGroup]), fill: emptiest}
		if found && !s.before(best) { // nor is any after it: they only get worse
			break
		}
		if passed++; b.Left(s.nodeGroup) > 0 && s.pods > 0 {
			looks++
			if s.node = b.Fresh[nodeGroup][b.Taken[nodeGroup]]; b.mayStill(i, s.nodeGroup, s.node, nil) {
				consider(s)
			}
		}
	}
	if !b.rules.solver.Cycle.Budget.Spend(looks*b.rules.about[i].stepsPerLook+passed/4+len(bins)/2) || !found {
		return false
	}
	if best.bin < 0 {
		best.bin = b.Reserve(best.nodeGroup, 1)
	}
	b.bind(i, best.bin)
	return true
}

// emptiest is less than or as much as fill1 of any place that takes a pod of a pod set.
func (b *simulation) emptiest(i int) (sum int) {
	for _, at := range b.rules.about[i].spread {
		if r := &b.rules.spread[at]; !r.someNotCompared {
			sum += int(b.least[at])
		}
	}
	return sum
}

// byCapacity are the node groups that take pods of a pod set, those that take few first; ties by node group.
func (w *RuleSet) byCapacity(i int) []int32 {
	if w.capacityOrder == nil {
		w.capacityOrder = make([][]int32, len(w.podSets))
	}
	if w.capacityOrder[i] != nil {
		return w.capacityOrder[i]
	}
	caps := w.caps(w.podSets[i])
	out := make([]int32, 0, len(caps))
	if !w.solver.Cycle.Budget.Spend(len(caps)) {
		return out
	}
	for nodeGroup, perNode := range caps {
		if perNode > 0 {
			out = append(out, int32(nodeGroup))
		}
	}
	slices.SortStableFunc(out, func(a, b int32) int { return cmp.Compare(caps[a], caps[b]) })
	w.capacityOrder[i] = out
	return out
}

// candidate is a place for one pod: a node of a bin, or the next fresh one of a node group.
type candidate struct {
	bin, nodeGroup int
	node           int32
	pods           int
	fill           int // pods in its domains that spread rules count
}

// before says which of two places is better: the emptier domain, then how many pods the node takes.
func (s candidate) before(o candidate) bool {
	return s.fill < o.fill || s.fill == o.fill && s.pods < o.pods
}

// domainFill is how full the domains of a node are, by the spread rules that count the pod set.
func (b *simulation) domainFill(i, nodeGroup int, node int32) (sum int) {
	for _, at := range b.rules.about[i].counting {
		r := &b.rules.spread[at]
		if d := b.rules.topologies[r.top].domain(nodeGroup, node); d >= 0 {
			sum += int(b.level(r, d))
		}
	}
	return sum
}

// More binds up to n more pods of a pod set.
func (b *simulation) More(i, n int) {
	for n > 0 && b.next(i) {
		n--
	}
}
