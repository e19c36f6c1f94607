package capacity

import (
	"cmp"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// mostAnchors is how many beginnings of a set that must stay together are tried.
const mostAnchors = 8

// woven places kins that are tied. What does not fit without the ties does not fit with
// them; a way to bind pod after pod by all rules is a plan; where neither is found, bounds
// of single rules and then an exhaustive search decide.
func (q *question) woven(w *web, beside crowd) answer {
	a := answer{no: q.cannot(w.kins, w.idle)}
	if !a.no {
		a.rule = w.limit()
		a.no = a.rule != ""
	}
	if a.no && q.trying > placing {
		return a
	}
	best := w.build(beside, a.no)
	a.best = best.packing
	best.packing.seating = best
	if a.yes = best.whole(); a.yes || a.no {
		return a
	}
	if a.no = q.solve(w.kins, w.idle, beside).no; a.no {
		return a
	}
	switch found, decided := w.sweep(beside); {
	case found != nil:
		a.best, a.yes = found.packing, true
		found.packing.seating = found
	case decided:
		a.no, a.rule = true, w.all()
	case w.unsure(beside):
		a.yes = false
	}
	return a
}

// unsure says whether the pods find a place if what is not known of a volume is no
// obstacle; then that is what stands in the way of a yes.
func (w *web) unsure(beside crowd) bool {
	soft := false
	for _, r := range w.share {
		soft = soft || !r.hard
	}
	if !soft {
		return false
	}
	b := w.seating(beside)
	b.bold = true
	b.grow(kinOrders(w.kins, w.idle)[0], false)
	if !b.whole() {
		return false
	}
	for _, r := range w.share {
		if !r.hard {
			w.q.note("%s", r.why)
		}
	}
	return true
}

// build binds pod after pod, in several orders, and returns the first seating that is whole,
// else the one that has most pods. hopeless: none can be whole, so that one order in each
// place to begin must do.
func (w *web) build(beside crowd, hopeless bool) (best *seating) {
	orders, sizes := kinOrders(w.kins, w.idle), []bool{false, true}
	if hopeless {
		orders, sizes = orders[:1], sizes[:1]
	}
	for _, anchor := range w.starts() {
		for _, largeFirst := range sizes {
			for _, order := range orders {
				b := w.seating(beside)
				copy(b.anchors, anchor)
				b.grow(order, largeFirst)
				if best == nil || b.total() > best.total() {
					best, b = b, best
				}
				if w.spare = b; best.whole() || !w.q.on.budget.spend(1) {
					return best
				}
			}
		}
	}
	return best
}

// starts are the domains in which pods that stay together may begin, the roomiest first,
// for the rules that have a choice; the first of them leaves it open.
func (w *web) starts() [][]int32 {
	free := make([]int32, len(w.near))
	for i := range free {
		free[i] = -1
	}
	out := [][]int32{free}
	for at := range w.near {
		r := &w.near[at]
		if !r.open || !r.holders.meets(r.with) {
			continue
		}
		for _, d := range w.roomiest(r.tops[0], r.holders)[:min(mostAnchors, w.tops[r.tops[0]].size)] {
			start := slices.Clone(free)
			start[at] = d
			out = append(out, start)
		}
	}
	return out
}

// roomiest are the domains by how much of what some kins need they take, the most first.
func (w *web) roomiest(top int, kins kinSet) []int32 {
	rooms := w.rooms(top)
	share := make([]int64, w.tops[top].size)
	order := make([]int32, len(share))
	for d := range share {
		order[d], share[d] = int32(d), 1<<40
		for i := range kins.all() {
			if k := w.kins[i]; k.count > 0 {
				share[d] = min(share[d], rooms[d*len(w.kins)+i]*1024/int64(k.count))
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
func (w *web) rooms(top int) []int64 {
	for len(w.roomsOf) < len(w.tops) {
		w.roomsOf = append(w.roomsOf, nil)
	}
	if w.roomsOf[top] != nil {
		return w.roomsOf[top]
	}
	out := make([]int64, w.tops[top].size*len(w.kins))
	w.roomsOf[top] = out
	for i, k := range w.kins {
		if !w.q.on.budget.spend((len(w.q.on.grid.Nodes) + len(w.q.s.Nodes())) / 4) {
			return out
		}
		for cell, n := range w.caps(k) {
			if n == 0 {
				continue
			}
			if !w.mayAttach(i, cell, nil) {
				continue
			}
			for _, node := range w.q.on.grid.Nodes[cell] {
				d := w.tops[top].domain(cell, node)
				if d < 0 {
					break
				}
				at := int(d)*len(w.kins) + i
				out[at] = saturate.Add(out[at], int64(n))
			}
		}
	}
	return out
}

// caps are how many of a kin a node of each cell takes alone.
func (w *web) caps(k *kin) []int32 {
	if w.idle {
		k.settle()
		return k.idle
	}
	return k.now
}

// grow binds pods, kin by kin and round after round, until all are or none can be.
func (b *seating) grow(order []int, largeFirst bool) {
	for moved := true; moved && !b.whole(); {
		moved = false
		for _, i := range order {
			for b.placed[i] < b.kins[i].count && b.next(i, largeFirst) {
				moved = true
			}
		}
	}
}

// next binds one pod of a kin to the best place there is; false: there is none.
func (b *seating) next(i int, largeFirst bool) bool {
	var best spot
	found, looks := false, 0
	consider := func(s spot) {
		if s.hole == 0 {
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
	caps := b.caps(b.kins[i])
	for at := range b.pieces {
		p := &b.pieces[at]
		consider(spot{piece: at, cell: p.cell, node: p.nodes[0], hole: b.hole(i, at)})
	}
	emptiest, passed := b.emptiest(i), 0
	for _, cell := range b.w.byHole(i, largeFirst) {
		s := spot{piece: -1, cell: int(cell), hole: int(caps[cell]), fill: emptiest}
		if found && !s.before(best, largeFirst) { // nor is any after it: holes only get worse
			break
		}
		if passed++; b.left(s.cell) > 0 {
			s.node = b.fresh[cell][b.taken[cell]]
			consider(s)
		}
	}
	if !b.w.q.on.budget.spend(looks*b.w.stepsPerLook+(passed+len(b.pieces))/4) || !found {
		return false
	}
	if best.piece < 0 {
		best.piece = b.carve(best.cell, 1)
	}
	b.seat(i, best.piece)
	return true
}

// emptiest is less than or as much as fill1 of any place that takes a pod of a kin.
func (b *seating) emptiest(i int) (sum int) {
	for at := range b.w.even {
		if r := &b.w.even[at]; r.holders.has(i) && !r.unreal {
			sum += int(b.least[at])
		}
	}
	return sum
}

// byHole are the cells that take pods of a kin, the best holes first; ties by cell.
func (w *web) byHole(i int, largeFirst bool) []int32 {
	for len(w.holeOrder) < 2*len(w.kins) {
		w.holeOrder = append(w.holeOrder, nil)
	}
	at := 2*i + number(largeFirst)
	if w.holeOrder[at] != nil {
		return w.holeOrder[at]
	}
	caps := w.caps(w.kins[i])
	out := make([]int32, 0, len(caps))
	if !w.q.on.budget.spend(len(caps)) {
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

// spot is a place for one pod: a node of a piece, or the next fresh one of a cell.
type spot struct {
	piece, cell int
	node        int32
	hole        int
	fill        int // pods in its domains that spread rules count
}

// before says which of two places is better: the emptier domain, then the size of the hole.
func (s spot) before(o spot, largeFirst bool) bool {
	if s.fill != o.fill {
		return s.fill < o.fill
	}
	if largeFirst {
		return s.hole > o.hole
	}
	return s.hole < o.hole
}

func (b *seating) countsAt(piece int) []int32 {
	if piece < 0 {
		return nil
	}
	return b.count(piece)
}

// fill1 is how full the domains of a node are, by the spread rules that count the kin.
func (b *seating) fill1(i, cell int, node int32) (sum int) {
	for at := range b.w.even {
		r := &b.w.even[at]
		if !r.holders.has(i) && !r.counted.has(i) {
			continue
		}
		if d := b.w.tops[r.top].domain(cell, node); d >= 0 {
			sum += int(b.level(r, d))
		}
	}
	return sum
}

// more binds up to n more pods of a kin.
func (b *seating) more(i, n int) {
	for n > 0 && b.next(i, false) {
		n--
	}
}
