package capacity

import (
	"math"
	"math/bits"
)

// seating is pods of a stage on nodes, one after the other as a scheduler binds them, with
// all that ties them.
type seating struct {
	*packing
	w       *web
	in      [][]int32 // by topology: pods by domain and kin
	level   [][]int32 // by even rule: pods that count, by domain
	sizes   [][]int32 // by even rule: how many of the compared domains have so many pods
	least   []int32   // by even rule: the fewest pods in a domain that is compared
	seated  []int     // by near rule: pods that others may be near to
	at      []int32   // by share rule: the node of the volume; -1: none yet
	held    []int     // by share rule: pods that use it
	order   []step
	bold    bool // pass over what is not known
	anchors []int32
}

// step is one pod bound: where, and of which kin.
type step struct {
	kin  int
	node int32
}

// seating starts without a pod of the stage.
func (w *web) seating(beside crowd) *seating {
	b := &seating{packing: w.q.newPacking(w.kins, w.idle, beside), w: w}
	for i := range w.tops {
		b.in = append(b.in, make([]int32, w.tops[i].size*len(w.kins)))
	}
	for i := range w.even {
		r := &w.even[i]
		level := make([]int32, len(r.base))
		copy(level, r.base)
		b.level = append(b.level, level)
		var sizes []int32
		least := int32(math.MaxInt32)
		for d, n := range level {
			if !r.real[d] {
				continue
			}
			for len(sizes) <= int(n) {
				sizes = append(sizes, 0)
			}
			sizes[n]++
			least = min(least, n)
		}
		b.sizes, b.least = append(b.sizes, sizes), append(b.least, least)
	}
	b.seated = make([]int, len(w.near))
	for range w.share {
		b.at, b.held = append(b.at, -1), append(b.held, 0)
	}
	for range w.near {
		b.anchors = append(b.anchors, -1)
	}
	return b
}

// there is how many pods of some kins are in a domain.
func (b *seating) there(top int, domain int32, kins uint64) (n int32) {
	row := b.in[top][int(domain)*len(b.kins):]
	for ; kins != 0; kins &= kins - 1 {
		n += row[bits.TrailingZeros64(kins)]
	}
	return n
}

// may says whether the rules let one more pod of a kin onto a node, room aside; counts are
// the pods of the stage that are on it (nil: none).
func (b *seating) may(i, cell int, node int32, counts []int32) bool {
	me := uint64(1) << i
	return b.mayApart(i, me, cell, node) && b.mayNear(me, cell, node) && b.mayEven(me, cell, node) && b.mayShare(me, node) && b.w.mayAttach(i, cell, counts)
}

func (b *seating) mayApart(i int, me uint64, cell int, node int32) bool {
	for _, r := range b.w.apart {
		if r.holder != i && r.with&me == 0 {
			continue
		}
		d := b.w.tops[r.top].domain(cell, node)
		if d < 0 {
			continue
		}
		if r.holder == i && b.there(r.top, d, r.with) > 0 || r.with&me != 0 && b.there(r.top, d, 1<<r.holder) > 0 {
			return false
		}
	}
	return true
}

func (b *seating) mayNear(me uint64, cell int, node int32) bool {
	for at := range b.w.near {
		r := &b.w.near[at]
		if r.holders&me == 0 {
			continue
		}
		all := true
		for j, top := range r.tops {
			d := b.w.tops[top].domain(cell, node)
			if d < 0 {
				return false
			}
			all = all && (r.seeded[j][d] || b.there(top, d, r.with) > 0)
			if anchor := b.anchors[at]; j == 0 && anchor >= 0 && b.seated[at] == 0 && d != anchor {
				return false
			}
		}
		if !all && (!r.open || b.seated[at] > 0 || r.with&me == 0) {
			return false
		}
	}
	return true
}

func (b *seating) mayEven(me uint64, cell int, node int32) bool {
	for at := range b.w.even {
		r := &b.w.even[at]
		if r.holders&me == 0 {
			continue
		}
		d := b.w.tops[r.top].domain(cell, node)
		if d < 0 {
			return false
		}
		n := int(b.level[at][d])
		if r.self&me != 0 {
			n++
		}
		least := int(b.least[at])
		if r.short {
			least = 0
		}
		if n-least > r.skew {
			return false
		}
	}
	return true
}

func (b *seating) mayShare(me uint64, node int32) bool {
	for at := range b.w.share {
		if r := &b.w.share[at]; r.kins&me != 0 && (r.hard || !b.bold) && b.held[at] > 0 && (r.once || b.at[at] != node) {
			return false
		}
	}
	return true
}

// mayAttach says whether the node of a cell can attach what one more pod of a kin brings,
// beside what is on it (nil: nothing of the stage).
func (w *web) mayAttach(i, cell int, counts []int32) bool {
	for at := range w.slots {
		r := &w.slots[at]
		left, need := r.left[cell], r.own[i]
		for j, n := range counts {
			left -= r.own[j] * n
		}
		for v, kins := range r.shared {
			switch {
			case r.there[v][cell]:
			case anyOf(kins, counts):
				left--
			case kins>>i&1 == 1:
				need++
			}
		}
		if need > 0 && need > left {
			return false
		}
	}
	return true
}

// anyOf says whether one of some kins has a pod.
func anyOf(kins uint64, counts []int32) bool {
	for i, n := range counts {
		if n > 0 && kins>>i&1 == 1 {
			return true
		}
	}
	return false
}

// seat puts a pod of a kin on the only node of a piece.
func (b *seating) seat(i, at int) {
	cell, node := b.pieces[at].cell, b.pieces[at].nodes[0]
	b.put(i, at, 1)
	me := uint64(1) << i
	for top := range b.w.tops {
		if d := b.w.tops[top].domain(cell, node); d >= 0 {
			b.in[top][int(d)*len(b.kins)+i]++
		}
	}
	for rule := range b.w.even {
		b.raise(rule, me, cell, node)
	}
	for rule := range b.w.near {
		if b.w.near[rule].with&me != 0 {
			b.seated[rule]++
		}
	}
	for rule := range b.w.share {
		if b.w.share[rule].kins&me != 0 {
			b.at[rule] = node
			b.held[rule]++
		}
	}
	b.order = append(b.order, step{i, node})
}

// raise counts a pod for a spread rule.
func (b *seating) raise(rule int, me uint64, cell int, node int32) {
	r := &b.w.even[rule]
	d := b.w.tops[r.top].domain(cell, node)
	if d < 0 || r.counted&me == 0 || !r.cells[cell] {
		return
	}
	sizes, n := b.sizes[rule], b.level[rule][d]
	b.level[rule][d]++
	sizes[n]--
	if int(n)+1 == len(sizes) {
		sizes = append(sizes, 0)
	}
	sizes[n+1]++
	for b.least[rule] <= n && sizes[b.least[rule]] == 0 {
		b.least[rule]++
	}
	b.sizes[rule] = sizes
}
