package capacity

import (
	"math"
	"math/bits"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// admission is which cells admit pods that choose nodes alike, whatever they ask for.
type admission struct {
	on      *ground
	traits  *traits
	pod     *job.Pod
	lift    bool
	refused []refusal // cells behind a gate; nothing about room
	open    [][]int32 // the other cells, in lists
	refuse  []int     // by taint set: index+1 into the taints that refuse
	taints  []string  // that refuse
	rooms   []*holes
}

// refusal is cells that are behind one gate, all of one taint set.
type refusal struct {
	gate  gate
	cells []int32
	nodes int64
}

// holes are how many pods of a kin alone each cell takes on each of its nodes.
type holes struct {
	*admission
	needs []cluster.Need
	alone bool
	now   []int32 // by cell
	order []int32 // cells that take pods now, by how many; ties by cell; nil: not asked yet
	sums          // of now

	idle     []int32 // by cell, were it idle; nil: not asked yet
	idleSums sums
	final    []gate // by cell, room included; nil: not asked yet
}

// sums are what counts of pods by cell add up to.
type sums struct {
	total  int64                  // pods that all nodes take
	peak   int32                  // pods that one node takes, at most
	takers int64                  // nodes that take any
	sizes  [largestHole + 1]int32 // cells by how many pods they take
}

// admit finds the admission of a kin, or works it out.
func (q *question) admit(k *kin) *admission {
	x := &k.pod.Spec
	same := equality.Semantic.DeepEqual
	for _, a := range q.on.admissions {
		y := &a.pod.Spec
		if !q.on.budget.spend(2) {
			break
		}
		if a.lift == q.lift && a.traits.shuts(k.traits) && x.NodeName == y.NodeName && same(x.NodeSelector, y.NodeSelector) && same(x.Tolerations, y.Tolerations) && same(x.Affinity, y.Affinity) {
			return a
		}
	}
	a := &admission{on: q.on, traits: k.traits, pod: k.pod, lift: q.lift}
	if q.on.budget.spend(len(q.s.Columns().TaintSets) + len(q.on.grid.Class)/8) {
		a.tolerate(q.s)
		a.sort(q.s)
	}
	q.on.admissions = append(q.on.admissions, a)
	return a
}

// shuts says that two groups find the same nodes shut, for certain.
func (t *traits) shuts(u *traits) bool {
	free := func(t *traits) bool { return t.closed == nil && t.barredNow == nil && t.barredIdle == nil }
	return t == u || free(t) && free(u)
}

// tolerate finds the taints that refuse the pods.
func (a *admission) tolerate(s *cluster.Snapshot) {
	a.refuse = make([]int, len(s.Columns().TaintSets))
	for set, taints := range s.Columns().TaintSets {
		if a.lift {
			taints = slices.DeleteFunc(slices.Clone(taints), func(t corev1.Taint) bool { return podspec.HealthTaint(t.Key) })
		}
		if t := podspec.Untolerated(taints, a.pod.Spec.Tolerations); t != nil {
			a.taints = append(a.taints, podspec.TaintText(t))
			a.refuse[set] = len(a.taints)
		}
	}
}

// sort goes through the gates that lie in the nodes themselves. It asks once for each
// family of cells, unless pods choose nodes by their names or some nodes are closed to them.
func (a *admission) sort(s *cluster.Snapshot) {
	spec := &a.pod.Spec
	_, byName := podspec.SelectorKeys(spec)
	gate := a.gateOf(s, byName)
	if byName || a.traits.closed != nil {
		var free []int32
		for cell := range a.on.grid.Class {
			if g := gate(int32(cell)); g != open {
				a.refused = append(a.refused, refusal{g, []int32{int32(cell)}, a.on.grid.Weight(cell)})
			} else {
				free = append(free, int32(cell))
			}
		}
		a.open = [][]int32{free}
		return
	}
	families := a.on.grid.Selections(s.Columns())
	for i, cells := range families.Groups {
		if g := gate(cells[0]); g != open {
			a.refused = append(a.refused, refusal{g, cells, families.Nodes[i]})
		} else {
			a.open = append(a.open, cells)
		}
	}
}

// gateOf prepares the first gate that a cell is behind, whatever room it has.
func (a *admission) gateOf(s *cluster.Snapshot, byName bool) func(cell int32) gate {
	g, spec, columns := a.on.grid, &a.pod.Spec, s.Columns()
	match, selected := podspec.Selects(spec), make([]int8, g.LabelSets+1)
	free := len(spec.NodeSelector) == 0 && spec.Affinity == nil && !byName
	cordon := []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
	toleratesCordon := a.lift || podspec.Untolerated(cordon, spec.Tolerations) == nil
	admits := func(cell int32) bool {
		if free {
			return true
		}
		known := &selected[g.LabelSet[cell]]
		if *known == 0 || byName {
			n := s.Nodes()[g.Nodes[cell][0]]
			*known = -1
			if match(n.Object()) && (spec.NodeName == "" || spec.NodeName == n.Name) {
				*known = 1
			}
		}
		return *known > 0
	}
	return func(cell int32) gate {
		switch class := g.Class[cell]; {
		case !columns.Ready[class] && !a.lift:
			return notReady
		case columns.Cordoned[class] && !toleratesCordon:
			return cordoned
		case !admits(cell):
			return notSelected
		case a.refuse[columns.TaintSet[class]] > 0:
			return tainted
		case a.traits.closed != nil && a.traits.closed[g.Nodes[cell][0]]:
			return closed
		default:
			return open
		}
	}
}

// holes finds the holes for pods that ask for so much, or works them out.
func (a *admission) holes(needs []cluster.Need, alone bool) *holes {
	for _, h := range a.rooms {
		if h.alone == alone && slices.Equal(h.needs, needs) {
			return h
		}
	}
	h := &holes{admission: a, needs: needs, alone: alone}
	h.now = h.count(a.on.s.Columns().Free, nil, a.traits.barredNow, &h.sums)
	a.rooms = append(a.rooms, h)
	return h
}

// count is how many pods go on a node of each cell, and what that adds up to. Cells that
// stand idle take from known what they have; barred nodes take none.
func (h *holes) count(room [][]int64, known []int32, barred []bool, sums *sums) []int32 {
	g, busy := h.on.grid, h.on.s.Columns().Busy
	out := h.on.numbers(len(g.Class))
	most := int32(math.MaxInt32)
	if h.alone {
		most = 1
	}
	rows, ok := rowsOf(h.needs, room)
	if !ok || !h.on.budget.spend(len(g.Class)/2) {
		return out
	}
	for _, cells := range h.open {
		for _, cell := range cells {
			class, left := g.Class[cell], most
			if known != nil && !busy[class] {
				left = known[cell]
			} else {
				for i := range rows {
					if left = fits(left, rows[i].has[class], rows[i].n); left == 0 {
						break
					}
				}
			}
			if left == 0 || barred != nil && barred[g.Nodes[cell][0]] {
				continue
			}
			out[cell] = left
			nodes := int64(g.Size[cell])
			sums.total = saturate.Add(sums.total, int64(left)*nodes)
			sums.peak = max(sums.peak, left)
			sums.takers += nodes
			sums.sizes[min(largestHole, left)]++
		}
	}
	return out
}

// row is what one pod takes of a column, and what there is, by class.
type row struct {
	has []int64
	n   int64
}

// rowsOf are the needs with their columns, false if one has none. Those come first that
// most nodes cannot serve.
func rowsOf(needs []cluster.Need, room [][]int64) ([]row, bool) {
	var first, then []row
	for _, n := range needs {
		switch {
		case n.Column < 0:
			return nil, false
		case job.AcceleratorUnit(n.Name) != job.NotAccelerator:
			first = append(first, row{room[n.Column], n.N})
		default:
			then = append(then, row{room[n.Column], n.N})
		}
	}
	return append(first, then...), true
}

// fits is how many pods that take n each go into what there is, up to most.
func fits(most int32, has, n int64) int32 {
	if has < n {
		return 0
	}
	// A product is cheaper than a quotient, and mostly enough.
	if high, low := bits.Mul64(uint64(most), uint64(n)); high > 0 || low > uint64(has) {
		return int32(has / n)
	}
	return most
}

// settle finds out what the cells take when idle.
func (h *holes) settle() {
	if h.idle != nil {
		return
	}
	var known []int32
	if h.traits.barredNow == nil {
		known = h.now
	}
	h.idle = h.count(h.on.s.Columns().Idle, known, h.traits.barredIdle, &h.idleSums)
}

// refuses prepares why cells that let the pods in take none of them now; open: because
// of their number.
func (h *holes) refuses() func(cell int32) gate {
	cols, grid, barred := h.on.s.Columns(), h.on.grid, h.traits.barredNow
	free, served := rowsOf(h.needs, cols.Free)
	idle, _ := rowsOf(h.needs, cols.Idle)
	takes := func(rows []row, class int32) bool {
		for i := range rows {
			if rows[i].has[class] < rows[i].n {
				return false
			}
		}
		return served
	}
	return func(cell int32) gate {
		switch class := grid.Class[cell]; {
		case !takes(idle, class):
			return tooSmall
		case !takes(free, class):
			return full
		case barred != nil && barred[grid.Nodes[cell][0]]:
			return otherwise
		default:
			return open
		}
	}
}

// gatesNow are the gates that refuse each cell, room included.
func (h *holes) gatesNow() []gate {
	if h.final != nil {
		return h.final
	}
	h.final = make([]gate, len(h.on.grid.Class))
	for _, r := range h.refused {
		for _, cell := range r.cells {
			h.final[cell] = r.gate
		}
	}
	refuses := h.refuses()
	for _, cells := range h.open {
		for _, cell := range cells {
			if h.now[cell] == 0 {
				h.final[cell] = refuses(cell)
			}
		}
	}
	return h.final
}

// inOrder are the cells that take pods, by how many; ties by cell. Small holes first
// leaves the large ones whole. At least so many are given, from the small end, as n pods
// can need on fresh nodes; all says that there are no others.
func (h *holes) inOrder(idle bool, n int) (cells []int32, all bool) {
	switch {
	case idle:
		return h.bySize(h.idle, &h.idleSums.sizes, largestHole), true
	case h.order != nil:
		return h.order, true
	}
	if upTo := h.enough(n); upTo < largestHole {
		return h.bySize(h.now, &h.sizes, upTo), false
	}
	h.order = h.bySize(h.now, &h.sizes, largestHole)
	return h.order, true
}

// largestHole is the number of pods from which on holes are not told apart by size.
const largestHole = 255

// enough is the size up to which holes have to be looked at to place n pods, the small
// ones first; largestHole where that is not much less than all of them.
func (s *sums) enough(n int) int32 {
	all, cells, pods := int32(0), int32(0), int64(0)
	for _, n := range s.sizes[1:] {
		all += n
	}
	for size := int32(1); size < largestHole && 2*cells < all; size++ {
		cells += s.sizes[size]
		if pods += int64(size) * int64(s.sizes[size]); pods >= int64(n) {
			return size
		}
	}
	return largestHole
}

// bySize are the cells that take up to so many pods.
func (h *holes) bySize(counts []int32, sizes *[largestHole + 1]int32, upTo int32) []int32 {
	var starts [largestHole + 1]int32
	total := int32(0)
	for size := int32(1); size <= upTo; size++ {
		starts[size] = total
		total += sizes[size]
	}
	out := h.on.numbers(int(total))
	for cell, n := range counts {
		if n == 0 {
			continue
		}
		if n = min(largestHole, n); n <= upTo {
			out[starts[n]] = int32(cell)
			starts[n]++
		}
	}
	return out
}
