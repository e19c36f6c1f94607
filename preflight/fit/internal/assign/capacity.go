package assign

import (
	"math"
	"math/bits"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// capacity are how many pods of a pod set alone each node group takes on each of its nodes.
type capacity struct {
	*nodeFilter
	needs      []cluster.Need
	onePerNode bool
	Now        []int32 // by node group
	order      []int32 // node groups that take pods now, by how many; ties by node group; nil: not asked yet
	sums               // of now

	Idle         []int32 // by node group, were it idle
	idleCounted  bool    // all of that
	IdleSums     sums
	finalReasons []FilterReason // by node group, room included; nil: not asked yet
}

// sums are what counts of pods by node group add up to.
type sums struct {
	Total  int64                   // pods that all nodes take
	peak   int32                   // pods that one node takes, at most
	Takers int64                   // nodes that take any
	sizes  [largestCount + 1]int32 // node groups by how many pods they take
}

// capacityFor finds how many pods that ask for so much each node takes, or works it out.
func (a *nodeFilter) capacityFor(needs []cluster.Need, alone bool) *capacity {
	a.cycle.Budget.Spend(len(a.Capacities))
	for _, h := range a.Capacities {
		if h.onePerNode == alone && slices.Equal(h.needs, needs) {
			return h
		}
	}
	h := &capacity{nodeFilter: a, needs: needs, onePerNode: alone}
	h.Now = h.count(a.cycle.s.Columns().Free, nil, a.facts.closedNow, &h.sums)
	if a.cycle.Budget.Spend(0) { // what was counted in part is not kept
		a.Capacities = append(a.Capacities, h)
	}
	return h
}

// count is how many pods go on a node of each node group, and what that adds up to. Node groups that
// stand idle take from known what they have; closed nodes take none.
func (h *capacity) count(room [][]int64, known []int32, closed []bool, sums *sums) []int32 {
	g, busy := h.cycle.Grouping, h.cycle.s.Columns().Busy
	out := h.cycle.Numbers(len(g.Class))
	most := int32(math.MaxInt32)
	if h.onePerNode {
		most = 1
	}
	rows, ok := rowsOf(h.needs, room)
	if !ok || !h.cycle.Budget.Spend(len(g.Class)/2) {
		return out
	}
	for _, nodeGroups := range h.Open {
		for _, nodeGroup := range nodeGroups {
			class, left := g.Class[nodeGroup], most
			if known != nil && !busy[class] {
				left = known[nodeGroup]
			} else {
				for i := range rows {
					if left = fits(left, rows[i].has[class], rows[i].n); left == 0 {
						break
					}
				}
			}
			if left == 0 || closed != nil && closed[g.Nodes[nodeGroup][0]] {
				continue
			}
			out[nodeGroup] = left
			nodes := int64(g.Size[nodeGroup])
			sums.Total = saturate.Add(sums.Total, int64(left)*nodes)
			sums.peak = max(sums.peak, left)
			sums.Takers += nodes
			sums.sizes[min(largestCount, left)]++
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
	out, first := make([]row, 0, len(needs)), 0
	for _, n := range needs {
		if n.Column < 0 {
			return nil, false
		}
		out = append(out, row{room[n.Column], n.N})
		if job.AcceleratorUnit(n.Name) != job.NotAccelerator {
			last := len(out) - 1
			out[first], out[last] = out[last], out[first]
			first++
		}
	}
	return out, true
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

// TakenBy is how many pods a class of nodes takes on each by what is free there now, at most.
func (h *capacity) TakenBy(s *cluster.Snapshot, class int) int32 {
	rows, ok := rowsOf(h.needs, s.Columns().Free)
	if !ok {
		return 0
	}
	most := int32(math.MaxInt32)
	for i := range rows {
		most = fits(most, rows[i].has[class], rows[i].n)
	}
	return most
}

// CountIdle finds out what the node groups take when idle.
func (h *capacity) CountIdle() {
	if h.idleCounted {
		return
	}
	h.IdleSums = sums{}
	var known []int32
	if h.facts.closedNow == nil {
		known = h.Now
	}
	h.Idle = h.count(h.cycle.s.Columns().Idle, known, h.facts.closedIdle, &h.IdleSums)
	h.idleCounted = h.cycle.Budget.Spend(0)
}

// Refuses prepares why node groups that let the pods in take none of them now; open: because
// of their number.
func (h *capacity) Refuses() func(nodeGroup int32) FilterReason {
	cols, grid, closed := h.cycle.s.Columns(), h.cycle.Grouping, h.facts.closedNow
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
	return func(nodeGroup int32) FilterReason {
		switch class := grid.Class[nodeGroup]; {
		case !takes(idle, class):
			return TooSmall
		case !takes(free, class), h.facts.keptNow != nil && h.facts.keptNow[grid.Nodes[nodeGroup][0]]:
			return Full
		case closed != nil && closed[grid.Nodes[nodeGroup][0]]:
			return Otherwise
		default:
			return Open
		}
	}
}

// Reasons are why each node group is refused, room included.
func (h *capacity) Reasons() []FilterReason {
	if h.finalReasons != nil {
		return h.finalReasons
	}
	h.finalReasons = make([]FilterReason, len(h.cycle.Grouping.Class))
	for _, r := range h.Refused {
		for _, nodeGroup := range r.NodeGroups {
			h.finalReasons[nodeGroup] = r.Reason
		}
	}
	refuses := h.Refuses()
	for _, nodeGroups := range h.Open {
		for _, nodeGroup := range nodeGroups {
			if h.Now[nodeGroup] == 0 {
				h.finalReasons[nodeGroup] = refuses(nodeGroup)
			}
		}
	}
	return h.finalReasons
}

// inOrder are the node groups that take pods, by how many; ties by node group. Those with little room
// first leaves the others whole. At least so many are given, from the small end, as n pods
// can need on fresh nodes; all says that there are no others.
func (h *capacity) inOrder(idle bool, n int) (nodeGroups []int32, all bool) {
	switch {
	case idle:
		return h.bySize(h.Idle, &h.IdleSums.sizes, largestCount), true
	case h.order != nil:
		return h.order, true
	}
	if upTo := h.enough(n); upTo < largestCount {
		return h.bySize(h.Now, &h.sizes, upTo), false
	}
	h.order = h.bySize(h.Now, &h.sizes, largestCount)
	return h.order, true
}

// largestCount is the number of pods from which on node groups are not told apart by it.
const largestCount = 255

// enough is the size up to which node groups have to be looked at to place n pods, the small
// ones first; largestCount where that is not much less than all of them.
func (s *sums) enough(n int) int32 {
	all, nodeGroups, pods := int32(0), int32(0), int64(0)
	for _, n := range s.sizes[1:] {
		all += n
	}
	for size := int32(1); size < largestCount && 2*nodeGroups < all; size++ {
		nodeGroups += s.sizes[size]
		if pods += int64(size) * int64(s.sizes[size]); pods >= int64(n) {
			return size
		}
	}
	return largestCount
}

// bySize are the node groups that take up to so many pods.
func (h *capacity) bySize(counts []int32, sizes *[largestCount + 1]int32, upTo int32) []int32 {
	var starts [largestCount + 1]int32
	total := int32(0)
	for size := int32(1); size <= upTo; size++ {
		starts[size] = total
		total += sizes[size]
	}
	out := h.cycle.Numbers(int(total))
	for nodeGroup, n := range counts {
		if n == 0 {
			continue
		}
		if n = min(largestCount, n); n <= upTo {
			out[starts[n]] = int32(nodeGroup)
			starts[n]++
		}
	}
	return out
}
