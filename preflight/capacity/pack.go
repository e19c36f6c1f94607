package capacity

import (
	"cmp"
	"math"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// packing is kins on nodes: how many of each went where. Nodes that nothing was put on
// stay in their cells; the others are in pieces.
type packing struct {
	q       *question
	kins    []*kin
	idle    bool
	clash   [][]bool         // kins that cannot share a node; with itself: one per node
	column  []int            // that the kins ask for, of all columns
	needs   [][]cluster.Need // by kin; column is a place in the list above
	fresh   [][]int32        // by cell: nodes in no piece, and those taken from them
	taken   []int32          // by cell: how many of them are in pieces
	pieces  []piece
	rooms   []int64  // by piece, then column of the packing: what is left on each node
	counts  []int32  // by piece, then kin: pods on each node
	placed  []int    // by kin
	seating *seating // nil: the order in which the pods came does not matter
}

// piece is nodes of one cell on which the same was put.
type piece struct {
	cell  int
	nodes []int32
}

// newPacking starts with nothing placed, beside what is there already.
func (q *question) newPacking(kins []*kin, idle bool, beside crowd) *packing {
	p := &packing{q: q, kins: kins, idle: idle, placed: make([]int, len(kins)), fresh: q.on.grid.Nodes}
	p.taken = q.on.numbers(len(p.fresh))
	q.on.budget.spend(len(p.fresh)/16 + len(kins))
	q.on.memory.furnish(p)
	p.clash = q.clashing(kins)
	for _, k := range kins {
		var needs []cluster.Need
		for _, n := range k.needs {
			if n.Column < 0 {
				continue
			}
			at := slices.Index(p.column, n.Column)
			if at < 0 {
				at = len(p.column)
				p.column = append(p.column, n.Column)
			}
			needs = append(needs, cluster.Need{Column: at, Name: n.Name, N: n.N})
		}
		p.needs = append(p.needs, needs)
	}
	p.share(beside)
	return p
}

// clashing says which kins cannot share a node; it is worked out once.
func (q *question) clashing(kins []*kin) [][]bool {
	if q.clash != nil && slices.Equal(q.rivals, kins) {
		return q.clash
	}
	q.rivals, q.clash = kins, make([][]bool, len(kins))
	for i, k := range kins {
		q.clash[i] = make([]bool, len(kins))
		for j := range kins {
			q.clash[i][j] = i == j && k.alone || i != j && q.clashes(k, kins[j])
		}
	}
	return q.clash
}

// reset takes all pods away, and leaves what is there besides.
func (p *packing) reset(beside crowd) {
	clear(p.taken)
	clear(p.placed)
	p.fresh, p.pieces, p.rooms, p.counts, p.seating = p.q.on.grid.Nodes, p.pieces[:0], p.rooms[:0], p.counts[:0], nil
	p.share(beside)
}

// caps are how many of a kin a node of each cell takes alone.
func (p *packing) caps(k *kin) []int32 {
	if p.idle {
		k.settle()
		return k.idle
	}
	return k.now
}

// carve makes a piece of the next fresh nodes of a cell.
func (p *packing) carve(cell, n int) (at int) {
	from := int(p.taken[cell])
	p.taken[cell] += int32(n)
	return p.add(cell, p.fresh[cell][from:from+n])
}

func (p *packing) add(cell int, nodes []int32) (at int) {
	columns, class := p.q.s.Columns().Free, p.q.on.grid.Class[cell]
	if p.idle {
		columns = p.q.s.Columns().Idle
	}
	from := len(p.rooms)
	p.rooms = slices.Grow(p.rooms, len(p.column))[:from+len(p.column)]
	for i, column := range p.column {
		p.rooms[from+i] = columns[column][class]
	}
	from = len(p.counts)
	p.counts = slices.Grow(p.counts, len(p.kins))[:from+len(p.kins)]
	clear(p.counts[from:])
	p.pieces = append(p.pieces, piece{cell, nodes})
	return len(p.pieces) - 1
}

// drop forgets the last piece.
func (p *packing) drop() {
	at := len(p.pieces) - 1
	p.pieces, p.rooms, p.counts = p.pieces[:at], p.rooms[:at*len(p.column)], p.counts[:at*len(p.kins)]
}

func (p *packing) room(at int) []int64 { return p.rooms[at*len(p.column):][:len(p.column)] }

func (p *packing) count(at int) []int32 { return p.counts[at*len(p.kins):][:len(p.kins)] }

// split leaves n nodes in a piece and makes another of the rest.
func (p *packing) split(at, n int) (rest int) {
	nodes := p.pieces[at].nodes
	p.pieces[at].nodes = nodes[:n]
	p.pieces = append(p.pieces, piece{p.pieces[at].cell, nodes[n:]})
	p.rooms, p.counts = append(p.rooms, p.room(at)...), append(p.counts, p.count(at)...)
	return len(p.pieces) - 1
}

// left is how many fresh nodes a cell has.
func (p *packing) left(cell int) int { return len(p.fresh[cell]) - int(p.taken[cell]) }

// hole is how many more pods of kin i go on each node of a piece.
func (p *packing) hole(i, at int) int {
	most := p.caps(p.kins[i])[p.pieces[at].cell]
	if most == 0 {
		return 0
	}
	counts := p.count(at)
	for j, clash := range p.clash[i] {
		if clash && counts[j] > 0 {
			return 0
		}
	}
	room := p.room(at)
	for _, need := range p.needs[i] {
		if most = fits(most, room[need.Column], need.N); most == 0 {
			break
		}
	}
	return int(most)
}

// put places n pods of kin i on each node of a piece.
func (p *packing) put(i, at, n int) {
	p.count(at)[i] += int32(n)
	p.placed[i] += n * len(p.pieces[at].nodes)
	room := p.room(at)
	for _, need := range p.needs[i] {
		room[need.Column] -= saturate.Mul(need.N, int64(n))
	}
}

// fill places up to n pods of kin i, in small holes first or in large ones. Small holes
// first leaves the large ones whole; large holes first uses fewer nodes.
func (p *packing) fill(i, n int, largeFirst bool) {
	if n <= 0 || !p.q.on.budget.spend(8+len(p.pieces)) {
		return
	}
	most := n
	if largeFirst {
		most = math.MaxInt
	}
	caps := p.caps(p.kins[i])
	cells, all := p.kins[i].inOrder(p.idle, most)
	pieces := p.inOrder(i, n, largeFirst)
	p.pieces = slices.Grow(p.pieces, min(n, len(cells), 256))
	for known := len(cells); n > 0; {
		if len(cells) == 0 && !all { // others have taken what was enough for these
			cells, all = p.kins[i].inOrder(p.idle, math.MaxInt)
			cells = cells[known:]
		}
		if len(cells)+len(pieces) == 0 || !p.q.on.budget.spend(2) {
			break
		}
		next := 0
		if largeFirst {
			next = len(cells) - 1
		}
		switch {
		case len(cells) == 0 || len(pieces) > 0 && p.before(pieces[0], caps[cells[next]], largeFirst):
			n -= p.fillPiece(i, pieces[0].at, pieces[0].hole, n)
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
type opening struct{ at, hole int }

// before says whether a piece comes before a cell; pieces first, where both are equal.
func (p *packing) before(o opening, size int32, largeFirst bool) bool {
	if largeFirst {
		return o.hole >= int(size)
	}
	return o.hole <= int(size)
}

// fewOpenings is the number of openings up to which they are picked out, not sorted.
const fewOpenings = 8

// inOrder are the pieces that take pods of a kin, as many as n pods can need; ties in the
// order they were made.
func (p *packing) inOrder(i, n int, largeFirst bool) []opening {
	keys := make([]int64, 0, len(p.pieces))
	for at := range p.pieces {
		hole := int64(p.hole(i, at))
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
func (p *packing) fillCell(i, cell, hole, n int) (placed int) {
	left := p.left(cell)
	if left == 0 {
		return 0
	}
	if whole := min(left, n/hole); whole > 0 {
		p.put(i, p.carve(cell, whole), hole)
		placed, left = whole*hole, left-whole
	}
	if rest := n - placed; left > 0 && rest > 0 { // rest < hole
		p.put(i, p.carve(cell, 1), rest)
		placed += rest
	}
	return placed
}

// fillPiece places up to n pods on the nodes of a piece; hole on each.
func (p *packing) fillPiece(i, at, hole, n int) (placed int) {
	if whole := min(len(p.pieces[at].nodes), n/hole); whole > 0 {
		rest := -1
		if whole < len(p.pieces[at].nodes) {
			rest = p.split(at, whole)
		}
		p.put(i, at, hole)
		if placed = whole * hole; rest < 0 {
			return placed
		}
		at = rest
	}
	if n -= placed; n > 0 { // less than a hole
		if len(p.pieces[at].nodes) > 1 {
			p.split(at, 1)
		}
		p.put(i, at, n)
	}
	return placed + max(0, n)
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
func (q *question) pack(kins []*kin, idle bool, beside crowd, hopeless bool) *packing {
	var best *packing
	for _, largeFirst := range []bool{false, true} {
		for _, kinOrder := range kinOrders(kins, idle) {
			p := q.newPacking(kins, idle, beside)
			for _, i := range kinOrder {
				p.fill(i, kins[i].count, largeFirst)
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

// kinOrders are the orders in which kins are placed: the scarcest first, the largest pods
// first, and with few kins every order.
func kinOrders(kins []*kin, idle bool) [][]int {
	scarce := make([]int, len(kins))
	slack := make([]float64, len(kins))
	for i, k := range kins {
		scarce[i] = i
		slack[i] = float64(k.most(idle)) / float64(max(1, k.count))
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
