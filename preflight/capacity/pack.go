package capacity

import (
	"cmp"
	"math"
	"slices"
)

// packing is kins on nodes: how many of each went where.
type packing struct {
	kins   []*kin
	clash  [][]bool         // kins that cannot share a node; with itself: one per node
	room   [][]int64        // by column, then node: what is left
	counts [][]int          // by kin, then node
	placed []int            // by kin
	caps   func(*kin) []int // how many of a kin a node takes alone
}

// newPacking starts with the room that is left and nothing placed.
func (q *question) newPacking(kins []*kin, room [][]int64, caps func(*kin) []int) *packing {
	p := &packing{kins: kins, room: slices.Clone(room), caps: caps, placed: make([]int, len(kins))}
	used := map[int]bool{}
	for i, k := range kins {
		p.counts = append(p.counts, make([]int, len(q.s.nodes)))
		p.clash = append(p.clash, make([]bool, len(kins)))
		for j := range kins {
			p.clash[i][j] = i == j && k.alone || i != j && q.clashes(k, kins[j])
		}
		for _, n := range k.needs {
			if n.column >= 0 && !used[n.column] {
				used[n.column] = true
				p.room[n.column] = slices.Clone(p.room[n.column]) // only these are written
			}
		}
	}
	return p
}

// hole is how many more pods of kin i go on a node now.
func (p *packing) hole(i, at int) int {
	k := p.kins[i]
	most := p.caps(k)[at]
	if most == 0 {
		return 0
	}
	for j := range p.kins {
		if p.clash[i][j] && p.counts[j][at] > 0 {
			return 0
		}
	}
	return min(most, k.fitsIn(p.room, at))
}

// put places n pods of kin i on a node.
func (p *packing) put(i, at, n int) {
	if n == 0 { // a resource that no node offers has no column
		return
	}
	p.counts[i][at] += n
	p.placed[i] += n
	for _, need := range p.kins[i].needs {
		p.room[need.column][at] -= times(need.n, int64(n))
	}
}

// fill places up to n pods of kin i, on nodes in the given order.
func (p *packing) fill(i, n int, order []int) {
	for _, at := range order {
		if n <= 0 {
			return
		}
		k := min(n, p.hole(i, at))
		p.put(i, at, k)
		n -= k
	}
}

// whole says whether every kin has all the pods it needs.
func (p *packing) whole() bool {
	for i, k := range p.kins {
		if p.placed[i] < k.count {
			return false
		}
	}
	return true
}

func (p *packing) total() int {
	n := 0
	for _, placed := range p.placed {
		n += placed
	}
	return n
}

// pack tries a few orders and returns the first packing that is whole, else the one that
// places most. hopeless: it is known that none is whole, so the first must do.
func (q *question) pack(kins []*kin, room [][]int64, caps func(*kin) []int, hopeless bool) *packing {
	var best *packing
	for _, largeFirst := range []bool{false, true} {
		for _, kinOrder := range kinOrders(kins, caps) {
			p := q.newPacking(kins, room, caps)
			for _, i := range kinOrder {
				p.fill(i, kins[i].count, p.nodeOrder(i, largeFirst))
			}
			if best == nil || p.total() > best.total() {
				best = p
			}
			if hopeless || best.whole() || len(kins) == 1 { // with one kin every order places the same
				return best
			}
		}
	}
	return best
}

// largestHole is the number of pods from which on holes are not told apart by size.
const largestHole = 255

// nodeOrder are the nodes that take the kin, by the number of pods they take; ties by
// name. Small holes first leaves the large ones whole; large holes first uses fewer nodes.
func (p *packing) nodeOrder(i int, largeFirst bool) []int {
	caps := p.caps(p.kins[i])
	holes, starts := make([]int, len(caps)), [largestHole + 2]int{}
	for at := range caps {
		if caps[at] > 0 {
			holes[at] = min(largestHole, p.hole(i, at))
		}
		if largeFirst && holes[at] > 0 {
			holes[at] = largestHole + 1 - holes[at]
		}
		if holes[at] > 0 {
			starts[holes[at]]++
		}
	}
	total := 0
	for size, n := range starts {
		starts[size] = total
		total += n
	}
	order := make([]int, total)
	for at, size := range holes {
		if size > 0 {
			order[starts[size]] = at
			starts[size]++
		}
	}
	return order
}

// kinOrders are the orders in which kins are placed: the scarcest first, the largest pods
// first, and with few kins every order.
func kinOrders(kins []*kin, caps func(*kin) []int) [][]int {
	scarce := make([]int, len(kins))
	slack := make([]float64, len(kins))
	for i, k := range kins {
		scarce[i] = i
		slack[i] = float64(sumUpTo(caps(k), math.MaxInt64)) / float64(max(1, k.count))
	}
	slices.SortStableFunc(scarce, func(a, b int) int { return cmp.Compare(slack[a], slack[b]) })
	if len(kins) > 4 {
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

// sumUpTo adds up and stops where the sum is enough.
func sumUpTo(ns []int, enough int64) int64 {
	sum := int64(0)
	for _, n := range ns {
		if sum = plus(sum, int64(n)); sum >= enough {
			return sum
		}
	}
	return sum
}
