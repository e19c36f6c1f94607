package capacity

import "slices"

// The exact search gives up beyond these sizes; then the answer is "unknown" rather than
// late. They bound it to some milliseconds and megabytes.
const (
	mostStates  = 4096
	mostCells   = 4 << 20  // states times nodes, remembered to read the plan back
	mostChanges = 16 << 20 // states times patterns times nodes, tried
)

// search decides whether kins fit by trying everything worth trying: node by node it
// keeps, for every number of pods of the smaller kins placed so far, the largest number
// of pods of the main kin that is possible beside them.
type search struct {
	q      *question
	p      *packing // empty; gives rooms and holes
	main   int      // the kin with most pods
	small  []int    // the others
	stride []int    // of each small kin in the numbering of states
	states int
	nodes  []int // that take more than the main kin
	sure   int   // pods of the main kin on all other nodes
	best   []int // by state: pods of the main kin; -1: not reachable
	chose  [][]choice
	tried  int
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
func (q *question) exact(kins []*kin, room [][]int64, caps func(*kin) []int) (whole *packing, decided bool) {
	if len(kins) == 0 {
		return nil, false
	}
	x := &search{q: q, p: q.newPacking(kins, room, caps)}
	if !x.lay() {
		return nil, false
	}
	patterns := make([][]pattern, 0, len(x.nodes))
	for _, at := range x.nodes {
		patterns = append(patterns, x.patterns(at))
		if !x.step(patterns[len(patterns)-1]) {
			return nil, false
		}
		if x.done() {
			break
		}
	}
	if !x.done() {
		return nil, true
	}
	return x.readBack(patterns), true
}

// lay numbers the states; false if there are too many.
func (x *search) lay() bool {
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
	for at := range x.q.s.nodes {
		if slices.ContainsFunc(x.small, func(i int) bool { return x.p.hole(i, at) > 0 }) {
			x.nodes = append(x.nodes, at)
		} else {
			x.sure += x.p.hole(x.main, at)
		}
	}
	x.best = make([]int, x.states)
	for s := range x.best {
		x.best[s] = -1
	}
	x.best[0] = 0
	return len(x.nodes)*x.states <= mostCells
}

func (x *search) done() bool {
	most := x.best[x.states-1]
	return most >= 0 && most+x.sure >= x.p.kins[x.main].count
}

// patterns are all ways to put small kins on a node, with the pods of the main kin that
// still go beside them. The room of the node is as it was afterwards.
func (x *search) patterns(at int) []pattern {
	var out []pattern
	counts := make([]int, len(x.small))
	var choose func(depth, step int)
	choose = func(depth, step int) {
		if len(out)*x.states > mostChanges {
			return
		}
		if depth == len(x.small) {
			main := min(x.p.hole(x.main, at), x.p.kins[x.main].count)
			out = append(out, pattern{slices.Clone(counts), step, main})
			return
		}
		i := x.small[depth]
		most := min(x.p.hole(i, at), x.p.kins[i].count)
		for n := 0; n <= most; n++ {
			counts[depth] = n
			x.p.put(i, at, n)
			choose(depth+1, step+n*x.stride[depth])
			x.p.put(i, at, -n)
		}
		counts[depth] = 0
	}
	choose(0, 0)
	return out
}

// step adds a node; false if that is more than the search may try.
func (x *search) step(patterns []pattern) bool {
	x.tried += len(patterns) * x.states
	if x.tried > mostChanges {
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
func (x *search) readBack(patterns [][]pattern) *packing {
	state := x.states - 1
	for step, chosen := range slices.Backward(x.chose) {
		c := chosen[state]
		p, at := &patterns[step][c.pattern], x.nodes[step]
		for d, i := range x.small {
			x.p.put(i, at, p.counts[d])
		}
		state = int(c.from)
	}
	left := x.p.kins[x.main].count
	for at := range x.q.s.nodes {
		n := min(left, x.p.hole(x.main, at))
		x.p.put(x.main, at, n)
		left -= n
	}
	return x.p
}
