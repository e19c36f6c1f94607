package topology

import (
	"math"

	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
)

// simulation is pods of a stage on nodes, one after the other as a scheduler binds them, with
// all rules between them. A pod can be taken back; then everything is as if it had not come.
type simulation struct {
	*assign.Assignment
	rules        *RuleSet
	in           [][]int32 // by counter, then domain: pods of the stage
	sizes        [][]int32 // by even rule: how many of the compared domains have so many pods
	least        []int32   // by even rule: the fewest pods in a domain that is compared
	affinityPods []int     // by near rule: pods that others may be near to
	at           []int32   // by share rule: the node of the volume; -1: none yet
	held         []int     // by share rule: pods that use it
	order        []assign.BindStep
	ignoreDoubt  bool // pass over what is not known
	anchors      []int32
	open         []openBins // by pod set; nil: not looked for since a pod was taken back
}

// openBins are the bins and the fresh nodes on which a pod set may have room: pods that come leave none where there was none.
type openBins struct {
	bins   []int32
	seen   int // bins that have been looked at
	usedUp int // of the node groups in their order, how many have no fresh node left
}

// openFor are the bins that pod set i may have room on, those among them that came since the last time.
func (b *simulation) openFor(i int) *openBins {
	if b.open == nil {
		b.open = make([]openBins, len(b.PodSets))
	}
	o := &b.open[i]
	for ; o.seen < len(b.Bins); o.seen++ {
		o.bins = append(o.bins, int32(o.seen))
	}
	return o
}

// simulate starts without a pod of the stage.
func (w *RuleSet) simulate(beside assign.Reserved) *simulation {
	b := w.spare
	if b == nil {
		b = &simulation{Assignment: w.solver.NewAssignment(w.podSets, w.idle, beside), rules: w, in: w.zeros()}
	} else {
		b.Reset(beside)
		for _, counts := range b.in {
			clear(counts)
		}
		*b = simulation{Assignment: b.Assignment, rules: w, in: b.in}
	}
	w.spare = nil
	for i := range w.spread {
		r := &w.spread[i]
		var sizes []int32
		least := int32(math.MaxInt32)
		for d, n := range r.base {
			if !r.compared[d] {
				continue
			}
			for len(sizes) <= int(n) {
				sizes = append(sizes, 0)
			}
			sizes[n]++
			least = min(least, n)
		}
		b.sizes, b.least = append(b.sizes, sizes), append(b.least, least)
	}
	b.affinityPods = make([]int, len(w.affinity))
	for range w.sharedVolumes {
		b.at, b.held = append(b.at, -1), append(b.held, 0)
	}
	for range w.affinity {
		b.anchors = append(b.anchors, -1)
	}
	return b
}

// Steps are the pods that are bound, the first one first.
func (b *simulation) Steps() []assign.BindStep { return b.order }

// zeros are the counters of a rule set without a pod, by counter, then domain.
func (w *RuleSet) zeros() [][]int32 {
	total := 0
	for _, c := range w.counters {
		total += w.topologies[c.top].size
	}
	block, out := w.solver.Cycle.Numbers(total), make([][]int32, len(w.counters))
	for at, c := range w.counters {
		n := w.topologies[c.top].size
		out[at], block = block[:n:n], block[n:]
	}
	return out
}

// level is how many pods of a domain a spread rule counts.
func (b *simulation) level(r *spreadRule, domain int32) int32 {
	return r.base[domain] + b.in[r.level][domain]
}

// may says whether the rules let one more pod of a pod set onto a node, room aside; counts are
// the pods of the stage that are on it (nil: none).
func (b *simulation) may(i, nodeGroup int, node int32, counts []int32) bool {
	return b.mayStill(i, nodeGroup, node, counts) && b.mayNow(i, nodeGroup, node)
}

// mayStill holds the rules by which a node that is shut stays so, however many pods come.
func (b *simulation) mayStill(i, nodeGroup int, node int32, counts []int32) bool {
	return b.mayAntiAffinity(i, nodeGroup, node) && b.rules.mayAttach(i, nodeGroup, counts)
}

// mayNow holds the rules by which other pods may open it.
func (b *simulation) mayNow(i, nodeGroup int, node int32) bool {
	return b.mayAffinity(i, nodeGroup, node) && b.maySpread(i, nodeGroup, node) && b.maySharedVolume(i, node)
}

func (b *simulation) mayAntiAffinity(i, nodeGroup int, node int32) bool {
	for _, at := range b.rules.about[i].antiAffinity {
		r := &b.rules.antiAffinity[at]
		holds, meant := r.holders.has(i), r.with.has(i)
		d := b.rules.topologies[r.top].domain(nodeGroup, node)
		if d < 0 {
			continue
		}
		if holds && r.others(b.in, d) > 0 || meant && b.in[r.held][d] > 0 {
			return false
		}
	}
	return true
}

func (b *simulation) mayAffinity(i, nodeGroup int, node int32) bool {
	for _, at := range b.rules.about[i].affinity {
		r := &b.rules.affinity[at]
		all := true
		for j, top := range r.tops {
			d := b.rules.topologies[top].domain(nodeGroup, node)
			if d < 0 {
				return false
			}
			all = all && (r.seeded[j][d] || b.in[r.there[j]][d] > 0)
			if anchor := b.anchors[at]; j == 0 && anchor >= 0 && b.affinityPods[at] == 0 && d != anchor {
				return false
			}
		}
		if !all && (!r.open || b.affinityPods[at] > 0 || !r.with.has(i)) {
			return false
		}
	}
	return true
}

func (b *simulation) maySpread(i, nodeGroup int, node int32) bool {
	for _, at := range b.rules.about[i].spread {
		r := &b.rules.spread[at]
		d := b.rules.topologies[r.top].domain(nodeGroup, node)
		if d < 0 {
			return false
		}
		n := int(b.level(r, d))
		if r.self.has(i) {
			n++
		}
		least := int(b.least[at])
		if r.short {
			least = 0
		}
		if n-least > r.skew {
			return false
		}
	}
	return true
}

func (b *simulation) maySharedVolume(i int, node int32) bool {
	for at := range b.rules.sharedVolumes {
		if r := &b.rules.sharedVolumes[at]; r.members.has(i) && (r.hard || !b.ignoreDoubt) && b.held[at] > 0 && (r.once || b.at[at] != node) {
			return false
		}
	}
	return true
}

// mayAttach says whether the node of a node group can attach what one more pod of a pod set brings,
// beside what is on it (nil: nothing of the stage).
func (w *RuleSet) mayAttach(i, nodeGroup int, counts []int32) bool {
	for at := range w.attachLimits {
		r := &w.attachLimits[at]
		left, need := r.left[nodeGroup], r.own[i]
		for j, n := range counts {
			left -= r.own[j] * n
		}
		for v, podSets := range r.shared {
			switch {
			case r.there[v][nodeGroup]:
			case counts != nil && podSets.podsOf(counts) > 0:
				left--
			case podSets.has(i):
				need++
			}
		}
		if need > 0 && need > left {
			return false
		}
	}
	return true
}

// bind puts a pod of a pod set on the only node of a bin.
func (b *simulation) bind(i, at int) {
	nodeGroup, node := b.Bins[at].NodeGroup, b.Bins[at].Nodes[0]
	b.Put(i, at, 1)
	b.tally(i, nodeGroup, node, 1)
	for rule := range b.rules.affinity {
		if b.rules.affinity[rule].with.has(i) {
			b.affinityPods[rule]++
		}
	}
	for rule := range b.rules.sharedVolumes {
		if b.rules.sharedVolumes[rule].members.has(i) {
			b.at[rule] = node
			b.held[rule]++
		}
	}
	b.order = append(b.order, assign.BindStep{PodSet: i, Node: node})
}

// unbind takes back the pod that was seated last, which is on a bin.
func (b *simulation) unbind(i, at int) {
	nodeGroup, node := b.Bins[at].NodeGroup, b.Bins[at].Nodes[0]
	b.Put(i, at, -1)
	b.open = nil
	b.tally(i, nodeGroup, node, -1)
	for rule := range b.rules.affinity {
		if b.rules.affinity[rule].with.has(i) {
			b.affinityPods[rule]--
		}
	}
	for rule := range b.rules.sharedVolumes {
		if !b.rules.sharedVolumes[rule].members.has(i) {
			continue
		}
		if b.held[rule]--; b.held[rule] == 0 {
			b.at[rule] = -1
		}
	}
	b.order = b.order[:len(b.order)-1]
}

// tally lets all counters know of a pod that came to a node, or left it.
func (b *simulation) tally(i, nodeGroup int, node, by int32) {
	for _, at := range b.rules.feeds[i] {
		c := &b.rules.counters[at]
		if d := b.rules.topologies[c.top].domain(nodeGroup, node); d >= 0 && (c.nodeGroups == nil || c.nodeGroups[nodeGroup]) {
			b.in[at][d] += by
		}
	}
	for _, rule := range b.rules.about[i].counting {
		r := &b.rules.spread[rule]
		d := b.rules.topologies[r.top].domain(nodeGroup, node)
		if d < 0 || !r.counted.has(i) || !r.nodeGroups[nodeGroup] {
			continue
		}
		sizes, n := b.sizes[rule], b.level(r, d)
		for int(n) >= len(sizes) {
			sizes = append(sizes, 0)
		}
		sizes[n-by]--
		sizes[n]++
		for b.least[rule] = min(b.least[rule], n); sizes[b.least[rule]] == 0; {
			b.least[rule]++
		}
		b.sizes[rule] = sizes
	}
}
