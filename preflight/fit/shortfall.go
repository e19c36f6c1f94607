package fit

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// sums compares, for each resource of the pod sets, what is asked with what there is on
// nodes that may take a pod set which asks for it.
func sums(q *assign.Solver, podSets []*assign.PodSet, room [][]int64, beside assign.Reserved, may func(assign.FilterReason) bool) []Shortfall {
	var out []Shortfall
	m := marked{may: may}
	for _, k := range podSets {
		for _, n := range k.Needs {
			if !slices.ContainsFunc(out, func(s Shortfall) bool { return s.Resource == n.Name }) {
				out = append(out, sum(q, n, podSets, room, beside, &m))
			}
		}
	}
	return out
}

// sum is the comparison for one resource.
func sum(q *assign.Solver, of cluster.Need, podSets []*assign.PodSet, room [][]int64, beside assign.Reserved, m *marked) Shortfall {
	s := Shortfall{Resource: of.Name}
	var askers, largest []*assign.PodSet
	for _, k := range podSets {
		n := k.NeedOf(of.Name)
		if n == 0 {
			continue
		}
		askers = append(askers, k)
		s.Asked = saturate.Add(s.Asked, saturate.Mul(n, int64(k.Count)))
		if n > s.LargestAsked {
			s.LargestAsked, s.LargestPods, largest = n, 0, nil
		}
		if n == s.LargestAsked {
			s.LargestPods, largest = int(saturate.Add(int64(s.LargestPods), int64(k.Count))), append(largest, k)
		}
	}
	if of.Column < 0 {
		return s
	}
	some, most, column := m.by(askers), m.by(largest), room[of.Column]
	for nodeGroup, class := range q.Cycle.Grouping.Class {
		if !some[nodeGroup] {
			continue
		}
		free, nodes := column[class], q.Cycle.Grouping.Weight(nodeGroup)
		if len(beside) > 0 {
			for _, node := range q.Cycle.Grouping.Nodes[nodeGroup] {
				if taken, ok := beside[node]; ok {
					s.addFree(max(0, free-taken[of.Column]), 1, most[nodeGroup])
					nodes--
				}
			}
		}
		if nodes > 0 {
			s.addFree(free, nodes, most[nodeGroup])
		}
	}
	return s
}

// takesNow says that what is free on a node is there for a pod set, and not kept from it by other pods.
func takesNow(g assign.FilterReason) bool { return g == assign.Open || g == assign.Full }

// addFree adds what some nodes have each; large says that they take the largest pods. Most often it is one node.
func (s *Shortfall) addFree(free, nodes int64, large bool) {
	s.LargestFree = max(s.LargestFree, free)
	fit := int64(0)
	if large && free >= s.LargestAsked {
		fit = free / s.LargestAsked
	}
	if nodes > 1 {
		free, fit = saturate.Mul(free, nodes), saturate.Mul(fit, nodes)
	}
	s.Free = saturate.Add(s.Free, free)
	s.LargestFit = int(min(math.MaxInt32, saturate.Add(int64(s.LargestFit), fit)))
}

// marked are the node groups that may take any of some pod sets, for the last that were asked about: most resources are
// asked for by the same ones, and the largest of them are all.
type marked struct {
	may     func(assign.FilterReason) bool
	podSets []*assign.PodSet
	groups  []bool
}

func (m *marked) by(podSets []*assign.PodSet) []bool {
	if m.groups == nil || !slices.Equal(m.podSets, podSets) {
		m.podSets, m.groups = podSets, nodeGroupsFor(podSets, m.may)
	}
	return m.groups
}

// nodeGroupsFor marks the node groups that may take any of the pod sets.
func nodeGroupsFor(podSets []*assign.PodSet, may func(assign.FilterReason) bool) []bool {
	var passes [assign.Closed + 1]bool
	for g := range passes {
		passes[g] = may(assign.FilterReason(g))
	}
	var out []bool
	for _, k := range podSets {
		gates := k.Reasons()
		if out == nil {
			out = make([]bool, len(gates))
		}
		for nodeGroup, g := range gates {
			if passes[g] {
				out[nodeGroup] = true
			}
		}
	}
	return out
}

// short says that the resource is short alone: in sum, or in one place, or on single nodes.
func (s Shortfall) short() bool {
	return s.inSum() || s.LargestFree < s.LargestAsked || s.LargestFit < s.LargestPods
}

// inSum says that less is free than all pods ask for.
func (s Shortfall) inSum() bool { return s.Free < s.Asked }

// weight orders what is named first: what no node has enough of for one pod, accelerators,
// then what nodes run out of, and the mere number of pods last.
func weight(s Shortfall) int {
	w := 2
	switch {
	case job.AcceleratorUnit(s.Resource) != job.NotAccelerator:
		w = 1
	case s.Resource == corev1.ResourcePods:
		w = 3
	}
	if s.LargestFree < s.LargestAsked {
		w -= 4
	}
	return w
}
