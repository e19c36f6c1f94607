package assign

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// Answer is what is known about pod sets on some room.
type Answer struct {
	Best *Assignment // the one that places most
	Yes  bool        // best is whole
	No   bool        // proven: no assignment is whole
	Rule string      // that no assignment can keep; empty: there is no room

	Everywhere bool // no other nodes would help against the rule

	Unordered bool // no, for there are nodes for the pods but no order to bind them: others may come whom they can follow
}

// Solve tries to prove that the pod sets cannot be placed, and places as many as it can.
func (q *Solver) Solve(podSets []*PodSet, idle bool, beside Reserved) Answer {
	a := Answer{No: !plenty(podSets, idle) && q.Cannot(podSets, idle)} // where there is plenty, sums need not be made
	a.Best = q.pack(podSets, idle, beside)
	if a.Yes = a.Best.Whole(); a.Yes || a.No {
		return a
	}
	whole, decided := q.dynamicProgram(podSets, idle, beside)
	if whole != nil {
		return Answer{Best: whole, Yes: true}
	}
	a.No = decided
	return a
}

// Decide is solve for callers that do not ask where the pods go: it places none where
// numbers alone decide.
func (q *Solver) Decide(podSets []*PodSet, idle bool) Answer {
	switch {
	case q.Cannot(podSets, idle):
		return Answer{No: true}
	case plenty(podSets, idle):
		return Answer{Yes: true}
	default:
		return q.Solve(podSets, idle, nil)
	}
}

// plenty proves that there is an assignment, and that any way to place the pods finds one: a
// pod of another pod set spoils no more than one node, and a node no more than takes most.
func plenty(podSets []*PodSet, idle bool) bool {
	all := int64(0)
	for _, k := range podSets {
		all = saturate.Add(all, int64(k.Count))
	}
	for _, k := range podSets {
		peak := int64(k.peak)
		if idle {
			peak = int64(k.IdleSums.peak)
		}
		if k.Most(idle)-min(math.MaxInt64/2, saturate.Mul(peak, all-int64(k.Count))) < int64(k.Count) {
			return false
		}
	}
	return true
}

// Most is how many pods of the pod set all nodes take, were there no other pods.
func (k *PodSet) Most(idle bool) int64 {
	if idle {
		k.CountIdle()
		return k.IdleSums.Total
	}
	return k.Total
}

// mostSubsets bounds the pod sets of which all subsets are looked at.
const mostSubsets = 6

// Cannot proves that there is no assignment, by numbers that no assignment can pass: pods of a
// pod set on the nodes that take it, and every resource in sum on the nodes that take any of
// a set of pod sets.
func (q *Solver) Cannot(podSets []*PodSet, idle bool) bool {
	for _, k := range podSets {
		if k.Most(idle) < int64(k.Count) {
			return true
		}
	}
	if len(podSets) < 2 {
		return false
	}
	sums := q.Cycle.roomOf(podSets, idle)
	if len(podSets) > mostSubsets {
		return sums.short(podSets, everySet)
	}
	for set := 1; set < 1<<len(podSets); set++ {
		if sums.short(podSets, set) {
			return true
		}
	}
	return false
}

// resourceSums are the room on nodes, added up by which of some pod sets they take.
type resourceSums struct {
	capacities []*capacity // of the pod sets
	idle       bool
	columns    []int
	have       map[int][]int64 // by set of pod sets, then column
}

// roomOf adds up the room for pod sets, or finds it added up.
func (cycle *Cycle) roomOf(podSets []*PodSet, idle bool) *resourceSums {
	for _, r := range cycle.ResourceSums {
		if r.idle == idle && slices.EqualFunc(r.capacities, podSets, func(h *capacity, k *PodSet) bool { return h == k.capacity }) {
			return r
		}
	}
	r := &resourceSums{idle: idle, have: map[int][]int64{}}
	for _, k := range podSets {
		r.capacities = append(r.capacities, k.capacity)
		for _, n := range k.Needs {
			if n.Column >= 0 && !slices.Contains(r.columns, n.Column) {
				r.columns = append(r.columns, n.Column)
			}
		}
	}
	room := cycle.s.Columns().Free
	if idle {
		room = cycle.s.Columns().Idle
	}
	var have []int64 // of the node group before, whose set most share
	before := 0
	for nodeGroup, class := range cycle.Grouping.Class {
		if !cycle.Budget.Spend(len(podSets)) {
			break
		}
		set := r.takes(nodeGroup)
		if set == 0 {
			continue
		}
		if set != before {
			if have, before = r.have[set], set; have == nil {
				have = make([]int64, len(r.columns))
				r.have[set] = have
			}
		}
		nodes := cycle.Grouping.Weight(nodeGroup)
		for i, column := range r.columns {
			free := room[column][class]
			if nodes > 1 {
				free = saturate.Mul(free, nodes)
			}
			have[i] = saturate.Add(have[i], free)
		}
	}
	if cycle.Budget.Spend(0) { // what was added up in part is not kept
		cycle.ResourceSums = append(cycle.ResourceSums, r)
	}
	return r
}

// everySet is the set of all pod sets where they are too many for all subsets to be looked at.
const everySet = 1 << mostSubsets

// takes is the set of pod sets that a node group takes.
func (r *resourceSums) takes(nodeGroup int) int {
	set, many := 0, len(r.capacities) > mostSubsets
	for i, h := range r.capacities {
		counts := h.Now
		if r.idle {
			counts = h.Idle
		}
		switch {
		case counts[nodeGroup] == 0:
		case many:
			return everySet
		default:
			set |= 1 << i
		}
	}
	return set
}

// short says whether a set of pod sets asks for more of a resource than there is on all
// nodes that take any of them.
func (r *resourceSums) short(podSets []*PodSet, set int) bool {
	for i, column := range r.columns {
		want, have := int64(0), int64(0)
		for at, k := range podSets {
			if set == everySet || set>>at&1 == 1 {
				want = saturate.Add(want, saturate.Mul(k.takesOf(column), int64(k.Count)))
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
func (k *PodSet) takesOf(column int) int64 {
	for _, n := range k.Needs {
		if n.Column == column {
			return n.N
		}
	}
	return 0
}

// NeedOf is what one pod asks for of a resource.
func (k *PodSet) NeedOf(name corev1.ResourceName) int64 {
	for _, n := range k.Needs {
		if n.Name == name {
			return n.N
		}
	}
	return 0
}
