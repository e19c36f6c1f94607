package assign

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// nodePods is a number of pods on a node.
type nodePods struct{ Node, Count int32 }

// Seats are where the pods of kin i went, by node.
func (p *Assignment) Seats(i int) []nodePods {
	out := make([]nodePods, 0, len(p.Bins))
	for at, on := range p.Bins {
		if n := p.Count(at)[i]; n > 0 {
			for _, node := range on.Nodes {
				out = append(out, nodePods{node, n})
			}
		}
	}
	byNode := func(a, b nodePods) int { return int(a.Node) - int(b.Node) }
	switch {
	case slices.IsSortedFunc(out, byNode):
	case len(out) < fewSeats:
		slices.SortFunc(out, byNode)
	default:
		p.q.byNode(out)
	}
	return out
}

// fewSeats is the number of places up to which sorting is cheaper than marking all nodes.
const fewSeats = 64

// byNode sorts places, no two of which are on one node, by marking the nodes.
func (q *Solver) byNode(seats []nodePods) {
	counts, marked := q.Cycle.Numbers(len(q.Snapshot.Nodes())), make([]uint64, len(q.Snapshot.Nodes())/64+1)
	for _, on := range seats {
		counts[on.Node] = on.Count
		marked[on.Node/64] |= 1 << (on.Node % 64)
	}
	seats = seats[:0]
	for at, bitmap := range marked {
		for ; bitmap != 0; bitmap &= bitmap - 1 {
			node := int32(at*64 + bits.TrailingZeros64(bitmap))
			seats = append(seats, nodePods{node, counts[node]})
		}
	}
}

// Assignment is kins on nodes: how many of each went where. Nodes that nothing was put on
// stay in their cells; the others are in pieces.
type Assignment struct {
	q         *Solver
	PodSets   []*PodSet
	idle      bool
	clash     [][]bool         // kins that cannot share a node; with itself: one per node
	Column    []int            // that the kins ask for, of all columns
	Needs     [][]cluster.Need // by kin; column is a place in the list above
	Fresh     [][]int32        // by cell: nodes in no piece, and those taken from them
	Taken     []int32          // by cell: how many of them are in pieces
	Bins      []bin
	binRooms  []int64 // by piece, then column of the packing: what is left on each node
	binCounts []int32 // by piece, then kin: pods on each node
	Placed    []int   // by kin
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

// bin is nodes of one cell on which the same was put.
type bin struct {
	Cell  int
	Nodes []int32
}

// NewPacking starts with nothing placed, beside what is there already.
func (q *Solver) NewPacking(podSets []*PodSet, idle bool, beside Reserved) *Assignment {
	p := &Assignment{q: q, PodSets: podSets, idle: idle, Placed: make([]int, len(podSets)), Fresh: q.Cycle.Grouping.Nodes}
	p.Taken = q.Cycle.Numbers(len(p.Fresh))
	q.Cycle.Budget.Spend(len(p.Fresh)/16 + len(podSets))
	q.Cycle.Arena.prepare(p)
	p.clash = q.clashing(podSets)
	for _, k := range podSets {
		var needs []cluster.Need
		for _, n := range k.Needs {
			if n.Column < 0 {
				continue
			}
			at := slices.Index(p.Column, n.Column)
			if at < 0 {
				at = len(p.Column)
				p.Column = append(p.Column, n.Column)
			}
			needs = append(needs, cluster.Need{Column: at, Name: n.Name, N: n.N})
		}
		p.Needs = append(p.Needs, needs)
	}
	p.reserveFor(beside)
	return p
}

// clashing says which kins cannot share a node; it is worked out once.
func (q *Solver) clashing(podSets []*PodSet) [][]bool {
	if q.clash != nil && slices.Equal(q.clashOf, podSets) {
		return q.clash
	}
	q.clashOf, q.clash = podSets, make([][]bool, len(podSets))
	for i, k := range podSets {
		q.clash[i] = make([]bool, len(podSets))
		for j := range podSets {
			q.clash[i][j] = i == j && k.OnePerNode || i != j && q.Clashes(k, podSets[j])
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

// Capacities are how many of a kin a node of each cell takes alone.
func (p *Assignment) Capacities(k *PodSet) []int32 {
	if p.idle {
		k.CountIdle()
		return k.Idle
	}
	return k.Now
}

// Reserve makes a piece of the next fresh nodes of a cell.
func (p *Assignment) Reserve(cell, n int) (at int) {
	from := int(p.Taken[cell])
	p.Taken[cell] += int32(n)
	return p.Add(cell, p.Fresh[cell][from:from+n])
}

func (p *Assignment) Add(cell int, nodes []int32) (at int) {
	columns, class := p.q.Snapshot.Columns().Free, p.q.Cycle.Grouping.Class[cell]
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
	p.Bins = append(p.Bins, bin{cell, nodes})
	return len(p.Bins) - 1
}

// Drop forgets the last piece.
func (p *Assignment) Drop() {
	at := len(p.Bins) - 1
	p.Bins, p.binRooms, p.binCounts = p.Bins[:at], p.binRooms[:at*len(p.Column)], p.binCounts[:at*len(p.PodSets)]
}

func (p *Assignment) Room(at int) []int64 { return p.binRooms[at*len(p.Column):][:len(p.Column)] }

func (p *Assignment) Count(at int) []int32 { return p.binCounts[at*len(p.PodSets):][:len(p.PodSets)] }

// split leaves n nodes in a piece and makes another of the rest.
func (p *Assignment) split(at, n int) (rest int) {
	nodes := p.Bins[at].Nodes
	p.Bins[at].Nodes = nodes[:n]
	p.Bins = append(p.Bins, bin{p.Bins[at].Cell, nodes[n:]})
	p.binRooms, p.binCounts = append(p.binRooms, p.Room(at)...), append(p.binCounts, p.Count(at)...)
	return len(p.Bins) - 1
}

// Left is how many fresh nodes a cell has.
func (p *Assignment) Left(cell int) int { return len(p.Fresh[cell]) - int(p.Taken[cell]) }

// PodsPerNode is how many more pods of kin i go on each node of a piece.
func (p *Assignment) PodsPerNode(i, at int) int {
	most := p.Capacities(p.PodSets[i])[p.Bins[at].Cell]
	if most == 0 {
		return 0
	}
	counts := p.Count(at)
	for j, clash := range p.clash[i] {
		if clash && counts[j] > 0 {
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

// Put places n pods of kin i on each node of a piece.
func (p *Assignment) Put(i, at, n int) {
	p.Count(at)[i] += int32(n)
	p.Placed[i] += n * len(p.Bins[at].Nodes)
	room := p.Room(at)
	for _, need := range p.Needs[i] {
		room[need.Column] -= saturate.Mul(need.N, int64(n))
	}
}

// Fill places up to n pods of kin i, in small holes first or in large ones. Small holes
// first leaves the large ones whole; large holes first uses fewer nodes.
func (p *Assignment) Fill(i, n int, largeFirst bool) {
	if n <= 0 || !p.q.Cycle.Budget.Spend(8+len(p.Bins)) {
		return
	}
	most := n
	if largeFirst {
		most = math.MaxInt
	}
	caps := p.Capacities(p.PodSets[i])
	cells, all := p.PodSets[i].inOrder(p.idle, most)
	pieces := p.inOrder(i, n, largeFirst)
	p.Bins = slices.Grow(p.Bins, min(n, len(cells), 256))
	for known := len(cells); n > 0; {
		if len(cells) == 0 && !all { // others have taken what was enough for these
			cells, all = p.PodSets[i].inOrder(p.idle, math.MaxInt)
			cells = cells[known:]
		}
		if len(cells)+len(pieces) == 0 || !p.q.Cycle.Budget.Spend(2) {
			break
		}
		next := 0
		if largeFirst {
			next = len(cells) - 1
		}
		switch {
		case len(cells) == 0 || len(pieces) > 0 && p.before(pieces[0], caps[cells[next]], largeFirst):
			n -= p.fillBin(i, pieces[0].at, pieces[0].pods, n)
			pieces = pieces[1:]
		case largeFirst:
			n -= p.fillCell(i, int(cells[next]), int(caps[cells[next]]), n)
			cells = cells[:next]
		default:
			n -= p.fillCell(i, int(cells[0]), int(caps[cells[0]]), n)
			cells = cells[1:]
		}
	}
}

// opening is a hole in a piece.
type opening struct{ at, pods int }

// before says whether a piece comes before a cell; pieces first, where both are equal.
func (p *Assignment) before(o opening, size int32, largeFirst bool) bool {
	if largeFirst {
		return o.pods >= int(size)
	}
	return o.pods <= int(size)
}

// fewOpenings is the number of openings up to which they are picked out, not sorted.
const fewOpenings = 8

// inOrder are the pieces that take pods of a kin, as many as n pods can need; ties in the
// order they were made.
func (p *Assignment) inOrder(i, n int, largeFirst bool) []opening {
	keys := make([]int64, 0, len(p.Bins))
	for at := range p.Bins {
		hole := int64(p.PodsPerNode(i, at))
		if hole == 0 {
			continue
		}
		if largeFirst {
			hole = math.MaxInt32 - hole
		}
		key := hole<<32 | int64(at)
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
		hole := int(key >> 32)
		if largeFirst {
			hole = math.MaxInt32 - hole
		}
		out[at] = opening{int(key & math.MaxInt32), hole}
	}
	return out
}

// fillCell places up to n pods on fresh nodes of a cell; hole on each.
func (p *Assignment) fillCell(i, cell, hole, n int) (placed int) {
	left := p.Left(cell)
	if left == 0 {
		return 0
	}
	if whole := min(left, n/hole); whole > 0 {
		p.Put(i, p.Reserve(cell, whole), hole)
		placed, left = whole*hole, left-whole
	}
	if rest := n - placed; left > 0 && rest > 0 { // rest < hole
		p.Put(i, p.Reserve(cell, 1), rest)
		placed += rest
	}
	return placed
}

// fillBin places up to n pods on the nodes of a piece; hole on each.
func (p *Assignment) fillBin(i, at, hole, n int) (placed int) {
	if whole := min(len(p.Bins[at].Nodes), n/hole); whole > 0 {
		rest := -1
		if whole < len(p.Bins[at].Nodes) {
			rest = p.split(at, whole)
		}
		p.Put(i, at, hole)
		if placed = whole * hole; rest < 0 {
			return placed
		}
		at = rest
	}
	if n -= placed; n > 0 { // less than a hole
		if len(p.Bins[at].Nodes) > 1 {
			p.split(at, 1)
		}
		p.Put(i, at, n)
	}
	return placed + max(0, n)
}

// Whole says whether every kin has all the pods it needs.
func (p *Assignment) Whole() bool {
	for i, k := range p.PodSets {
		if p.Placed[i] < k.Count {
			return false
		}
	}
	return true
}

func (p *Assignment) Total() int {
	n := 0
	for _, placed := range p.Placed {
		n += placed
	}
	return n
}

// pack tries a few orders and returns the first packing that is whole, else the one that
// places most. hopeless: it is known that none is whole, so the first must do.
func (q *Solver) pack(podSets []*PodSet, idle bool, beside Reserved, hopeless bool) *Assignment {
	var best *Assignment
	for _, largeFirst := range []bool{false, true} {
		for _, kinOrder := range PodSetOrders(podSets, idle) {
			p := q.NewPacking(podSets, idle, beside)
			for _, i := range kinOrder {
				p.Fill(i, podSets[i].Count, largeFirst)
			}
			if best == nil || p.Total() > best.Total() {
				best = p
			}
			if hopeless || best.Whole() || len(podSets) == 1 { // with one kin every order places the same
				return best
			}
		}
	}
	return best
}

// PodSetOrders are the orders in which kins are placed: the scarcest first, the largest pods
// first, and with few kins every order.
func PodSetOrders(podSets []*PodSet, idle bool) [][]int {
	scarce := make([]int, len(podSets))
	slack := make([]float64, len(podSets))
	for i, k := range podSets {
		scarce[i] = i
		slack[i] = float64(k.Most(idle)) / float64(max(1, k.Count))
	}
	slices.SortStableFunc(scarce, func(a, b int) int { return cmp.Compare(slack[a], slack[b]) })
	if len(podSets) > 4 {
		return [][]int{scarce}
	}
	return permutations(scarce)
}

// permutations of a short list, the list itself first.
func permutations(of []int) [][]int {
	if len(of) <= 1 {
		return [][]int{of}
	}
	var out [][]int
	for i, first := range of {
		rest := slices.Delete(slices.Clone(of), i, i+1)
		for _, tail := range permutations(rest) {
			out = append(out, append([]int{first}, tail...))
		}
	}
	return out
}
