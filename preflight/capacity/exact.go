package capacity

import (
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// mostStates is the size beyond which the exact search does not begin; what it tries, states
// times patterns times nodes, counts as steps of the question.
const mostStates = 4096

// search decides whether kins fit by trying everything worth trying: node by node it
// keeps, for every number of pods of the smaller kins placed so far, the largest number
// of pods of the main kin that is possible beside them. Of equal nodes it looks at no
// more than there are pods of the smaller kins: the others can do without them.
type search struct {
	q      *question
	p      *packing // empty; gives rooms and holes
	main   int      // the kin with most pods
	small  []int    // the others
	stride []int    // of each small kin in the numbering of states
	states int
	nodes  []seat // that take more than the main kin
	sure   int    // pods of the main kin on all other nodes
	best   []int  // by state: pods of the main kin; -1: not reachable
	chose  [][]choice
}

// seat is a node of a cell, or a piece.
type seat struct {
	cell, piece int // piece is -1 for fresh nodes
	patterns    []pattern
}

// choice is how a state was reached: a pattern on one node.
type choice struct {
	from    int32
	pattern int32
}

// pattern is what one node takes: pods of the small kins, and of the main one beside them.
type pattern struct {
	counts []int // by small kin
	step   int   // in the numbering of states
	main   int
}

// exact returns a whole packing, or nil. decided says that the search came to an end: nil
// then proves that there is none.
func (q *question) exact(kins []*kin, idle bool, beside crowd) (whole *packing, decided bool) {
	if len(kins) == 0 {
		return nil, false
	}
	x := &search{q: q, p: q.newPacking(kins, idle, beside)}
	if !x.number() || !x.lay() {
		return nil, false
	}
	for i := range x.nodes {
		if !x.step(x.nodes[i].patterns) {
			return nil, false
		}
		if x.done() {
			break
		}
	}
	if !x.done() {
		return nil, true
	}
	return x.readBack(), true
}

// number numbers the states; false if there are too many.
func (x *search) number() bool {
	kins := x.p.kins
	for i, k := range kins {
		if k.count > kins[x.main].count {
			x.main = i
		}
	}
	x.states = 1
	for i, k := range kins {
		if i == x.main {
			continue
		}
		if k.count >= mostStates || x.states*(k.count+1) > mostStates {
			return false
		}
		x.small, x.stride = append(x.small, i), append(x.stride, x.states)
		x.states *= k.count + 1
	}
	x.best = make([]int, x.states)
	for s := range x.best {
		x.best[s] = -1
	}
	x.best[0] = 0
	return true
}

// lay finds the nodes to look at, one by one; false if there are too many.
func (x *search) lay() bool {
	small := 0
	for _, i := range x.small {
		small += x.p.kins[i].count
	}
	for at := range x.p.pieces {
		x.seat(x.p.pieces[at].cell, at, at, 1, 1)
	}
	for cell := range x.p.fresh {
		left := x.p.left(cell)
		if left == 0 || !slices.ContainsFunc(x.p.kins, func(k *kin) bool { return x.p.caps(k)[cell] > 0 }) {
			continue
		}
		x.seat(cell, -1, x.p.add(cell, x.p.fresh[cell][:1]), left, min(left, small))
		x.p.drop()
	}
	return true
}

// seat adds as many nodes like that of a piece as have to be looked at.
func (x *search) seat(cell, piece, like, nodes, looked int) {
	main := min(x.p.hole(x.main, like), x.p.kins[x.main].count)
	if !slices.ContainsFunc(x.small, func(i int) bool { return x.p.hole(i, like) > 0 }) {
		looked = 0
	}
	x.sure = int(saturate.Add(int64(x.sure), saturate.Mul(int64(main), int64(nodes-looked))))
	if looked == 0 {
		return
	}
	patterns := x.patterns(like)
	for range looked {
		x.nodes = append(x.nodes, seat{cell, piece, patterns})
	}
}

func (x *search) done() bool {
	most := x.best[x.states-1]
	return most >= 0 && saturate.Add(int64(most), int64(x.sure)) >= int64(x.p.kins[x.main].count)
}

// patterns are all ways to put small kins on a node, with the pods of the main kin that
// still go beside them. The room of the node is as it was afterwards.
func (x *search) patterns(on int) []pattern {
	var out []pattern
	counts, placed := make([]int, len(x.small)), slices.Clone(x.p.placed)
	var choose func(depth, step int)
	choose = func(depth, step int) {
		if !x.q.on.budget.spend(4) {
			return
		}
		if depth == len(x.small) {
			main := min(x.p.hole(x.main, on), x.p.kins[x.main].count)
			out = append(out, pattern{slices.Clone(counts), step, main})
			return
		}
		i := x.small[depth]
		most := min(x.p.hole(i, on), x.p.kins[i].count)
		for n := 0; n <= most; n++ {
			counts[depth] = n
			x.p.put(i, on, n)
			choose(depth+1, step+n*x.stride[depth])
			x.p.put(i, on, -n)
		}
		counts[depth] = 0
	}
	choose(0, 0)
	copy(x.p.placed, placed)
	return out
}

// step adds a node; false if that is more than the search may try.
func (x *search) step(patterns []pattern) bool {
	if !x.q.on.budget.spend(len(patterns) * x.states) {
		return false
	}
	next, chose := make([]int, x.states), make([]choice, x.states)
	for s := range next {
		next[s] = -1
	}
	for s, have := range x.best {
		if have < 0 {
			continue
		}
		for i := range patterns {
			p := &patterns[i]
			if to := s + p.step; x.within(s, p) && have+p.main > next[to] {
				next[to], chose[to] = have+p.main, choice{int32(s), int32(i)}
			}
		}
	}
	x.best, x.chose = next, append(x.chose, chose)
	return true
}

// within says that a pattern places no more pods of a small kin than are left.
func (x *search) within(state int, p *pattern) bool {
	for d, i := range x.small {
		size := x.p.kins[i].count + 1
		if state/x.stride[d]%size+p.counts[d] >= size {
			return false
		}
	}
	return true
}

// readBack turns the choices into a packing.
func (x *search) readBack() *packing {
	state := x.states - 1
	for step, chosen := range slices.Backward(x.chose) {
		c := chosen[state]
		on := &x.nodes[step]
		p := &on.patterns[c.pattern]
		state = int(c.from)
		if p.step == 0 {
			continue
		}
		there := on.piece
		if there < 0 {
			there = x.p.carve(on.cell, 1)
		}
		for d, i := range x.small {
			x.p.put(i, there, p.counts[d])
		}
	}
	x.p.fill(x.main, x.p.kins[x.main].count, false)
	return x.p
}
