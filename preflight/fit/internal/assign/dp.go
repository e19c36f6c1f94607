package assign

import (
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// mostStates is the size beyond which the exact search does not begin; what it tries, states
// times patterns times nodes, counts as steps of the question.
const mostStates = 4096

// dp decides whether pod sets fit by trying everything worth trying: node by node it
// keeps, for every number of pods of the smaller pod sets placed so far, the largest number
// of pods of the main pod set that is possible beside them. Of equal nodes it looks at no
// more than there are pods of the smaller pod sets: the others can do without them.
type dp struct {
	q      *Solver
	p      *Assignment // empty; gives room, and pods per node
	main   int         // the pod set with most pods
	small  []int       // the others
	stride []int       // of each small pod set in the numbering of states
	states int
	nodes  []dpNode // that were looked at, and take more than the main pod set
	sure   int      // pods of the main pod set on all nodes that are never looked at
	best   []int    // by state: pods of the main pod set; -1: not reachable
	chose  [][]choice
}

// dpNode is a node of a node group, or a bin.
type dpNode struct {
	nodeGroup, bin int // bin is -1 for fresh nodes
	patterns       []pattern
}

// choice is how a state was reached: a pattern on one node.
type choice struct {
	from    int32
	pattern int32
}

// pattern is what one node takes: pods of the small pod sets, and of the main one beside them.
type pattern struct {
	counts []int // by small pod set
	step   int   // in the numbering of states
	main   int
}

// dynamicProgram returns a whole assignment, or nil. decided says that the search came to an end: nil
// then proves that there is none.
func (q *Solver) dynamicProgram(podSets []*PodSet, idle bool, beside Reserved) (whole *Assignment, decided bool) {
	if len(podSets) == 0 {
		return nil, false
	}
	x := &dp{q: q, p: q.NewAssignment(podSets, idle, beside)}
	if !x.number() {
		return nil, false
	}
	x.each(func(_, _, like, nodes, looked int) bool {
		main := min(x.p.PodsPerNode(x.main, like), x.p.PodSets[x.main].Count)
		x.sure = int(saturate.Add(int64(x.sure), saturate.Mul(int64(main), int64(nodes-looked))))
		return true
	})
	whole, decided = nil, true
	// Of many nodes the first few may do: the patterns of the others are not worked out.
	x.each(func(nodeGroup, bin, like, _, looked int) bool {
		if looked == 0 {
			return true
		}
		patterns := x.patterns(like)
		for range looked {
			x.nodes = append(x.nodes, dpNode{nodeGroup, bin, patterns})
			if decided = x.step(patterns); !decided || x.done() {
				return false
			}
		}
		return true
	})
	if decided && x.done() {
		whole = x.readBack()
	}
	return whole, decided
}

// number numbers the states; false if there are too many.
func (x *dp) number() bool {
	podSets := x.p.PodSets
	for i, k := range podSets {
		if k.Count > podSets[x.main].Count {
			x.main = i
		}
	}
	x.states = 1
	for i, k := range podSets {
		if i == x.main {
			continue
		}
		if k.Count >= mostStates || x.states*(k.Count+1) > mostStates {
			return false
		}
		x.small, x.stride = append(x.small, i), append(x.stride, x.states)
		x.states *= k.Count + 1
	}
	x.best = make([]int, x.states)
	for s := range x.best {
		x.best[s] = -1
	}
	x.best[0] = 0
	return true
}

// each visits the nodes, those of a node group at once: how many there are like a bin, and how many
// of them have to be looked at. It ends where visit says false.
func (x *dp) each(visit func(nodeGroup, bin, like, nodes, looked int) bool) {
	small := 0
	for _, i := range x.small {
		small += x.p.PodSets[i].Count
	}
	looked := func(like, nodes int) int {
		if !slices.ContainsFunc(x.small, func(i int) bool { return x.p.PodsPerNode(i, like) > 0 }) {
			return 0
		}
		return min(nodes, small)
	}
	for at := range x.p.Bins {
		if !visit(x.p.Bins[at].NodeGroup, at, at, 1, min(1, looked(at, 1))) {
			return
		}
	}
	for nodeGroup := range x.p.Fresh {
		left := x.p.Left(nodeGroup)
		if left == 0 || !slices.ContainsFunc(x.p.PodSets, func(k *PodSet) bool { return x.p.Capacities(k)[nodeGroup] > 0 }) {
			continue
		}
		at := x.p.Add(nodeGroup, x.p.Fresh[nodeGroup][:1])
		more := visit(nodeGroup, -1, at, left, looked(at, left))
		if x.p.Drop(); !more {
			return
		}
	}
}

func (x *dp) done() bool {
	most := x.best[x.states-1]
	return most >= 0 && saturate.Add(int64(most), int64(x.sure)) >= int64(x.p.PodSets[x.main].Count)
}

// patterns are all ways to put small pod sets on a node, with the pods of the main pod set that
// still go beside them. The room of the node is as it was afterwards.
func (x *dp) patterns(on int) []pattern {
	var out []pattern
	counts, placed := make([]int, len(x.small)), slices.Clone(x.p.Placed)
	var choose func(depth, step int)
	choose = func(depth, step int) {
		if !x.q.Cycle.Budget.Spend(4) {
			return
		}
		if depth == len(x.small) {
			main := min(x.p.PodsPerNode(x.main, on), x.p.PodSets[x.main].Count)
			out = append(out, pattern{slices.Clone(counts), step, main})
			return
		}
		i := x.small[depth]
		most := min(x.p.PodsPerNode(i, on), x.p.PodSets[i].Count)
		for n := 0; n <= most; n++ {
			counts[depth] = n
			x.p.Put(i, on, n)
			choose(depth+1, step+n*x.stride[depth])
			x.p.Put(i, on, -n)
		}
		counts[depth] = 0
	}
	choose(0, 0)
	copy(x.p.Placed, placed)
	return out
}

// step adds a node; false if that is more than the search may try.
func (x *dp) step(patterns []pattern) bool {
	if !x.q.Cycle.Budget.Spend(x.states) {
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
		if !x.q.Cycle.Budget.Spend(len(patterns)) {
			return false
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

// within says that a pattern places no more pods of a small pod set than are left.
func (x *dp) within(state int, p *pattern) bool {
	for d, i := range x.small {
		size := x.p.PodSets[i].Count + 1
		if state/x.stride[d]%size+p.counts[d] >= size {
			return false
		}
	}
	return true
}

// readBack turns the choices into an assignment.
func (x *dp) readBack() *Assignment {
	state := x.states - 1
	for step, chosen := range slices.Backward(x.chose) {
		c := chosen[state]
		on := &x.nodes[step]
		p := &on.patterns[c.pattern]
		state = int(c.from)
		if p.step == 0 {
			continue
		}
		there := on.bin
		if there < 0 {
			there = x.p.Reserve(on.nodeGroup, 1)
		}
		for d, i := range x.small {
			x.p.Put(i, there, p.counts[d])
		}
	}
	x.p.Fill(x.main, x.p.PodSets[x.main].Count)
	return x.p
}
