package capacity

import (
	"math"
)

// seating is pods of a stage on nodes, one after the other as a scheduler binds them, with
// all that ties them. A pod can be taken back; then everything is as if it had not come.
type seating struct {
	*packing
	w       *web
	in      [][]int32 // by counter, then domain: pods of the stage
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
	b := w.spare
	if b == nil {
		b = &seating{packing: w.q.newPacking(w.kins, w.idle, beside), w: w, in: w.zeros()}
	} else {
		b.reset(beside)
		for _, counts := range b.in {
			clear(counts)
		}
		*b = seating{packing: b.packing, w: w, in: b.in}
	}
	w.spare = nil
	for i := range w.even {
		r := &w.even[i]
		var sizes []int32
		least := int32(math.MaxInt32)
		for d, n := range r.base {
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

// zeros are the counters of a web without a pod, by counter, then domain.
func (w *web) zeros() [][]int32 {
	total := 0
	for _, c := range w.counters {
		total += w.tops[c.top].size
	}
	block, out := w.q.on.numbers(total), make([][]int32, len(w.counters))
	for at, c := range w.counters {
		n := w.tops[c.top].size
		out[at], block = block[:n:n], block[n:]
	}
	return out
}

// level is how many pods of a domain a spread rule counts.
func (b *seating) level(r *evenRule, domain int32) int32 {
	return r.base[domain] + b.in[r.level][domain]
}

// may says whether the rules let one more pod of a kin onto a node, room aside; counts are
// the pods of the stage that are on it (nil: none).
func (b *seating) may(i, cell int, node int32, counts []int32) bool {
	return b.mayApart(i, cell, node) && b.mayNear(i, cell, node) && b.mayEven(i, cell, node) && b.mayShare(i, node) && b.w.mayAttach(i, cell, counts)
}

func (b *seating) mayApart(i, cell int, node int32) bool {
	for at := range b.w.apart {
		r := &b.w.apart[at]
		holds, meant := r.holders.has(i), r.with.has(i)
		if !holds && !meant {
			continue
		}
		d := b.w.tops[r.top].domain(cell, node)
		if d < 0 {
			continue
		}
		if holds && b.in[r.there][d] > 0 || meant && b.in[r.held][d] > 0 {
			return false
		}
	}
	return true
}

func (b *seating) mayNear(i, cell int, node int32) bool {
	for at := range b.w.near {
		r := &b.w.near[at]
		if !r.holders.has(i) {
			continue
		}
		all := true
		for j, top := range r.tops {
			d := b.w.tops[top].domain(cell, node)
			if d < 0 {
				return false
			}
			all = all && (r.seeded[j][d] || b.in[r.there[j]][d] > 0)
			if anchor := b.anchors[at]; j == 0 && anchor >= 0 && b.seated[at] == 0 && d != anchor {
				return false
			}
		}
		if !all && (!r.open || b.seated[at] > 0 || !r.with.has(i)) {
			return false
		}
	}
	return true
}

func (b *seating) mayEven(i, cell int, node int32) bool {
	for at := range b.w.even {
		r := &b.w.even[at]
		if !r.holders.has(i) {
			continue
		}
		d := b.w.tops[r.top].domain(cell, node)
		if d < 0 {
			return false
		}
		n := int(b.level(r, d))
		if r.self.has(i) {
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

func (b *seating) mayShare(i int, node int32) bool {
	for at := range b.w.share {
		if r := &b.w.share[at]; r.kins.has(i) && (r.hard || !b.bold) && b.held[at] > 0 && (r.once || b.at[at] != node) {
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
			case counts != nil && kins.podsOf(counts) > 0:
				left--
			case kins.has(i):
				need++
			}
		}
		if need > 0 && need > left {
			return false
		}
	}
	return true
}

// seat puts a pod of a kin on the only node of a piece.
func (b *seating) seat(i, at int) {
	cell, node := b.pieces[at].cell, b.pieces[at].nodes[0]
	b.put(i, at, 1)
	b.tally(i, cell, node, 1)
	for rule := range b.w.near {
		if b.w.near[rule].with.has(i) {
			b.seated[rule]++
		}
	}
	for rule := range b.w.share {
		if b.w.share[rule].kins.has(i) {
			b.at[rule] = node
			b.held[rule]++
		}
	}
	b.order = append(b.order, step{i, node})
}

// unseat takes back the pod that was seated last, which is on a piece.
func (b *seating) unseat(i, at int) {
	cell, node := b.pieces[at].cell, b.pieces[at].nodes[0]
	b.put(i, at, -1)
	b.tally(i, cell, node, -1)
	for rule := range b.w.near {
		if b.w.near[rule].with.has(i) {
			b.seated[rule]--
		}
	}
	for rule := range b.w.share {
		if !b.w.share[rule].kins.has(i) {
			continue
		}
		if b.held[rule]--; b.held[rule] == 0 {
			b.at[rule] = -1
		}
	}
	b.order = b.order[:len(b.order)-1]
}

// tally lets all counters know of a pod that came to a node, or left it.
func (b *seating) tally(i, cell int, node, by int32) {
	for _, at := range b.w.feeds[i] {
		c := &b.w.counters[at]
		if d := b.w.tops[c.top].domain(cell, node); d >= 0 && (c.cells == nil || c.cells[cell]) {
			b.in[at][d] += by
		}
	}
	for rule := range b.w.even {
		r := &b.w.even[rule]
		d := b.w.tops[r.top].domain(cell, node)
		if d < 0 || !r.counted.has(i) || !r.cells[cell] {
			continue
		}
		sizes, n := b.sizes[rule], b.level(r, d)
		for int(n) >= len(sizes) {
			sizes = append(sizes, 0)
		}
		sizes[n-by]--
		sizes[n]++
		for b.least[rule] = min(b.least[rule], n); sizes[b.least[rule]] == 0; {
			b.least[rule]++
		}
		b.sizes[rule] = sizes
	}
}
