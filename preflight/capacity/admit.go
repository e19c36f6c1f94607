package capacity

import (
	"math"
	"math/bits"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// admission is which cells admit pods that choose nodes alike, whatever they ask for.
type admission struct {
	on     *ground
	traits *traits
	pod    *job.Pod
	lift   bool
	gates  []gate   // by cell; nothing about room
	refuse []int    // by taint set: index+1 into the taints that refuse
	taints []string // that refuse
	rooms  []*holes
}

// holes are how many pods of a kin alone each cell takes on each of its nodes.
type holes struct {
	*admission
	needs []need
	alone bool
	now   []int32 // by cell
	order []int32 // cells that take pods now, by how many; ties by cell
	total int64   // pods that all nodes take now
	peak  int32   // pods that one node takes now, at most

	idle      []int32 // by cell, were it idle; nil: not asked yet
	idleTotal int64
	idlePeak  int32
	final     []gate // by cell, room included; nil: not asked yet
}

// admit finds the admission of a kin, or works it out.
func (q *question) admit(k *kin) *admission {
	x := &k.pod.Spec
	same := equality.Semantic.DeepEqual
	for _, a := range q.on.admissions {
		y := &a.pod.Spec
		if a.traits == k.traits && a.lift == q.lift && same(x.NodeSelector, y.NodeSelector) && same(x.Tolerations, y.Tolerations) && same(x.Affinity, y.Affinity) {
			return a
		}
	}
	a := &admission{on: q.on, traits: k.traits, pod: k.pod, lift: q.lift}
	a.tolerate(q.s)
	a.open(q.s)
	q.on.admissions = append(q.on.admissions, a)
	return a
}

// tolerate finds the taints that refuse the pods.
func (a *admission) tolerate(s *Snapshot) {
	a.refuse = make([]int, len(s.cols.taintSets))
	for set, taints := range s.cols.taintSets {
		if a.lift {
			taints = slices.DeleteFunc(slices.Clone(taints), func(t corev1.Taint) bool { return transient(t.Key) })
		}
		if t := untolerated(taints, a.pod.Spec.Tolerations); t != nil {
			a.taints = append(a.taints, taintText(t))
			a.refuse[set] = len(a.taints)
		}
	}
}

// open goes through the gates that lie in the nodes themselves.
func (a *admission) open(s *Snapshot) {
	g := a.on.grid
	a.gates = make([]gate, len(g.nodes))
	spec := &a.pod.Spec
	match, selected := selects(spec), make([]int8, g.kinds+1)
	_, byName := selectorKeys(spec)
	free := len(spec.NodeSelector) == 0 && spec.Affinity == nil && !byName
	cordon := []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
	toleratesCordon := a.lift || untolerated(cordon, spec.Tolerations) == nil
	admits := func(cell int) bool {
		if free {
			return true
		}
		known := &selected[g.labels[cell]]
		if *known == 0 || byName {
			n := s.nodes[g.nodes[cell][0]]
			*known = -1
			if match(n.object) && (spec.NodeName == "" || spec.NodeName == n.Name) {
				*known = 1
			}
		}
		return *known > 0
	}
	for cell, class := range g.class {
		switch {
		case !s.cols.ready[class] && !a.lift:
			a.gates[cell] = notReady
		case s.cols.cordoned[class] && !toleratesCordon:
			a.gates[cell] = cordoned
		case !admits(cell):
			a.gates[cell] = notSelected
		case a.refuse[s.cols.taintSet[class]] > 0:
			a.gates[cell] = tainted
		case a.traits.closed != nil && a.traits.closed[g.nodes[cell][0]]:
			a.gates[cell] = closed
		}
	}
}

// holes finds the holes for pods that ask for so much, or works them out.
func (a *admission) holes(needs []need, alone bool) *holes {
	for _, h := range a.rooms {
		if h.alone == alone && slices.Equal(h.needs, needs) {
			return h
		}
	}
	h := &holes{admission: a, needs: needs, alone: alone}
	h.now = h.count(a.on.s.cols.free, nil)
	h.bar(h.now, a.traits.barredNow)
	h.total, h.peak = a.on.grid.sum(h.now)
	a.rooms = append(a.rooms, h)
	return h
}

// count is how many pods go on a node of each cell. Cells that stand idle take from
// known what they have.
func (h *holes) count(room [][]int64, known []int32) []int32 {
	class, busy := h.on.grid.class, h.on.s.cols.busy
	out := make([]int32, len(class))
	most := int32(math.MaxInt32)
	if h.alone {
		most = 1
	}
	rows, ok := rowsOf(h.needs, room)
	if !ok {
		return out
	}
	for cell, gate := range h.gates {
		switch class := class[cell]; {
		case gate != open:
		case known != nil && !busy[class]:
			out[cell] = known[cell]
		default:
			left := most
			for i := range rows {
				if left = fits(left, rows[i].has[class], rows[i].n); left == 0 {
					break
				}
			}
			out[cell] = left
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
func rowsOf(needs []need, room [][]int64) ([]row, bool) {
	var first, then []row
	for _, n := range needs {
		switch {
		case n.column < 0:
			return nil, false
		case job.AcceleratorUnit(n.name) != job.NotAccelerator:
			first = append(first, row{room[n.column], n.n})
		default:
			then = append(then, row{room[n.column], n.n})
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

func (h *holes) bar(counts []int32, barred []bool) {
	if barred == nil {
		return
	}
	for cell, members := range h.on.grid.nodes {
		if barred[members[0]] {
			counts[cell] = 0
		}
	}
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
	h.idle = h.count(h.on.s.cols.idle, known)
	h.bar(h.idle, h.traits.barredIdle)
	h.idleTotal, h.idlePeak = h.on.grid.sum(h.idle)
}

// gatesNow are the gates that refuse each cell, room included.
func (h *holes) gatesNow() []gate {
	if h.final != nil {
		return h.final
	}
	cols, grid, barred := &h.on.s.cols, h.on.grid, h.traits.barredNow
	free, served := rowsOf(h.needs, cols.free)
	idle, _ := rowsOf(h.needs, cols.idle)
	takes := func(rows []row, class int32) bool {
		for i := range rows {
			if rows[i].has[class] < rows[i].n {
				return false
			}
		}
		return served
	}
	h.final = slices.Clone(h.gates)
	for cell, gate := range h.gates {
		class := grid.class[cell]
		switch {
		case gate != open || h.now[cell] > 0:
		case !takes(idle, class):
			h.final[cell] = tooSmall
		case !takes(free, class):
			h.final[cell] = full
		case barred != nil && barred[grid.nodes[cell][0]]:
			h.final[cell] = otherwise
		}
	}
	return h.final
}

// sum adds up what all nodes take; peak is what one takes at most.
func (g *grid) sum(counts []int32) (total int64, peak int32) {
	for cell, n := range counts {
		if n > 0 {
			total, peak = plus(total, times(int64(n), g.weight(cell))), max(peak, n)
		}
	}
	return total, peak
}

// inOrder are the cells that take pods, by how many; ties by cell. Small holes first
// leaves the large ones whole.
func (h *holes) inOrder(idle bool) []int32 {
	if idle {
		return bySize(h.idle)
	}
	if h.order == nil {
		h.order = bySize(h.now)
	}
	return h.order
}

// largestHole is the number of pods from which on holes are not told apart by size.
const largestHole = 255

func bySize(counts []int32) []int32 {
	var starts [largestHole + 1]int32
	for _, n := range counts {
		starts[min(largestHole, n)]++
	}
	total := int32(0)
	starts[0] = 0
	for size, n := range starts {
		starts[size] = total
		total += n
	}
	out := make([]int32, total)
	for cell, n := range counts {
		if n > 0 {
			at := &starts[min(largestHole, n)]
			out[*at] = int32(cell)
			*at++
		}
	}
	return out
}
