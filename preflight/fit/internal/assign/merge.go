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

// Merge is a pod set that stands for several which differ in nothing but what their pods ask for: it asks for the least
// that any of them does.
func (q *Solver) Merge(of []*PodSet) *PodSet {
	if len(of) == 1 {
		return of[0]
	}
	k := *of[0]
	k.Groups, k.Count = nil, 0
	for _, o := range of {
		k.Groups, k.Count = append(k.Groups, o.Groups...), k.Count+o.Count
		k.Needs = leastOf(k.Needs, o.Needs)
	}
	k.capacity = k.nodeFilter.capacityFor(k.Needs, k.OnePerNode)
	return &k
}

// leastOf is what both ask for.
func leastOf(a, b []cluster.Need) (out []cluster.Need) {
	for _, n := range a {
		at := slices.IndexFunc(b, func(o cluster.Need) bool { return o.Name == n.Name && o.Column == n.Column })
		if at >= 0 {
			n.N = min(n.N, b[at].N)
			out = append(out, n)
		}
	}
	return out
}
