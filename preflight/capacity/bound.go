package capacity

import (
	"math"

	corev1 "k8s.io/api/core/v1"
)

// answer is what is known about kins on some room.
type answer struct {
	best *packing // the one that places most
	yes  bool     // best is whole
	no   bool     // proven: no packing is whole
}

// solve tries to place the kins, then to prove that they cannot be placed.
func (q *question) solve(kins []*kin, room [][]int64, caps func(*kin) []int) answer {
	a := answer{best: q.pack(kins, room, caps)}
	if a.yes = a.best == nil || a.best.whole(); a.yes {
		return a
	}
	if q.cannot(kins, room, caps) {
		a.no = true
		return a
	}
	whole, decided := q.exact(kins, room, caps)
	if whole != nil {
		return answer{best: whole, yes: true}
	}
	a.no = decided
	return a
}

// mostSubsets bounds the kins of which all subsets are looked at.
const mostSubsets = 6

// cannot proves that there is no packing, by numbers that no packing can pass: pods of a
// kin on the nodes that take it, and every resource in sum on the nodes that take any of
// a set of kins.
func (q *question) cannot(kins []*kin, room [][]int64, caps func(*kin) []int) bool {
	for _, k := range kins {
		if sumUpTo(caps(k), int64(k.count)) < int64(k.count) {
			return true
		}
	}
	if len(kins) < 2 || len(kins) > mostSubsets {
		return len(kins) > mostSubsets && q.sumsShort(kins, 1<<len(kins)-1, room, caps)
	}
	for set := 1; set < 1<<len(kins); set++ {
		if q.sumsShort(kins, set, room, caps) {
			return true
		}
	}
	return false
}

// sumsShort says whether a set of kins asks for more of a resource than there is on all
// nodes that take any of them.
func (q *question) sumsShort(kins []*kin, set int, room [][]int64, caps func(*kin) []int) bool {
	asked := map[int]int64{}
	for i, k := range kins {
		if set>>i&1 == 0 {
			continue
		}
		for _, n := range k.needs {
			asked[n.column] = plus(asked[n.column], times(n.n, int64(k.count)))
		}
	}
	for column, want := range asked {
		if column < 0 {
			return true
		}
		have := int64(0)
		for at := range q.s.nodes {
			for i, k := range kins {
				if set>>i&1 == 1 && caps(k)[at] > 0 {
					have = plus(have, room[column][at])
					break
				}
			}
		}
		// A sum that saturated is no sum.
		if have < want && want < math.MaxInt64 {
			return true
		}
	}
	return false
}

// sums compares, for each resource of the kins, what is asked with what there is on
// nodes that may take a kin which asks for it.
func (q *question) sums(kins []*kin, room [][]int64, may func(gate) bool) []Shortfall {
	var names []corev1.ResourceName
	by := map[corev1.ResourceName]*Shortfall{}
	askers := map[corev1.ResourceName][]*kin{}
	columns := map[corev1.ResourceName]int{}
	for _, k := range kins {
		for _, n := range k.needs {
			if by[n.name] == nil {
				by[n.name] = &Shortfall{Resource: n.name}
				names = append(names, n.name)
				columns[n.name] = n.column
			}
			s := by[n.name]
			s.Asked = plus(s.Asked, times(n.n, int64(k.count)))
			s.NeededHole = max(s.NeededHole, n.n)
			askers[n.name] = append(askers[n.name], k)
		}
	}
	out := make([]Shortfall, 0, len(names))
	for _, name := range names {
		s := by[name]
		for at := range q.s.nodes {
			if columns[name] < 0 || !anyMay(askers[name], at, may) {
				continue
			}
			free := room[columns[name]][at]
			s.Free, s.LargestHole = plus(s.Free, free), max(s.LargestHole, free)
		}
		out = append(out, *s)
	}
	return out
}

func anyMay(kins []*kin, at int, may func(gate) bool) bool {
	for _, k := range kins {
		if may(k.gates[at]) {
			return true
		}
	}
	return false
}
