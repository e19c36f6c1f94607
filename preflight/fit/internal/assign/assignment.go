package assign

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// NodePods is a number of pods on a node.
type NodePods struct{ Node, Count int32 }

// PlacedOn are where the pods of pod set i went, by node. It is overwritten by what is asked next.
func (p *Assignment) PlacedOn(i int) []NodePods {
	room := p.q.Cycle.onNodes()
	out := slices.Grow((*room)[:0], len(p.Bins))
	for at, on := range p.Bins {
		if n := p.Count(at)[i]; n > 0 {
			for _, node := range on.Nodes {
				out = append(out, NodePods{node, n})
			}
		}
	}
	for at := 1; at < len(out); at++ {
		if out[at-1].Node > out[at].Node {
			p.q.sortByNode(out)
			break
		}
	}
	*room = out
	return out
}

// fewNodes is the number of places up to which sorting is cheaper than marking all nodes.
const fewNodes = 64

// sortByNode sorts places, no two of which are on one node: many by marking the nodes.
func (q *Solver) sortByNode(onNodes []NodePods) {
	if len(onNodes) < fewNodes {
		slices.SortFunc(onNodes, func(a, b NodePods) int { return int(a.Node) - int(b.Node) })
		return
	}
	counts, marked := q.Cycle.Numbers(len(q.Snapshot.Nodes())), make([]uint64, len(q.Snapshot.Nodes())/64+1)
	for _, on := range onNodes {
		counts[on.Node] = on.Count
		marked[on.Node/64] |= 1 << (on.Node % 64)
	}
	onNodes = onNodes[:0]
	for at, bitmap := range marked {
		for ; bitmap != 0; bitmap &= bitmap - 1 {
			node := int32(at*64 + bits.TrailingZeros64(bitmap))
			onNodes = append(onNodes, NodePods{node, counts[node]})
		}
	}
}

// Assignment is pod sets on nodes: how many of each went where. Nodes that nothing was put on
// stay in their node groups; the others are in bins.
type Assignment struct {
	q         *Solver
	PodSets   []*PodSet
	idle      bool
	clash     [][]int32        // by pod set: those it cannot share a node with; with itself: one per node
	Column    []int            // that the pod sets ask for, of all columns
	Needs     [][]cluster.Need // by pod set; column is a place in the list above
	Fresh     [][]int32        // by node group: nodes in no bin, and those taken from them
	Taken     []int32          // by node group: how many of them are in bins
	Bins      []bin
	binRooms  []int64 // by bin, then column of the assignment: what is left on each node
	binCounts []int32 // by bin, then pod set: pods on each node
	Placed    []int   // by pod set
	Order     Order   // in which the pods were bound; nil: it does not matter
}

// Order is pods that were bound one after the other, and to which more can be bound.
type Order interface {
	More(podSet, pods int) // binds up to so many more pods of a pod set
	Steps() []BindStep     // the pods that are bound, the first one first
}

// BindStep is one pod bound: where, and of which pod set.
type BindStep struct {
	PodSet int
	Node   int32
}

// bin is nodes of one node group on which the same was put.
type bin struct {
	NodeGroup int
	Nodes     []int32
}

// NewAssignment starts with nothing placed, beside what is there already.
func (q *Solver) NewAssignment(podSets []*PodSet, idle bool, beside Reserved) *Assignment {
	p := &Assignment{q: q, PodSets: podSets, idle: idle, Placed: make([]int, len(podSets)), Fresh: q.Cycle.Grouping.Nodes}
	p.Taken = q.Cycle.Numbers(len(p.Fresh))
	q.Cycle.Budget.Spend(len(p.Fresh)/16 + len(podSets))
	q.Cycle.Arena.prepare(p)
	p.clash = q.clashing(podSets)
	p.Needs = make([][]cluster.Need, 0, len(podSets))
	for _, k := range podSets {
		needs := make([]cluster.Need, 0, len(k.Needs))
		for _, n := range k.Needs {
			if n.Column < 0 {
				continue
			}
			at := slices.Index(p.Column, n.Column)
			if at < 0 {
				at, p.Column = len(p.Column), slices.Grow(p.Column, len(k.Needs))
				p.Column = append(p.Column, n.Column)
			}
			needs = append(needs, cluster.Need{Column: at, Name: n.Name, N: n.N})
		}
		p.Needs = append(p.Needs, needs)
	}
	p.reserveFor(beside)
	return p
}

// stepsPerPair is what it costs to find out whether two pod sets keep from each other.
const stepsPerPair = 4

// guarded says whether pods keep from others on their node, for whatever reason.
func (t *podFacts) guarded() bool {
	return len(t.Ports)+len(t.Disks)+len(t.apartBy)+len(t.AntiAffinity) > 0
}

// clashing says which pod sets cannot share a node; it is worked out once.
func (q *Solver) clashing(podSets []*PodSet) [][]int32 {
	if q.clash != nil && slices.Equal(q.clashOf, podSets) {
		return q.clash
	}
	q.clashOf, q.clash = podSets, make([][]int32, len(podSets))
	var guarded []int // those that anything keeps from others
	for i, k := range podSets {
		if k.Facts.guarded() {
			guarded = append(guarded, i)
		}
		if k.OnePerNode {
			q.clash[i] = append(q.clash[i], int32(i))
		}
	}
	for _, i := range guarded {
		if !q.Cycle.Budget.Spend(stepsPerPair * len(podSets)) {
			break
		}
		for j, other := range podSets {
			if i != j && !(j < i && other.Facts.guarded()) && q.Clashes(podSets[i], other) { // or they have been asked
				q.clash[i], q.clash[j] = append(q.clash[i], int32(j)), append(q.clash[j], int32(i))
			}
		}
	}
	return q.clash
}

// Reset takes all pods away, and leaves what is there besides.
func (p *Assignment) Reset(beside Reserved) {
	clear(p.Taken)
	clear(p.Placed)
	p.Fresh, p.Bins, p.binRooms, p.binCounts, p.Order = p.q.Cycle.Grouping.Nodes, p.Bins[:0], p.binRooms[:0], p.binCounts[:0], nil
	p.reserveFor(beside)
}

// Capacities are how many of a pod set a node of each node group takes alone.
func (p *Assignment) Capacities(k *PodSet) []int32 {
	if p.idle {
		k.CountIdle()
		return k.Idle
	}
	return k.Now
}

// Reserve makes a bin of the next fresh nodes of a node group.
func (p *Assignment) Reserve(nodeGroup, n int) (at int) {
	from := int(p.Taken[nodeGroup])
	p.Taken[nodeGroup] += int32(n)
	return p.Add(nodeGroup, p.Fresh[nodeGroup][from:from+n])
}

// Add makes a bin of nodes of a node group.
func (p *Assignment) Add(nodeGroup int, nodes []int32) (at int) {
	columns, class := p.q.Snapshot.Columns().Free, p.q.Cycle.Grouping.Class[nodeGroup]
	if p.idle {
		columns = p.q.Snapshot.Columns().Idle
	}
	from := len(p.binRooms)
	p.binRooms = slices.Grow(p.binRooms, len(p.Column))[:from+len(p.Column)]
	for i, column := range p.Column {
		p.binRooms[from+i] = columns[column][class]
	}
	from = len(p.binCounts)
	p.binCounts = slices.Grow(p.binCounts, len(p.PodSets))[:from+len(p.PodSets)]
	clear(p.binCounts[from:])
	p.Bins = append(p.Bins, bin{nodeGroup, nodes})
	return len(p.Bins) - 1
}

// Drop forgets the last bin.
func (p *Assignment) Drop() {
	at := len(p.Bins) - 1
	p.Bins, p.binRooms, p.binCounts = p.Bins[:at], p.binRooms[:at*len(p.Column)], p.binCounts[:at*len(p.PodSets)]
}

// Room is what is left on each node of a bin, by column of the assignment.
func (p *Assignment) Room(at int) []int64 { return p.binRooms[at*len(p.Column):][:len(p.Column)] }

// Count is how many pods of each pod set are on each node of a bin.
func (p *Assignment) Count(at int) []int32 { return p.binCounts[at*len(p.PodSets):][:len(p.PodSets)] }

// split leaves n nodes in a bin and makes another of the rest.
func (p *Assignment) split(at, n int) (rest int) {
	nodes := p.Bins[at].Nodes
	p.Bins[at].Nodes = nodes[:n]
	p.Bins = append(p.Bins, bin{p.Bins[at].NodeGroup, nodes[n:]})
	p.binRooms, p.binCounts = append(p.binRooms, p.Room(at)...), append(p.binCounts, p.Count(at)...)
	return len(p.Bins) - 1
}

// Left is how many fresh nodes a node group has.
func (p *Assignment) Left(nodeGroup int) int {
	return len(p.Fresh[nodeGroup]) - int(p.Taken[nodeGroup])
}

// PodsPerNode is how many more pods of pod set i go on each node of a bin.
func (p *Assignment) PodsPerNode(i, at int) int {
	most := p.Capacities(p.PodSets[i])[p.Bins[at].NodeGroup]
	if most == 0 {
		return 0
	}
	counts := p.Count(at)
	for _, j := range p.clash[i] {
		if counts[j] > 0 {
			return 0
		}
	}
	room := p.Room(at)
	for _, need := range p.Needs[i] {
		if most = fits(most, room[need.Column], need.N); most == 0 {
			break
		}
	}
	return int(most)
}

// Put places n pods of pod set i on each node of a bin.
func (p *Assignment) Put(i, at, n int) {
	p.Count(at)[i] += int32(n)
	p.Placed[i] += n * len(p.Bins[at].Nodes)
	room := p.Room(at)
	for _, need := range p.Needs[i] {
		room[need.Column] -= saturate.Mul(need.N, int64(n))
	}
}

// Fill places up to n pods of pod set i, on nodes that take few of them first: that leaves nodes with much room whole.
func (p *Assignment) Fill(i, n int) {
	if n <= 0 || !p.q.Cycle.Budget.Spend(8+len(p.Bins)) {
		return
	}
	caps := p.Capacities(p.PodSets[i])
	nodeGroups, all := p.PodSets[i].inOrder(p.idle, n)
	bins := p.inOrder(i, n)
	p.Bins = slices.Grow(p.Bins, min(n, len(nodeGroups), 256))
	for known := len(nodeGroups); n > 0; {
		if len(nodeGroups) == 0 && !all { // others have taken what was enough for these
			nodeGroups, all = p.PodSets[i].inOrder(p.idle, math.MaxInt)
			nodeGroups = nodeGroups[known:]
		}
		if len(nodeGroups)+len(bins) == 0 || !p.q.Cycle.Budget.Spend(2) {
			break
		}
		if len(nodeGroups) == 0 || len(bins) > 0 && bins[0].pods <= int(caps[nodeGroups[0]]) { // bins first, where both are equal
			n -= p.fillBin(i, bins[0].at, bins[0].pods, n)
			bins = bins[1:]
			continue
		}
		n -= p.fillNodeGroup(i, int(nodeGroups[0]), int(caps[nodeGroups[0]]), n)
		nodeGroups = nodeGroups[1:]
	}
}

// opening is a bin that takes pods, and how many on each node.
type opening struct{ at, pods int }

// fewOpenings is the number of openings up to which they are picked out, not sorted.
const fewOpenings = 8

// inOrder are the bins that take pods of a pod set, as many as n pods can need; ties in the
// order they were made.
func (p *Assignment) inOrder(i, n int) []opening {
	keys := make([]int64, 0, len(p.Bins))
	for at := range p.Bins {
		perNode := int64(p.PodsPerNode(i, at))
		if perNode == 0 {
			continue
		}
		key := perNode<<32 | int64(at)
		switch {
		case n > fewOpenings || len(keys) < n:
			keys = append(keys, key)
		case key < slices.Max(keys):
			keys[slices.Index(keys, slices.Max(keys))] = key
		}
	}
	slices.Sort(keys)
	out := make([]opening, len(keys))
	for at, key := range keys {
		out[at] = opening{int(key & math.MaxInt32), int(key >> 32)}
	}
	return out
}

// fillNodeGroup places up to n pods on fresh nodes of a node group; perNode on each.
func (p *Assignment) fillNodeGroup(i, nodeGroup, perNode, n int) (placed int) {
	left := p.Left(nodeGroup)
	if left == 0 {
		return 0
	}
	if whole := min(left, n/perNode); whole > 0 {
		p.Put(i, p.Reserve(nodeGroup, whole), perNode)
		placed, left = whole*perNode, left-whole
	}
	if rest := n - placed; left > 0 && rest > 0 { // rest < perNode
		p.Put(i, p.Reserve(nodeGroup, 1), rest)
		placed += rest
	}
	return placed
}

// fillBin places up to n pods on the nodes of a bin; perNode on each.
func (p *Assignment) fillBin(i, at, perNode, n int) (placed int) {
	if whole := min(len(p.Bins[at].Nodes), n/perNode); whole > 0 {
		rest := -1
		if whole < len(p.Bins[at].Nodes) {
			rest = p.split(at, whole)
		}
		p.Put(i, at, perNode)
		if placed = whole * perNode; rest < 0 {
			return placed
		}
		at = rest
	}
	if n -= placed; n > 0 { // less than perNode
		if len(p.Bins[at].Nodes) > 1 {
			p.split(at, 1)
		}
		p.Put(i, at, n)
	}
	return placed + max(0, n)
}

// Whole says whether every pod set has all the pods it needs.
func (p *Assignment) Whole() bool {
	for i, k := range p.PodSets {
		if p.Placed[i] < k.Count {
			return false
		}
	}
	return true
}

// Total is how many pods are placed.
func (p *Assignment) Total() int {
	n := 0
	for _, placed := range p.Placed {
		n += placed
	}
	return n
}

// pack places the pod sets in their order, as many pods of each as go.
func (q *Solver) pack(podSets []*PodSet, idle bool, beside Reserved) *Assignment {
	p := q.NewAssignment(podSets, idle, beside)
	for _, i := range PodSetOrder(podSets, idle) {
		p.Fill(i, podSets[i].Count)
	}
	return p
}

// PodSetOrder is the order in which pod sets are placed: those first that find the fewest places for their pods.
func PodSetOrder(podSets []*PodSet, idle bool) []int {
	scarce := make([]int, len(podSets))
	slack := make([]float64, len(podSets))
	for i, k := range podSets {
		scarce[i] = i
		slack[i] = float64(k.Most(idle)) / float64(max(1, k.Count))
	}
	slices.SortStableFunc(scarce, func(a, b int) int { return cmp.Compare(slack[a], slack[b]) })
	return scarce
}
