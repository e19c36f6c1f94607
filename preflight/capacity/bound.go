package capacity

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// answer is what is known about kins on some room.
type answer struct {
	best *packing // the one that places most
	yes  bool     // best is whole
	no   bool     // proven: no packing is whole
	rule string   // that no packing can keep; empty: there is no room
}

// solve tries to prove that the kins cannot be placed, and places as many as it can.
func (q *question) solve(kins []*kin, idle bool, beside crowd) answer {
	a := answer{no: !plenty(kins, idle) && q.cannot(kins, idle)} // where there is plenty, sums need not be made
	a.best = q.pack(kins, idle, beside, a.no)
	if a.yes = a.best == nil || a.best.whole(); a.yes || a.no {
		return a
	}
	whole, decided := q.exact(kins, idle, beside)
	if whole != nil {
		return answer{best: whole, yes: true}
	}
	a.no = decided
	return a
}

// decide is solve for those who do not ask where the pods go: it places none where
// numbers alone decide.
func (q *question) decide(kins []*kin, idle bool) answer {
	switch {
	case q.cannot(kins, idle):
		return answer{no: true}
	case plenty(kins, idle):
		return answer{yes: true}
	default:
		return q.solve(kins, idle, nil)
	}
}

// plenty proves that there is a packing, and that any way to place the pods finds one: a
// pod of another kin spoils no more than one node, and a node no more than takes most.
func plenty(kins []*kin, idle bool) bool {
	all := int64(0)
	for _, k := range kins {
		all = saturate.Add(all, int64(k.count))
	}
	for _, k := range kins {
		peak := int64(k.peak)
		if idle {
			peak = int64(k.idleSums.peak)
		}
		if k.most(idle)-min(math.MaxInt64/2, saturate.Mul(peak, all-int64(k.count))) < int64(k.count) {
			return false
		}
	}
	return true
}

// most is how many pods of the kin all nodes take, were there nobody else.
func (k *kin) most(idle bool) int64 {
	if idle {
		k.settle()
		return k.idleSums.total
	}
	return k.total
}

// mostSubsets bounds the kins of which all subsets are looked at.
const mostSubsets = 6

// cannot proves that there is no packing, by numbers that no packing can pass: pods of a
// kin on the nodes that take it, and every resource in sum on the nodes that take any of
// a set of kins.
func (q *question) cannot(kins []*kin, idle bool) bool {
	for _, k := range kins {
		if k.most(idle) < int64(k.count) {
			return true
		}
	}
	if len(kins) < 2 {
		return false
	}
	sums := q.on.roomOf(kins, idle)
	if len(kins) > mostSubsets {
		return sums.short(kins, everyKin)
	}
	for set := 1; set < 1<<len(kins); set++ {
		if sums.short(kins, set) {
			return true
		}
	}
	return false
}

// roomSums are the room on nodes, added up by which of some kins they take.
type roomSums struct {
	holes   []*holes // of the kins
	idle    bool
	columns []int
	have    map[int][]int64 // by set of kins, then column
}

// roomOf adds up the room for kins, or finds it added up.
func (on *ground) roomOf(kins []*kin, idle bool) *roomSums {
	for _, r := range on.sums {
		if r.idle == idle && slices.EqualFunc(r.holes, kins, func(h *holes, k *kin) bool { return h == k.holes }) {
			return r
		}
	}
	r := &roomSums{idle: idle, have: map[int][]int64{}}
	for _, k := range kins {
		r.holes = append(r.holes, k.holes)
		for _, n := range k.needs {
			if n.Column >= 0 && !slices.Contains(r.columns, n.Column) {
				r.columns = append(r.columns, n.Column)
			}
		}
	}
	room := on.s.Columns().Free
	if idle {
		room = on.s.Columns().Idle
	}
	for cell, class := range on.grid.Class {
		if !on.budget.spend(len(kins)) {
			break
		}
		set := r.takes(cell)
		if set == 0 {
			continue
		}
		have := r.have[set]
		if have == nil {
			have = make([]int64, len(r.columns))
			r.have[set] = have
		}
		for i, column := range r.columns {
			have[i] = saturate.Add(have[i], saturate.Mul(room[column][class], on.grid.Weight(cell)))
		}
	}
	on.sums = append(on.sums, r)
	return r
}

// everyKin is the set of all kins where they are too many for all subsets to be looked at.
const everyKin = 1 << mostSubsets

// takes is the set of kins that a cell takes.
func (r *roomSums) takes(cell int) int {
	set, many := 0, len(r.holes) > mostSubsets
	for i, h := range r.holes {
		counts := h.now
		if r.idle {
			counts = h.idle
		}
		switch {
		case counts[cell] == 0:
		case many:
			return everyKin
		default:
			set |= 1 << i
		}
	}
	return set
}

// short says whether a set of kins asks for more of a resource than there is on all
// nodes that take any of them.
func (r *roomSums) short(kins []*kin, set int) bool {
	for i, column := range r.columns {
		want, have := int64(0), int64(0)
		for at, k := range kins {
			if set == everyKin || set>>at&1 == 1 {
				want = saturate.Add(want, saturate.Mul(k.takesOf(column), int64(k.count)))
			}
		}
		for takes, sums := range r.have {
			if takes&set != 0 {
				have = saturate.Add(have, sums[i])
			}
		}
		// A sum that saturated is no sum.
		if have < want && want < math.MaxInt64 {
			return true
		}
	}
	return false
}

// takesOf is what one pod takes of a column.
func (k *kin) takesOf(column int) int64 {
	for _, n := range k.needs {
		if n.Column == column {
			return n.N
		}
	}
	return 0
}

// sums compares, for each resource of the kins, what is asked with what there is on
// nodes that may take a kin which asks for it.
func (q *question) sums(kins []*kin, room [][]int64, beside crowd, may func(gate) bool) []Shortfall {
	var out []Shortfall
	for _, k := range kins {
		for _, n := range k.needs {
			if !slices.ContainsFunc(out, func(s Shortfall) bool { return s.Resource == n.Name }) {
				out = append(out, q.sum(n, kins, room, beside, may))
			}
		}
	}
	return out
}

// sum is the comparison for one resource.
func (q *question) sum(of cluster.Need, kins []*kin, room [][]int64, beside crowd, may func(gate) bool) Shortfall {
	s := Shortfall{Resource: of.Name}
	var askers, largest []*kin
	for _, k := range kins {
		n := k.needOf(of.Name)
		if n == 0 {
			continue
		}
		askers = append(askers, k)
		s.Asked = saturate.Add(s.Asked, saturate.Mul(n, int64(k.count)))
		if n > s.NeededHole {
			s.NeededHole, s.Largest, largest = n, 0, nil
		}
		if n == s.NeededHole {
			s.Largest, largest = int(saturate.Add(int64(s.Largest), int64(k.count))), append(largest, k)
		}
	}
	if of.Column < 0 {
		return s
	}
	some, most := cellsFor(askers, may), cellsFor(largest, may)
	for cell, class := range q.on.grid.Class {
		if !some[cell] {
			continue
		}
		free, nodes := room[of.Column][class], q.on.grid.Weight(cell)
		for _, node := range q.on.grid.Nodes[cell] {
			if len(beside) == 0 {
				break
			}
			if taken, ok := beside[node]; ok {
				s.hole(max(0, free-taken[of.Column]), 1, most[cell])
				nodes--
			}
		}
		if nodes > 0 {
			s.hole(free, nodes, most[cell])
		}
	}
	return s
}

// hole adds what some nodes have each; large says that they take the largest pods.
func (s *Shortfall) hole(free, nodes int64, large bool) {
	s.Free, s.LargestHole = saturate.Add(s.Free, saturate.Mul(free, nodes)), max(s.LargestHole, free)
	if large && free >= s.NeededHole {
		s.Holes = int(min(math.MaxInt32, saturate.Add(int64(s.Holes), saturate.Mul(free/s.NeededHole, nodes))))
	}
}

// cellsFor marks the cells that may take any of the kins.
func cellsFor(kins []*kin, may func(gate) bool) []bool {
	var passes [closed + 1]bool
	for g := range passes {
		passes[g] = may(gate(g))
	}
	var out []bool
	for _, k := range kins {
		gates := k.gatesNow()
		if out == nil {
			out = make([]bool, len(gates))
		}
		for cell, g := range gates {
			out[cell] = out[cell] || passes[g]
		}
	}
	return out
}

// needOf is what one pod asks for of a resource.
func (k *kin) needOf(name corev1.ResourceName) int64 {
	for _, n := range k.needs {
		if n.Name == name {
			return n.N
		}
	}
	return 0
}
