package capacity

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// answer is what is known about kins on some room.
type answer struct {
	best *packing // the one that places most
	yes  bool     // best is whole
	no   bool     // proven: no packing is whole
}

// solve tries to prove that the kins cannot be placed, then to place them.
func (q *question) solve(kins []*kin, room [][]int64, caps func(*kin) []int) answer {
	a := answer{no: q.cannot(kins, room, caps)}
	a.best = q.pack(kins, room, caps, a.no)
	if a.yes = a.best == nil || a.best.whole(); a.yes || a.no {
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
	var out []Shortfall
	for _, k := range kins {
		for _, n := range k.needs {
			if !slices.ContainsFunc(out, func(s Shortfall) bool { return s.Resource == n.name }) {
				out = append(out, q.sum(n.name, n.column, kins, room, may))
			}
		}
	}
	return out
}

// sum is the comparison for one resource.
func (q *question) sum(name corev1.ResourceName, column int, kins []*kin, room [][]int64, may func(gate) bool) Shortfall {
	s := Shortfall{Resource: name}
	var askers, largest []*kin
	for _, k := range kins {
		n := k.needOf(name)
		if n == 0 {
			continue
		}
		askers = append(askers, k)
		s.Asked = plus(s.Asked, times(n, int64(k.count)))
		if n > s.NeededHole {
			s.NeededHole, s.Largest, largest = n, 0, nil
		}
		if n == s.NeededHole {
			s.Largest, largest = int(plus(int64(s.Largest), int64(k.count))), append(largest, k)
		}
	}
	if column < 0 {
		return s
	}
	for at, free := range room[column] {
		if anyMay(askers, at, may) {
			s.Free, s.LargestHole = plus(s.Free, free), max(s.LargestHole, free)
		}
		if anyMay(largest, at, may) {
			s.Holes = int(min(math.MaxInt32, plus(int64(s.Holes), free/s.NeededHole)))
		}
	}
	return s
}

// needOf is what one pod asks for of a resource.
func (k *kin) needOf(name corev1.ResourceName) int64 {
	for _, n := range k.needs {
		if n.name == name {
			return n.n
		}
	}
	return 0
}

func anyMay(kins []*kin, at int, may func(gate) bool) bool {
	for _, k := range kins {
		if may(k.gates[at]) {
			return true
		}
	}
	return false
}
