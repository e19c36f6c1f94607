package capacity

import (
	"cmp"
	"slices"
)

// sequence looks for an order to bind pods whose nodes are settled.
type sequence struct {
	*seating
	nodes []swept
	piece []int    // by node of the sweep: its piece
	quota []uint32 // by node of the sweep and kin: pods to bind yet
	seen  *memo
	open  [][]int // by pods bound, then in the order in which they are tried
}

// bind looks for an order in which the pods can be bound where the search put them; nil:
// none was found.
func (x *sweep) bind(beside crowd) *seating {
	s := &sequence{seating: x.w.seating(beside), nodes: x.nodes, seen: x.seen.empty()}
	for j := range x.nodes {
		s.piece = append(s.piece, s.pieceOf(&x.nodes[j]))
		for _, n := range x.nodes[j].mixes[x.chosen[j]].pods {
			s.quota = append(s.quota, uint32(n))
		}
	}
	if !s.from() {
		return nil
	}
	return s.seating
}

// pieceOf is the piece of a node, made if it is not begun yet.
func (b *seating) pieceOf(n *swept) int {
	for at := range b.pieces {
		if b.pieces[at].nodes[0] == n.node {
			return at
		}
	}
	from := int(b.taken[n.cell])
	if at := slices.Index(b.fresh[n.cell], n.node); at > from { // nodes of a cell are alike
		b.fresh = slices.Clone(b.fresh)
		b.fresh[n.cell] = slices.Clone(b.fresh[n.cell])
		b.fresh[n.cell][from], b.fresh[n.cell][at] = b.fresh[n.cell][at], b.fresh[n.cell][from]
	}
	return b.carve(n.cell, 1)
}

// from binds what is left. What it bound stays bound where it succeeds, and only there.
func (s *sequence) from() bool {
	depth := len(s.order)
	for len(s.open) <= depth {
		s.open = append(s.open, nil)
	}
	open := s.open[depth][:0]
	for at, n := range s.quota {
		if n > 0 {
			open = append(open, at)
		}
	}
	if s.open[depth] = open; len(open) == 0 {
		return true
	}
	if s.seen.has(s.quota, 0) || !s.w.q.on.budget.spend(len(s.quota)) {
		return false
	}
	k := len(s.kins)
	fill := func(at int) int {
		n := &s.nodes[at/k]
		return s.fill1(at%k, n.cell, n.node)
	}
	slices.SortStableFunc(open, func(a, c int) int { return cmp.Compare(fill(a), fill(c)) })
	for _, at := range open {
		n, piece := &s.nodes[at/k], s.piece[at/k]
		if !s.w.q.on.budget.spend(s.w.stepsPerLook) {
			return false
		}
		if !s.may(at%k, n.cell, n.node, s.count(piece)) {
			continue
		}
		s.seat(at%k, piece)
		s.quota[at]--
		if s.from() {
			return true
		}
		s.quota[at]++
		s.unseat(at%k, piece)
	}
	return false
}
