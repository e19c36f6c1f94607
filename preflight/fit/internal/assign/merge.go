package assign

import (
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
)

// FilteredAs says that two pod sets are let onto the same nodes, room aside.
func (k *PodSet) FilteredAs(o *PodSet) bool { return k.nodeFilter == o.nodeFilter }

// Clashing says of each pod set whether its pods keep from nodes of each other or of others.
func (q *Solver) Clashing(podSets []*PodSet) []bool {
	out := make([]bool, len(podSets))
	for i, row := range q.clashing(podSets) {
		out[i] = len(row) > 0
	}
	return out
}

// Merge is a pod set that stands for several which differ in nothing but what their pods ask for: for each
// resource the most of it that any asks for, or the least.
func (q *Solver) Merge(of []*PodSet, most bool) *PodSet {
	if len(of) == 1 {
		return of[0]
	}
	k := *of[0]
	k.Groups, k.Count = nil, 0
	k.Needs = slices.Clone(k.Needs)
	for _, o := range of {
		k.Groups, k.Count = append(k.Groups, o.Groups...), k.Count+o.Count
		if most {
			k.Needs = mostOf(k.Needs, o.Needs)
		} else {
			k.Needs = leastOf(k.Needs, o.Needs)
		}
	}
	k.capacity = k.nodeFilter.capacityFor(k.Needs, k.OnePerNode)
	return &k
}

// leastOf is what both ask for.
func leastOf(a, b []cluster.Need) (out []cluster.Need) {
	for _, n := range a {
		if at := indexOfNeed(b, n); at >= 0 {
			n.N = min(n.N, b[at].N)
			out = append(out, n)
		}
	}
	return out
}

// mostOf is what serves either.
func mostOf(a, b []cluster.Need) []cluster.Need {
	for _, n := range b {
		if at := indexOfNeed(a, n); at >= 0 {
			a[at].N = max(a[at].N, n.N)
		} else {
			a = append(a, n)
		}
	}
	return a
}

func indexOfNeed(needs []cluster.Need, n cluster.Need) int {
	return slices.IndexFunc(needs, func(o cluster.Need) bool { return o.Name == n.Name && o.Column == n.Column })
}
