package topology

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// The exhaustive search gives up beyond these sizes; then the answer is
// "unknown" rather than late.
const (
	mostSwept = 64   // nodes that take any of the pods
	mostMixes = 1024 // ways to fill one node
)

// search decides whether pod sets can stand on the nodes together: node by node it tries
// every mix of pods, and never goes on twice from states that leave the same to decide. A
// state is how many pods are left and what matters of the domains that are begun.
//
// It looks at where pods end up. What holds at the end is necessary: pods never leave, so
// a domain that had too many when its last pod came has too many at the end, and the
// fewest only grow. An order in which they come there is looked for afterwards.
type search struct {
	rules   *RuleSet
	p       *assign.Assignment // empty; gives room, and pods per node
	nodes   []searchNode
	last    [][]int32  // by topology, then domain: the last of the nodes that is in it
	first   [][]int32  // by topology, then domain
	rooms   [][]int64  // by node, then pod set: how many all nodes from there on take
	sums    [][]int64  // by node, then column: room on all nodes from there on
	begun   [][]remark // by node: what matters of domains that are begun before it and not over
	left    []int32    // by pod set: pods without a place
	in      [][]int32  // by counter, then domain
	state   []int32    // by node, then what domains that are over leave behind; see closed
	width   int        // of a state
	chosen  []int32
	seen    *assign.Memo
	key     []uint32
	stopped bool        // before everything was tried
	end     func() bool // whether the search ends where all pods have a node; nil: it does
}

// searchNode is a node of a node group, or a bin that others have begun.
type searchNode struct {
	nodeGroup, bin int
	node           int32
	mixes          []mix   // the fullest first
	domains        []int32 // by topology
	like           bool    // it is equal to the one before it
}

// mix is pods on one node.
type mix struct {
	pods []int32 // by pod set
	adds []int32 // by counter
}

// remark is what matters of one domain for what is still to come: no more than most of a counter.
type remark struct {
	counter int
	less    int // 1 + the counter that is taken away; 0: none is
	domain  int32
	most    int32
}

// closing is what domains that are over leave behind.
type closing struct {
	fewest []int32 // by even rule: pods in the emptiest domain that is over
	most   []int32 // by even rule: the fewest that the fullest of them allows
	selves []int32 // by near rule and topology: domains begun by a pod that relies on itself
	held   []int32 // by share rule: pods that use the volume, where one may
	nodes  []int32 // by share rule: on how many nodes
}

// closed is the state before a node is filled.
func (x *search) closed(j int) closing {
	row := x.state[j*x.width:][:x.width]
	cut := func(n int) []int32 {
		out := row[:n]
		row = row[n:]
		return out
	}
	even, share := len(x.rules.spread), len(x.rules.sharedVolumes)
	c := closing{fewest: cut(even), most: cut(even), held: cut(share), nodes: cut(share)}
	c.selves = row
	return c
}

// search returns a simulation on which all pods are bound, or nil. decided says that the search
// came to an end: nil then proves that there is none.
func (w *RuleSet) search(beside assign.Reserved) (found *simulation, decided bool) {
	x := &search{rules: w, p: w.solver.NewAssignment(w.podSets, w.idle, beside), seen: w.solver.Cycle.Memo()}
	if !x.collect() {
		return nil, false
	}
	if !x.from(0, 0) {
		return nil, !x.stopped
	}
	if found = x.bind(beside); found != nil || slices.ContainsFunc(w.sharedVolumes, func(r sharedVolumeRule) bool { return !r.hard }) {
		return found, false
	}
	return w.searchEnds(beside)
}

// searchEnds goes on where the pods have nodes but cannot be bound there in any order: it looks at all that they
// could have. Ways to the same state then differ, for the order in which pods are bound rests on where all are.
func (w *RuleSet) searchEnds(beside assign.Reserved) (found *simulation, decided bool) {
	defer w.solver.Cycle.Budget.Try(mostBuildSteps)()
	x := &search{rules: w, p: w.solver.NewAssignment(w.podSets, w.idle, beside), seen: w.solver.Cycle.Memo()}
	x.end = func() bool {
		found = x.bind(beside)
		return found != nil
	}
	if !x.collect() {
		return nil, false
	}
	if x.from(0, 0) {
		return found, false
	}
	w.unordered = true
	return nil, !x.stopped && w.solver.Cycle.Budget.Spend(0)
}

// collect finds the nodes and their mixes; false if there are too many.
func (x *search) collect() bool {
	w := x.rules
	for at := range x.p.Bins {
		p := &x.p.Bins[at]
		if len(x.nodes) == mostSwept {
			return false
		}
		x.nodes = append(x.nodes, searchNode{nodeGroup: p.NodeGroup, bin: at, node: p.Nodes[0], mixes: x.mixes(p.NodeGroup, at)})
	}
	for nodeGroup := range x.p.Fresh {
		left := x.p.Left(nodeGroup)
		if left == 0 || !slices.ContainsFunc(w.podSets, func(k *assign.PodSet) bool { return k.Count > 0 && x.p.Capacities(k)[nodeGroup] > 0 }) {
			continue
		}
		if len(x.nodes)+left > mostSwept {
			return false
		}
		mixes := x.mixes(nodeGroup, x.p.Add(nodeGroup, x.p.Fresh[nodeGroup][:1]))
		x.p.Drop()
		for i, node := range x.p.Fresh[nodeGroup][:left] {
			x.nodes = append(x.nodes, searchNode{nodeGroup: nodeGroup, bin: -1, node: node, mixes: mixes, like: i > 0})
		}
	}
	if slices.ContainsFunc(x.nodes, func(n searchNode) bool { return n.mixes == nil }) {
		return false
	}
	x.sort()
	return x.prepare()
}

// tooManyMixes says that there are more ways to put pods on a node than are tried: of so many pods that find
// room there together, any may be there or not.
func (x *search) tooManyMixes(nodeGroup, on int) bool {
	counts, placed := make([]int32, len(x.rules.podSets)), slices.Clone(x.p.Placed)
	together := 0
	for i, k := range x.rules.podSets {
		if k.Count > 0 && x.p.PodsPerNode(i, on) > 0 && x.rules.mayAttach(i, nodeGroup, counts) {
			x.p.Put(i, on, 1)
			counts[i] = 1
			together++
		}
	}
	for i, n := range counts {
		x.p.Put(i, on, -int(n))
	}
	copy(x.p.Placed, placed)
	return !x.rules.solver.Cycle.Budget.Spend(len(counts)) || together >= bits.Len(mostMixes)
}

// mixes are all ways to put pods on a node, the fullest first; nil: too many.
func (x *search) mixes(nodeGroup, on int) []mix {
	if x.tooManyMixes(nodeGroup, on) {
		return nil
	}
	var out []mix
	counts, placed, steps := make([]int32, len(x.rules.podSets)), slices.Clone(x.p.Placed), len(x.rules.podSets)+len(x.rules.counters)
	more := true
	var choose func(i int)
	choose = func(i int) {
		if more = more && x.rules.solver.Cycle.Budget.Spend(steps); !more {
			return
		}
		if i == len(counts) {
			out = append(out, mix{pods: slices.Clone(counts)})
			more = len(out) <= mostMixes
			return
		}
		most := min(x.p.PodsPerNode(i, on), x.rules.podSets[i].Count)
		for n := 0; n <= most && more; n++ {
			if n > 0 && !x.rules.mayAttach(i, nodeGroup, counts) {
				break
			}
			counts[i] = int32(n)
			x.p.Put(i, on, n)
			choose(i + 1)
			x.p.Put(i, on, -n)
		}
		counts[i] = 0
	}
	choose(0)
	copy(x.p.Placed, placed)
	if !more {
		return nil
	}
	slices.SortStableFunc(out, func(a, b mix) int { return cmp.Compare(sum(b.pods), sum(a.pods)) })
	for at := range out {
		for i := range x.rules.counters {
			out[at].adds = append(out[at].adds, x.rules.counters[i].of.podsOf(out[at].pods))
		}
	}
	return out
}

func sum(counts []int32) (n int32) {
	for _, c := range counts {
		n += c
	}
	return n
}

// sort brings nodes of one domain together, large domains first.
func (x *search) sort() {
	tops := make([]int, len(x.rules.topologies))
	for i := range tops {
		tops[i] = i
	}
	slices.SortStableFunc(tops, func(a, b int) int { return cmp.Compare(x.rules.topologies[a].size, x.rules.topologies[b].size) })
	slices.SortStableFunc(x.nodes, func(a, b searchNode) int {
		for _, top := range tops {
			t := &x.rules.topologies[top]
			if t.of == nil {
				continue
			}
			if c := cmp.Compare(t.of[a.nodeGroup], t.of[b.nodeGroup]); c != 0 {
				return c
			}
		}
		return cmp.Compare(a.nodeGroup, b.nodeGroup)
	})
}

// prepare fills in what the search starts from; false if that alone is too much.
func (x *search) prepare() bool {
	w, k := x.rules, len(x.rules.podSets)
	for _, set := range w.podSets {
		x.left = append(x.left, int32(set.Count))
	}
	for j := range x.nodes {
		for top := range w.topologies {
			x.nodes[j].domains = append(x.nodes[j].domains, w.topologies[top].domain(x.nodes[j].nodeGroup, x.nodes[j].node))
		}
	}
	x.rooms, x.sums = make([][]int64, len(x.nodes)+1), make([][]int64, len(x.nodes)+1)
	x.rooms[len(x.nodes)], x.sums[len(x.nodes)] = make([]int64, k), make([]int64, len(x.p.Column))
	for j := len(x.nodes) - 1; j >= 0; j-- {
		x.rooms[j], x.sums[j] = slices.Clone(x.rooms[j+1]), slices.Clone(x.sums[j+1])
		if !w.solver.Cycle.Budget.Spend(k * len(x.nodes[j].mixes)) {
			return false
		}
		for i := range w.podSets {
			most := int32(0)
			for at := range x.nodes[j].mixes {
				most = max(most, x.nodes[j].mixes[at].pods[i])
			}
			x.rooms[j][i] += int64(most)
		}
		for i, has := range x.roomOf(j) {
			x.sums[j][i] = saturate.Add(x.sums[j][i], max(0, has))
		}
	}
	for top := range w.topologies {
		t := &w.topologies[top]
		first, last := make([]int32, t.size), make([]int32, t.size)
		for d := range first {
			first[d], last[d] = math.MaxInt32, -1
		}
		for j := range x.nodes {
			if d := x.nodes[j].domains[top]; d >= 0 {
				first[d], last[d] = min(first[d], int32(j)), int32(j)
			}
		}
		x.first, x.last = append(x.first, first), append(x.last, last)
	}
	x.in = w.zeros()
	for j := range x.nodes {
		x.begun = append(x.begun, x.remarks(int32(j)))
	}
	selves := 0
	for at := range w.affinity {
		selves += len(w.affinity[at].tops)
	}
	x.width = 2*len(w.spread) + 2*len(w.sharedVolumes) + selves
	x.state = make([]int32, (len(x.nodes)+1)*x.width)
	for at := range w.spread {
		x.closed(0).fewest[at] = x.ceiling(&w.spread[at])
	}
	x.chosen = make([]int32, len(x.nodes))
	return true
}

// remarks are what matters, before a node is filled, of domains of which some nodes are filled
// and others are to come.
func (x *search) remarks(j int32) (out []remark) {
	for top := range x.rules.topologies {
		if x.rules.topologies[top].of == nil {
			continue
		}
		for d := range x.last[top] {
			if x.first[top][d] < j && x.last[top][d] >= j {
				out = x.remark(out, top, int32(d))
			}
		}
	}
	return out
}

func (x *search) remark(out []remark, top int, d int32) []remark {
	for at := range x.rules.antiAffinity {
		if r := &x.rules.antiAffinity[at]; r.top == top {
			if out = append(out, remark{counter: r.held, domain: d, most: 1}, remark{counter: r.both, domain: d, most: 2}); r.there < 0 {
				out = append(out, remark{counter: r.both, less: 1 + r.held, domain: d, most: 1})
			} else {
				out = append(out, remark{counter: r.there, domain: d, most: 1})
			}
		}
	}
	for at := range x.rules.affinity {
		r := &x.rules.affinity[at]
		if j := slices.Index(r.tops, top); j >= 0 {
			out = append(out, remark{counter: r.held[j], domain: d, most: 1}, remark{counter: r.there[j], domain: d, most: 1}, remark{counter: r.others[j], domain: d, most: 1})
		}
	}
	for at := range x.rules.spread {
		if r := &x.rules.spread[at]; r.top == top {
			out = append(out, remark{counter: r.level, domain: d, most: math.MaxInt32}, remark{counter: r.held, domain: d, most: 1}, remark{counter: r.heldCounted, domain: d, most: math.MaxInt32}, remark{counter: r.heldSelf, domain: d, most: 1})
		}
	}
	return out
}

// roomOf is the room on a node, by column of the assignment.
func (x *search) roomOf(j int) []int64 {
	if x.nodes[j].bin >= 0 {
		return x.p.Room(x.nodes[j].bin)
	}
	columns := x.rules.solver.Snapshot.Columns().Free
	if x.rules.idle {
		columns = x.rules.solver.Snapshot.Columns().Idle
	}
	out := make([]int64, 0, len(x.p.Column))
	for _, column := range x.p.Column {
		out = append(out, columns[column][x.rules.solver.Cycle.Grouping.Class[x.nodes[j].nodeGroup]])
	}
	return out
}

// ceiling is the most that the emptiest domain of a rule can come to.
func (x *search) ceiling(r *spreadRule) int32 {
	if r.short {
		return 0
	}
	rooms := x.rules.rooms(r.top)
	out := int32(math.MaxInt32)
	for d, base := range r.base {
		if !r.compared[d] {
			continue
		}
		n := int64(base)
		for i := range r.counted.all() {
			n += min(rooms[d*len(x.rules.podSets)+i], int64(x.rules.podSets[i].Count))
		}
		out = min(out, int32(min(n, math.MaxInt32)))
	}
	return out
}

// from tries everything from a node on. Of nodes that are alike, the later ones take no mix
// that comes before floor, which the ones before them took.
func (x *search) from(j, floor int) bool {
	if j == len(x.nodes) {
		return !slices.ContainsFunc(x.left, func(n int32) bool { return n > 0 }) && (x.end == nil || x.end())
	}
	for i, n := range x.left {
		if int64(n) > x.rooms[j][i] {
			return false
		}
	}
	if !x.rules.solver.Cycle.Budget.Spend(x.rules.stepsPerMix) {
		x.stopped = true
		return false
	}
	if !x.enough(j) {
		return false
	}
	tried := math.MaxInt
	if x.end == nil {
		var known bool
		if tried, known = x.known(j, floor); known {
			return false
		}
	}
	n := &x.nodes[j]
	for at := floor; at < min(tried, len(n.mixes)); at++ {
		m := &n.mixes[at]
		if !x.rules.solver.Cycle.Budget.Spend(x.rules.stepsPerMix) {
			x.stopped = true
			return false
		}
		if !x.within(m.pods) {
			continue
		}
		copy(x.state[(j+1)*x.width:][:x.width], x.state[j*x.width:][:x.width])
		x.add(n, m, 1)
		x.chosen[j] = int32(at)
		if x.keeps(j, m) {
			next := 0
			if j+1 < len(x.nodes) && x.nodes[j+1].like {
				next = at
			}
			if x.from(j+1, next) {
				return true
			}
			if x.stopped {
				return false
			}
		}
		x.add(n, m, -1)
	}
	return false
}

// enough says that no resource is short in sum for the pods that are left.
func (x *search) enough(j int) bool {
	for column, has := range x.sums[j] {
		want := int64(0)
		for i, n := range x.left {
			for _, need := range x.p.Needs[i] {
				if need.Column == column {
					want = saturate.Add(want, saturate.Mul(need.N, int64(n)))
				}
			}
		}
		if want > has && want < math.MaxInt64 {
			return false
		}
	}
	return true
}

func (x *search) within(pods []int32) bool {
	for i, n := range pods {
		if n > x.left[i] {
			return false
		}
	}
	return true
}

// add puts a mix on a node, or takes it away again.
func (x *search) add(n *searchNode, m *mix, sign int32) {
	for i, pods := range m.pods {
		x.left[i] -= sign * pods
	}
	for at, pods := range m.adds {
		c := &x.rules.counters[at]
		if d := n.domains[c.top]; pods > 0 && d >= 0 && (c.nodeGroups == nil || c.nodeGroups[n.nodeGroup]) {
			x.in[at][d] += sign * pods
		}
	}
}

// known says how far the search has gone on from such a state before, and remembers that it
// does now: all mixes from tried on have failed. It is known where that is all of them.
func (x *search) known(j, floor int) (tried int, known bool) {
	key := append(x.key[:0], uint32(j))
	for _, n := range x.left {
		key = append(key, uint32(n))
	}
	for _, n := range x.state[j*x.width:][:x.width] {
		key = append(key, uint32(n))
	}
	for _, r := range x.begun[j] {
		n := x.in[r.counter][r.domain]
		if r.less > 0 {
			n -= x.in[r.less-1][r.domain]
		}
		key = append(key, uint32(min(r.most, n)))
	}
	x.key = key
	was, known := x.seen.Remember(key, uint32(floor))
	return int(min(was, math.MaxInt32)), known
}
