package capacity

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// mostSequence is how many pods are bound while an order is looked for.
const mostSequence = 1 << 16

// bind looks for an order in which the pods can be bound where the search put them; nil:
// none was found.
func (x *sweep) bind(beside crowd) *seating {
	s := &sequence{x: x, seen: map[string]struct{}{}}
	for j := range x.nodes {
		s.quota = append(s.quota, slices.Clone(x.nodes[j].mixes[x.chosen[j]])...)
	}
	if !s.from(x.w.seating(beside)) {
		return nil
	}
	b := x.w.seating(beside)
	for _, n := range s.order {
		node := &x.nodes[n/len(x.w.kins)]
		b.seat(n%len(x.w.kins), b.pieceOf(node))
	}
	return b
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

// sequence looks for an order to bind pods whose nodes are settled.
type sequence struct {
	x     *sweep
	quota []int32 // by node of the sweep and kin: pods to bind yet
	order []int   // node times kins, plus kin
	seen  map[string]struct{}
	tried int
}

// from binds what is left on a seating that it may spoil.
func (s *sequence) from(b *seating) bool {
	var open []int
	for at, n := range s.quota {
		if n > 0 {
			open = append(open, at)
		}
	}
	if len(open) == 0 {
		return true
	}
	key := make([]byte, 0, len(s.quota))
	for _, n := range s.quota {
		key = binary.AppendUvarint(key, uint64(n))
	}
	if _, ok := s.seen[string(key)]; ok {
		return false
	}
	s.seen[string(key)] = struct{}{}
	k := len(s.x.w.kins)
	fill := func(at int) int {
		n := &s.x.nodes[at/k]
		return b.fill1(at%k, n.cell, n.node)
	}
	slices.SortStableFunc(open, func(a, c int) int { return cmp.Compare(fill(a), fill(c)) })
	for _, at := range open {
		n := &s.x.nodes[at/k]
		if s.tried++; s.tried > mostSequence {
			return false
		}
		piece := b.pieceOf(n)
		if !b.may(at%k, n.cell, n.node, b.count(piece)) {
			continue
		}
		next := b.copy()
		next.seat(at%k, piece)
		s.quota[at]--
		s.order = append(s.order, at)
		if s.from(next) {
			return true
		}
		s.quota[at]++
		s.order = s.order[:len(s.order)-1]
	}
	return false
}

// copy is a seating that goes its own way.
func (b *seating) copy() *seating {
	p, out := *b.packing, *b
	p.taken, p.pieces, p.rooms, p.counts, p.placed = slices.Clone(p.taken), slices.Clone(p.pieces), slices.Clone(p.rooms), slices.Clone(p.counts), slices.Clone(p.placed)
	out.packing = &p
	for _, rows := range []*[][]int32{&out.in, &out.level, &out.sizes} {
		*rows = slices.Clone(*rows)
		for i := range *rows {
			(*rows)[i] = slices.Clone((*rows)[i])
		}
	}
	out.least, out.seated, out.at, out.held, out.order = slices.Clone(b.least), slices.Clone(b.seated), slices.Clone(b.at), slices.Clone(b.held), slices.Clone(b.order)
	return &out
}
