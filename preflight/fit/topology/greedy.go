package topology

import (
	"cmp"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// mostAnchors is how many beginnings of a set that must stay together are tried.
const mostAnchors = 8

// SolveConstrained places kins that are tied. What does not fit without the ties does not fit with
// them; a way to bind pod after pod by all rules is a plan; where neither is found, bounds
// of single rules and then an exhaustive search decide.
func SolveConstrained(q *assign.Solver, w *ruleSet, beside assign.Reserved) assign.Answer {
	a := assign.Answer{No: q.Cannot(w.podSets, w.idle)}
	if !a.No {
		a.Rule = w.bound()
		a.No = a.Rule != ""
	}
	if a.No && q.Purpose > assign.Placing {
		return a
	}
	best := w.build(beside, a.No)
	a.Best = best.Assignment
	best.Assignment.Order = best
	if a.Yes = best.Whole(); a.Yes || a.No {
		return a
	}
	if a.No = q.Solve(w.podSets, w.idle, beside).No; a.No {
		return a
	}
	switch found, decided := w.search(beside); {
	case found != nil:
		a.Best, a.Yes = found.Assignment, true
		found.Assignment.Order = found
	case decided:
		a.No, a.Rule = true, w.all()
	case w.doubtful(beside):
		a.Yes = false
	}
	return a
}

// doubtful says whether the pods find a place if what is not known of a volume is no
// obstacle; then that is what stands in the way of a yes.
func (w *ruleSet) doubtful(beside assign.Reserved) bool {
	soft := false
	for _, r := range w.sharedVolumes {
		soft = soft || !r.hard
	}
	if !soft {
		return false
	}
	b := w.simulate(beside)
	b.ignoreDoubt = true
	b.grow(assign.PodSetOrders(w.podSets, w.idle)[0], false)
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

// build binds pod after pod, in several orders, and returns the first seating that is whole,
// else the one that has most pods. hopeless: none can be whole, so that one order in each
// place to begin must do.
func (w *ruleSet) build(beside assign.Reserved, hopeless bool) (best *simulation) {
	orders, sizes := assign.PodSetOrders(w.podSets, w.idle), []bool{false, true}
	if hopeless {
		orders, sizes = orders[:1], sizes[:1]
	}
	for _, anchor := range w.starts() {
		for _, largeFirst := range sizes {
			for _, order := range orders {
				b := w.simulate(beside)
				copy(b.anchors, anchor)
				b.grow(order, largeFirst)
				if best == nil || b.Total() > best.Total() {
					best, b = b, best
				}
				if w.spare = b; best.Whole() || !w.solver.Cycle.Budget.Spend(1) {
					return best
				}
			}
		}
	}
	return best
}

// starts are the domains in which pods that stay together may begin, the roomiest first,
// for the rules that have a choice; the first of them leaves it open.
func (w *ruleSet) starts() [][]int32 {
	free := make([]int32, len(w.affinity))
	for i := range free {
		free[i] = -1
	}
	out := [][]int32{free}
	for at := range w.affinity {
		r := &w.affinity[at]
		if !r.open || !r.holders.meets(r.with) {
			continue
		}
		for _, d := range w.roomiest(r.tops[0], r.holders)[:min(mostAnchors, w.topologies[r.tops[0]].size)] {
			start := slices.Clone(free)
			start[at] = d
			out = append(out, start)
		}
	}
	return out
}

// roomiest are the domains by how much of what some kins need they take, the most first.
func (w *ruleSet) roomiest(top int, podSets podSetSet) []int32 {
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

// rooms are how many pods of each kin alone the nodes of each domain take.
func (w *ruleSet) rooms(top int) []int64 {
	for len(w.roomsOf) < len(w.topologies) {
		w.roomsOf = append(w.roomsOf, nil)
	}
	if w.roomsOf[top] != nil {
		return w.roomsOf[top]
	}
	out := make([]int64, w.topologies[top].size*len(w.podSets))
	w.roomsOf[top] = out
	for i, k := range w.podSets {
		if !w.solver.Cycle.Budget.Spend((len(w.solver.Cycle.Grouping.Nodes) + len(w.solver.Snapshot.Nodes())) / 4) {
			return out
		}
		for cell, n := range w.caps(k) {
			if n == 0 {
				continue
			}
			if !w.mayAttach(i, cell, nil) {
				continue
			}
			for _, node := range w.solver.Cycle.Grouping.Nodes[cell] {
				d := w.topologies[top].domain(cell, node)
				if d < 0 {
					break
				}
				at := int(d)*len(w.podSets) + i
				out[at] = saturate.Add(out[at], int64(n))
			}
		}
	}
	return out
}

// caps are how many of a kin a node of each cell takes alone.
func (w *ruleSet) caps(k *assign.PodSet) []int32 {
	if w.idle {
		k.CountIdle()
		return k.Idle
	}
	return k.Now
}

// grow binds pods, kin by kin and round after round, until all are or none can be.
func (b *simulation) grow(order []int, largeFirst bool) {
	for moved := true; moved && !b.Whole(); {
		moved = false
		for _, i := range order {
			for b.Placed[i] < b.PodSets[i].Count && b.next(i, largeFirst) {
				moved = true
			}
		}
	}
}

// next binds one pod of a kin to the best place there is; false: there is none.
func (b *simulation) next(i int, largeFirst bool) bool {
	var best candidate
	found, looks := false, 0
	consider := func(s candidate) {
		if s.pods == 0 {
			return
		}
		looks++
		node := s.node
		if !b.may(i, s.cell, node, b.countsAt(s.piece)) {
			return
		}
		s.fill = b.fill1(i, s.cell, node)
		if !found || s.before(best, largeFirst) {
			best, found = s, true
		}
	}
	caps := b.Capacities(b.PodSets[i])
	for at := range b.Bins {
		p := &b.Bins[at]
		consider(candidate{piece: at, cell: p.Cell, node: p.Nodes[0], pods: b.PodsPerNode(i, at)})
	}
	emptiest, passed := b.emptiest(i), 0
	for _, cell := range b.rules.byCapacity(i, largeFirst) {
		s := candidate{piece: -1, cell: int(cell), pods: int(caps[cell]), fill: emptiest}
		if found && !s.before(best, largeFirst) { // nor is any after it: holes only get worse
			break
		}
		if passed++; b.Left(s.cell) > 0 {
			s.node = b.Fresh[cell][b.Taken[cell]]
			consider(s)
		}
	}
	if !b.rules.solver.Cycle.Budget.Spend(looks*b.rules.stepsPerLook+(passed+len(b.Bins))/4) || !found {
		return false
	}
	if best.piece < 0 {
		best.piece = b.Reserve(best.cell, 1)
	}
	b.bind(i, best.piece)
	return true
}

// emptiest is less than or as much as fill1 of any place that takes a pod of a kin.
func (b *simulation) emptiest(i int) (sum int) {
	for at := range b.rules.spread {
		if r := &b.rules.spread[at]; r.holders.has(i) && !r.unreal {
			sum += int(b.least[at])
		}
	}
	return sum
}

// byCapacity are the cells that take pods of a kin, the best holes first; ties by cell.
func (w *ruleSet) byCapacity(i int, largeFirst bool) []int32 {
	for len(w.holeOrder) < 2*len(w.podSets) {
		w.holeOrder = append(w.holeOrder, nil)
	}
	at := 2*i + assign.OneIf(largeFirst)
	if w.holeOrder[at] != nil {
		return w.holeOrder[at]
	}
	caps := w.caps(w.podSets[i])
	out := make([]int32, 0, len(caps))
	if !w.solver.Cycle.Budget.Spend(len(caps)) {
		return out
	}
	for cell, hole := range caps {
		if hole > 0 {
			out = append(out, int32(cell))
		}
	}
	slices.SortStableFunc(out, func(a, b int32) int {
		if largeFirst {
			return cmp.Compare(caps[b], caps[a])
		}
		return cmp.Compare(caps[a], caps[b])
	})
	w.holeOrder[at] = out
	return out
}

// candidate is a place for one pod: a node of a piece, or the next fresh one of a cell.
type candidate struct {
	piece, cell int
	node        int32
	pods        int
	fill        int // pods in its domains that spread rules count
}

// before says which of two places is better: the emptier domain, then the size of the hole.
func (s candidate) before(o candidate, largeFirst bool) bool {
	if s.fill != o.fill {
		return s.fill < o.fill
	}
	if largeFirst {
		return s.pods > o.pods
	}
	return s.pods < o.pods
}

func (b *simulation) countsAt(piece int) []int32 {
	if piece < 0 {
		return nil
	}
	return b.Count(piece)
}

// fill1 is how full the domains of a node are, by the spread rules that count the kin.
func (b *simulation) fill1(i, cell int, node int32) (sum int) {
	for at := range b.rules.spread {
		r := &b.rules.spread[at]
		if !r.holders.has(i) && !r.counted.has(i) {
			continue
		}
		if d := b.rules.topologies[r.top].domain(cell, node); d >= 0 {
			sum += int(b.level(r, d))
		}
	}
	return sum
}

// More binds up to n more pods of a kin.
func (b *simulation) More(i, n int) {
	for n > 0 && b.next(i, false) {
		n--
	}
}
