package topology

import (
	"cmp"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
)

// bindOrder looks for an order to bind pods whose nodes are settled.
type bindOrder struct {
	*simulation
	nodes []searchNode
	bin   []int    // by node of the search: its bin
	quota []uint32 // by node of the search and pod set: pods to bind yet
	seen  *assign.Memo
	open  [][]int // by pods bound, then in the order in which they are tried
}

// bind looks for an order in which the pods can be bound where the search put them; nil:
// none was found.
func (x *search) bind(beside assign.Reserved) *simulation {
	s := &bindOrder{simulation: x.rules.simulate(beside), nodes: x.nodes, seen: x.seen.Empty()}
	for j := range x.nodes {
		s.bin = append(s.bin, s.binOf(&x.nodes[j]))
		for _, n := range x.nodes[j].mixes[x.chosen[j]].pods {
			s.quota = append(s.quota, uint32(n))
		}
	}
	if !s.from() {
		x.rules.spare = s.simulation
		return nil
	}
	return s.simulation
}

// binOf is the bin of a node, made if it is not begun yet.
func (b *simulation) binOf(n *searchNode) int {
	for at := range b.Bins {
		if b.Bins[at].Nodes[0] == n.node {
			return at
		}
	}
	from := int(b.Taken[n.nodeGroup])
	if at := slices.Index(b.Fresh[n.nodeGroup], n.node); at > from { // nodes of a node group are alike
		b.Fresh = slices.Clone(b.Fresh)
		b.Fresh[n.nodeGroup] = slices.Clone(b.Fresh[n.nodeGroup])
		b.Fresh[n.nodeGroup][from], b.Fresh[n.nodeGroup][at] = b.Fresh[n.nodeGroup][at], b.Fresh[n.nodeGroup][from]
	}
	return b.Reserve(n.nodeGroup, 1)
}

// from binds what is left. What it bound stays bound where it succeeds, and only there.
func (s *bindOrder) from() bool {
	depth := len(s.order)
	for len(s.open) <= depth {
		s.open = append(s.open, nil)
	}
	open := s.open[depth][:0]
	for at, n := range s.quota {
		if n > 0 {
			open = append(open, at)
		}
	}
	if s.open[depth] = open; len(open) == 0 {
		return true
	}
	if s.seen.Has(s.quota, 0) || !s.rules.solver.Cycle.Budget.Spend(len(s.quota)) {
		return false
	}
	k := len(s.PodSets)
	fill := func(at int) int {
		n := &s.nodes[at/k]
		return s.domainFill(at%k, n.nodeGroup, n.node)
	}
	slices.SortStableFunc(open, func(a, c int) int { return cmp.Compare(fill(a), fill(c)) })
	for _, at := range open {
		n, bin := &s.nodes[at/k], s.bin[at/k]
		if !s.rules.solver.Cycle.Budget.Spend(s.rules.about[at%k].stepsPerLook) {
			return false
		}
		if !s.may(at%k, n.nodeGroup, n.node, s.Count(bin)) {
			continue
		}
		s.bind(at%k, bin)
		s.quota[at]--
		if s.from() {
			return true
		}
		s.quota[at]++
		s.unbind(at%k, bin)
	}
	return false
}
