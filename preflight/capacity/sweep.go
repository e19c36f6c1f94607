package capacity

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// The exhaustive search for tied pods gives up beyond these sizes; then the answer is
// "unknown" rather than late.
const (
	mostSwept = 64      // nodes that take any of the pods
	mostMixes = 1024    // ways to fill one node
	mostTurns = 1 << 20 // mixes tried on nodes, in all

	stepsPerTurn = 8
)

// sweep decides whether tied kins can stand on the nodes together: node by node it tries
// every mix of pods, and never goes on twice from states that leave the same to decide. A
// state is how many pods are left and what matters of the domains that are begun.
//
// It looks at where pods end up. What holds at the end is necessary: pods never leave, so
// a domain that had too many when its last pod came has too many at the end, and the
// fewest only grow. An order in which they come there is looked for afterwards.
type sweep struct {
	w       *web
	p       *packing // empty; gives rooms and holes
	nodes   []swept
	last    [][]int32 // by topology, then domain: the last of the nodes that is in it
	first   [][]int32
	rooms   [][]int64 // by node, then kin: how many all nodes from there on take
	sums    [][]int64 // by node, then column: room on all nodes from there on
	left    []int     // by kin: pods without a place
	in      [][]int32 // by topology: pods by domain and kin
	full    [][]int32 // by even rule, then domain: pods that count
	state   closedState
	chosen  []int32
	seen    map[string]struct{}
	tried   int
	stopped bool // before everything was tried
	key     []byte
}

// swept is a node of a cell, or a piece that others have begun.
type swept struct {
	cell, piece int
	node        int32
	mixes       [][]int32 // pods by kin, the fullest first
}

// closedState is what domains that are over leave behind.
type closedState struct {
	fewest []int32 // by even rule: pods in the emptiest domain that is over
	most   []int32 // by even rule: the fewest that the fullest of them allows
	selves []int32 // by near rule and topology: domains begun by a pod that relies on itself
	held   []int32 // by share rule: pods that use the volume
	nodes  []int32 // by share rule: on how many nodes
}

func (c closedState) clone() closedState {
	return closedState{slices.Clone(c.fewest), slices.Clone(c.most), slices.Clone(c.selves), slices.Clone(c.held), slices.Clone(c.nodes)}
}

// sweep returns a seating on which all pods are bound, or nil. decided says that the search
// came to an end: nil then proves that there is none.
func (w *web) sweep(beside crowd) (found *seating, decided bool) {
	x := &sweep{w: w, p: w.q.newPacking(w.kins, w.idle, beside), seen: map[string]struct{}{}}
	if !x.lay() {
		return nil, false
	}
	if !x.from(0) {
		return nil, !x.stopped
	}
	return x.bind(beside), false
}

// lay finds the nodes and their mixes; false if there are too many.
func (x *sweep) lay() bool {
	w := x.w
	for at := range x.p.pieces {
		p := &x.p.pieces[at]
		x.nodes = append(x.nodes, swept{cell: p.cell, piece: at, node: p.nodes[0], mixes: x.mixes(p.cell, at)})
	}
	for cell := range x.p.fresh {
		left := x.p.left(cell)
		if left == 0 || !slices.ContainsFunc(w.kins, func(k *kin) bool { return k.count > 0 && x.p.caps(k)[cell] > 0 }) {
			continue
		}
		if len(x.nodes)+left > mostSwept {
			return false
		}
		mixes := x.mixes(cell, x.p.add(cell, x.p.fresh[cell][:1]))
		x.p.drop()
		for _, node := range x.p.fresh[cell][:left] {
			x.nodes = append(x.nodes, swept{cell, -1, node, mixes})
		}
	}
	if slices.ContainsFunc(x.nodes, func(n swept) bool { return n.mixes == nil }) {
		return false
	}
	x.sort()
	x.prepare()
	return true
}

// mixes are all ways to put pods on a node, the fullest first; nil: too many.
func (x *sweep) mixes(cell, on int) [][]int32 {
	var out [][]int32
	counts, placed := make([]int32, len(x.w.kins)), slices.Clone(x.p.placed)
	var choose func(i int)
	choose = func(i int) {
		if len(out) > mostMixes {
			return
		}
		if i == len(counts) {
			out = append(out, slices.Clone(counts))
			return
		}
		most := min(x.p.hole(i, on), x.w.kins[i].count)
		for n := 0; n <= most; n++ {
			if n > 0 && !x.w.mayAttach(i, cell, counts) {
				break
			}
			counts[i] = int32(n)
			x.p.put(i, on, n)
			choose(i + 1)
			x.p.put(i, on, -n)
		}
		counts[i] = 0
	}
	choose(0)
	copy(x.p.placed, placed)
	if len(out) > mostMixes {
		return nil
	}
	slices.SortStableFunc(out, func(a, b []int32) int { return cmp.Compare(podsOf(everyKin, b), podsOf(everyKin, a)) })
	return out
}

// sort brings nodes of one domain together, large domains first.
func (x *sweep) sort() {
	tops := make([]int, len(x.w.tops))
	for i := range tops {
		tops[i] = i
	}
	slices.SortStableFunc(tops, func(a, b int) int { return cmp.Compare(x.w.tops[a].size, x.w.tops[b].size) })
	slices.SortStableFunc(x.nodes, func(a, b swept) int {
		for _, top := range tops {
			t := &x.w.tops[top]
			if t.of == nil {
				continue
			}
			if c := cmp.Compare(t.of[a.cell], t.of[b.cell]); c != 0 {
				return c
			}
		}
		return cmp.Compare(a.cell, b.cell)
	})
}

// prepare fills in what the search starts from.
func (x *sweep) prepare() {
	w, k := x.w, len(x.w.kins)
	for _, kin := range w.kins {
		x.left = append(x.left, kin.count)
	}
	x.rooms, x.sums = make([][]int64, len(x.nodes)+1), make([][]int64, len(x.nodes)+1)
	x.rooms[len(x.nodes)], x.sums[len(x.nodes)] = make([]int64, k), make([]int64, len(x.p.column))
	for j := len(x.nodes) - 1; j >= 0; j-- {
		x.rooms[j], x.sums[j] = slices.Clone(x.rooms[j+1]), slices.Clone(x.sums[j+1])
		for i := range w.kins {
			x.rooms[j][i] += int64(slices.MaxFunc(x.nodes[j].mixes, func(a, b []int32) int { return cmp.Compare(a[i], b[i]) })[i])
		}
		for i, has := range x.roomOf(j) {
			x.sums[j][i] = plus(x.sums[j][i], max(0, has))
		}
	}
	for top := range w.tops {
		t := &w.tops[top]
		first, last := make([]int32, t.size), make([]int32, t.size)
		for d := range first {
			first[d], last[d] = math.MaxInt32, -1
		}
		for j, n := range x.nodes {
			if d := t.domain(n.cell, n.node); d >= 0 {
				first[d], last[d] = min(first[d], int32(j)), int32(j)
			}
		}
		x.first, x.last, x.in = append(x.first, first), append(x.last, last), append(x.in, make([]int32, t.size*k))
	}
	for at := range w.even {
		r := &w.even[at]
		x.full = append(x.full, slices.Clone(r.base))
		x.state.fewest, x.state.most = append(x.state.fewest, x.ceiling(r)), append(x.state.most, 0)
	}
	for _, r := range w.near {
		for range r.tops {
			x.state.selves = append(x.state.selves, 0)
		}
	}
	x.state.held, x.state.nodes = make([]int32, len(w.share)), make([]int32, len(w.share))
	x.chosen = make([]int32, len(x.nodes))
}

// roomOf is the room on a node, by column of the packing.
func (x *sweep) roomOf(j int) []int64 {
	if x.nodes[j].piece >= 0 {
		return x.p.room(x.nodes[j].piece)
	}
	columns := x.w.q.s.cols.free
	if x.w.idle {
		columns = x.w.q.s.cols.idle
	}
	out := make([]int64, 0, len(x.p.column))
	for _, column := range x.p.column {
		out = append(out, columns[column][x.w.q.on.grid.class[x.nodes[j].cell]])
	}
	return out
}

// ceiling is the most that the emptiest domain of a rule can come to.
func (x *sweep) ceiling(r *evenRule) int32 {
	if r.short {
		return 0
	}
	rooms := x.w.rooms(r.top)
	out := int32(math.MaxInt32)
	for d, base := range r.base {
		if !r.real[d] {
			continue
		}
		n := int64(base)
		for i := range x.w.kins {
			if r.counted>>i&1 == 1 {
				n += min(rooms[d*len(x.w.kins)+i], int64(x.w.kins[i].count))
			}
		}
		out = min(out, int32(n))
	}
	return out
}

// from tries everything from a node on.
func (x *sweep) from(j int) bool {
	if j == len(x.nodes) {
		return !slices.ContainsFunc(x.left, func(n int) bool { return n > 0 })
	}
	for i, n := range x.left {
		if int64(n) > x.rooms[j][i] {
			return false
		}
	}
	if !x.enough(j) || x.known(j) {
		return false
	}
	was := x.state
	for at, mix := range x.nodes[j].mixes {
		if x.tried++; x.tried > mostTurns || !x.w.q.on.budget.spend(stepsPerTurn) {
			x.stopped = true
			return false
		}
		if !x.within(mix) {
			continue
		}
		x.state = was.clone()
		x.add(j, mix, 1)
		x.chosen[j] = int32(at)
		if x.keeps(j, mix) && x.from(j+1) {
			return true
		}
		x.add(j, mix, -1)
	}
	x.state = was
	return false
}

// enough says that no resource is short in sum for the pods that are left.
func (x *sweep) enough(j int) bool {
	for column, has := range x.sums[j] {
		want := int64(0)
		for i, n := range x.left {
			for _, need := range x.p.needs[i] {
				if need.column == column {
					want = plus(want, times(need.n, int64(n)))
				}
			}
		}
		if want > has && want < math.MaxInt64 {
			return false
		}
	}
	return true
}

func (x *sweep) within(mix []int32) bool {
	for i, n := range mix {
		if int(n) > x.left[i] {
			return false
		}
	}
	return true
}

// add puts a mix on a node, or takes it away again.
func (x *sweep) add(j int, mix []int32, sign int32) {
	n := &x.nodes[j]
	for i, pods := range mix {
		x.left[i] -= int(sign * pods)
	}
	for top := range x.w.tops {
		if d := x.w.tops[top].domain(n.cell, n.node); d >= 0 {
			row := x.in[top][int(d)*len(mix):]
			for i, pods := range mix {
				row[i] += sign * pods
			}
		}
	}
	for at := range x.w.even {
		r := &x.w.even[at]
		if d := x.w.tops[r.top].domain(n.cell, n.node); d >= 0 && r.cells[n.cell] {
			x.full[at][d] += sign * podsOf(r.counted, mix)
		}
	}
}

const everyKin = ^uint64(0)

// podsOf adds up the pods of some kins.
func podsOf(kins uint64, counts []int32) (n int32) {
	for i, c := range counts {
		if kins>>i&1 == 1 {
			n += c
		}
	}
	return n
}

// keeps says whether the mix on a node keeps all rules, as far as can be said now.
func (x *sweep) keeps(j int, mix []int32) bool {
	return x.keepsApart(j, mix) && x.keepsNear(j) && x.keepsEven(j, mix) && x.keepsShare(mix)
}

// domain of a node; over says that it is the last of it, counts are its pods.
func (x *sweep) domain(j, top int) (d int32, counts []int32, over bool) {
	d = x.w.tops[top].domain(x.nodes[j].cell, x.nodes[j].node)
	if d < 0 {
		return d, nil, false
	}
	return d, x.in[top][int(d)*len(x.w.kins):][:len(x.w.kins)], x.last[top][d] == int32(j)
}

func (x *sweep) keepsApart(j int, mix []int32) bool {
	for _, r := range x.w.apart {
		if mix[r.holder] == 0 && podsOf(r.with, mix) == 0 {
			continue
		}
		_, counts, _ := x.domain(j, r.top)
		if counts == nil || counts[r.holder] == 0 {
			continue
		}
		others := podsOf(r.with, counts)
		if r.with>>r.holder&1 == 1 {
			others--
		}
		if others > 0 {
			return false
		}
	}
	return true
}

func (x *sweep) keepsNear(j int) bool {
	selves := 0
	for at := range x.w.near {
		r := &x.w.near[at]
		for i, top := range r.tops {
			slot := selves
			selves++
			d, counts, over := x.domain(j, top)
			if d < 0 {
				if podsOf(r.holders, x.nodes[j].mixes[x.chosen[j]]) > 0 {
					return false
				}
				continue
			}
			if !over || r.seeded[i][d] || podsOf(r.holders, counts) == 0 {
				continue
			}
			if podsOf(r.with, counts) == 0 {
				return false
			}
			if podsOf(r.with&^r.holders, counts) == 0 {
				if x.state.selves[slot]++; !r.open || x.state.selves[slot] > 1 {
					return false
				}
			}
		}
	}
	return true
}

func (x *sweep) keepsEven(j int, mix []int32) bool {
	for at := range x.w.even {
		r := &x.w.even[at]
		d, counts, over := x.domain(j, r.top)
		if d < 0 {
			if podsOf(r.holders, mix) > 0 {
				return false
			}
			continue
		}
		if n := podsOf(r.holders, counts); n > 0 {
			need := r.base[d] + podsOf(r.holders&r.counted, counts)
			if need == r.base[d] && podsOf(r.holders&r.self, counts) > 0 {
				need++ // it matches, and is not counted afterwards
			}
			x.state.most[at] = max(x.state.most[at], need-int32(min(r.skew, math.MaxInt32/2)))
		}
		if over && r.real[d] && !r.short {
			x.state.fewest[at] = min(x.state.fewest[at], x.full[at][d])
		}
		if x.state.most[at] > x.state.fewest[at] {
			return false
		}
	}
	return true
}

func (x *sweep) keepsShare(mix []int32) bool {
	for at := range x.w.share {
		r := &x.w.share[at]
		n := podsOf(r.kins, mix)
		if n == 0 || !r.hard {
			continue
		}
		x.state.held[at] += n
		x.state.nodes[at]++
		if r.once && x.state.held[at] > 1 || x.state.nodes[at] > 1 {
			return false
		}
	}
	return true
}

// known says whether the search has gone on from such a state before, and remembers it.
func (x *sweep) known(j int) bool {
	key := binary.AppendUvarint(x.key[:0], uint64(j))
	for _, n := range x.left {
		key = binary.AppendUvarint(key, uint64(n))
	}
	for _, all := range [][]int32{x.state.fewest, x.state.most, x.state.selves, x.state.nodes} {
		for _, n := range all {
			key = binary.AppendVarint(key, int64(n))
		}
	}
	for top := range x.w.tops {
		if x.w.tops[top].of == nil {
			continue
		}
		for d := range x.last[top] {
			if int(x.first[top][d]) < j && int(x.last[top][d]) >= j {
				key = x.begun(key, top, int32(d))
			}
		}
	}
	x.key = key
	if _, ok := x.seen[string(key)]; ok {
		return true
	}
	x.seen[string(key)] = struct{}{}
	return false
}

// begun writes down what matters of a domain of which some nodes are still to come.
func (x *sweep) begun(key []byte, top int, d int32) []byte {
	counts := x.in[top][int(d)*len(x.w.kins):][:len(x.w.kins)]
	for _, r := range x.w.apart {
		if r.top == top {
			key = append(key, byte(min(2, counts[r.holder])), byte(min(2, podsOf(r.with, counts))))
		}
	}
	for at := range x.w.near {
		r := &x.w.near[at]
		if slices.Contains(r.tops, top) {
			key = append(key, byte(min(1, podsOf(r.holders, counts))), byte(min(1, podsOf(r.with, counts))), byte(min(1, podsOf(r.with&^r.holders, counts))))
		}
	}
	for at := range x.w.even {
		if r := &x.w.even[at]; r.top == top {
			key = binary.AppendUvarint(key, uint64(x.full[at][d]))
			key = binary.AppendUvarint(key, uint64(podsOf(r.holders, counts)))
			key = binary.AppendUvarint(key, uint64(podsOf(r.holders&r.counted, counts)))
		}
	}
	return key
}
