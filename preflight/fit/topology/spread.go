package topology

import (
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// spreadRule: a pod of the holders goes to a domain only if, with it, that has at most skew
// more pods of the counted pod sets than the domain with fewest.
type spreadRule struct {
	holders, counted, self podSetSet // self: pod sets the selector matches
	top, skew              int
	base                   []int32 // by domain: pods that are there
	compared               []bool  // by domain: it is one of those that are compared
	nodeGroups             []bool  // by node group: pods there are counted
	short                  bool    // there are fewer than the rule wants: the fewest is taken as 0
	someNotCompared        bool    // some nodes are in domains that are not compared

	level, held, heldCounted, heldSelf int // counters: level counts what the rule does, less base
}

func (w *RuleSet) addSpread(i int, k *assign.PodSet) {
	eligible := w.eligible(k)
	for at := range k.Facts.Spread {
		e := &k.Facts.Spread[at]
		top := w.topology(e.Topology)
		if !w.solver.Cycle.Budget.Spend(w.topologies[top].size/4 + len(w.solver.Snapshot.Nodes())/4) {
			return
		}
		r := spreadRule{holders: w.set(i), top: top, skew: e.Skew, base: make([]int32, w.topologies[top].size), compared: make([]bool, w.topologies[top].size), nodeGroups: make([]bool, len(w.solver.Cycle.Grouping.Nodes))}
		counted, doubt := w.meeting(assign.Relation{Sort: assign.Spread, Group: k.Groups[0], Rule: at}, e.CountsOf)
		if doubt != "" {
			w.solver.DoubtYes(assign.NotJudged(k.Name, "topology spread", doubt))
			continue
		}
		if r.counted, r.self = counted, counted; e.Selector.Empty() {
			r.self = w.matching(func(*assign.PodSet) bool { return true })
		}
		counts, domains := e.Now, 0
		if w.idle {
			counts = e.Idle
		}
		for nodeGroup, members := range w.solver.Cycle.Grouping.Nodes {
			if !eligible(nodeGroup, e) {
				continue
			}
			r.nodeGroups[nodeGroup] = true
			for _, node := range members {
				d := w.topologies[top].domain(nodeGroup, node)
				if !r.compared[d] {
					r.compared[d], domains = true, domains+1
				}
				r.base[d] += counts[node]
			}
		}
		for nodeGroup, members := range w.solver.Cycle.Grouping.Nodes {
			for _, node := range members {
				d := w.topologies[top].domain(nodeGroup, node)
				r.someNotCompared = r.someNotCompared || d >= 0 && !r.compared[d]
			}
		}
		r.short = domains < e.Domains
		w.joinSpread(r)
	}
}

// joinSpread adds a rule, or its holders to an equal one.
func (w *RuleSet) joinSpread(r spreadRule) {
	for at := range w.spread {
		if !w.solver.Cycle.Budget.Spend(assign.StepsPerMatch) {
			return
		}
		if o := &w.spread[at]; o.top == r.top && o.skew == r.skew && o.short == r.short && o.counted.equal(r.counted) && o.self.equal(r.self) &&
			slices.Equal(o.base, r.base) && slices.Equal(o.compared, r.compared) && slices.Equal(o.nodeGroups, r.nodeGroups) {
			o.holders.join(r.holders)
			return
		}
	}
	w.spread = append(w.spread, r)
}

// eligible says which node groups have domains that a constraint of a pod set compares: those with
// every topology label of its constraints, and that it may choose where it honors that.
func (w *RuleSet) eligible(k *assign.PodSet) func(nodeGroup int, e *assign.SpreadTerm) bool {
	s, grouping := w.solver.Snapshot, w.solver.Cycle.Grouping
	match, steps := podspec.Selects(&k.Pod.Spec), assign.StepsOfSelecting(&k.Pod.Spec)
	chosen := make([]int8, len(grouping.Nodes)) // 1: by its selector and affinity; 2: not
	var tops []int
	for i := range k.Facts.Spread {
		tops = append(tops, w.topology(k.Facts.Spread[i].Topology))
	}
	return func(nodeGroup int, e *assign.SpreadTerm) bool {
		for _, top := range tops {
			if w.topologies[top].of != nil && w.topologies[top].of[nodeGroup] < 0 {
				return false
			}
		}
		n := s.Nodes()[grouping.Nodes[nodeGroup][0]]
		if e.HonorsAffinity && chosen[nodeGroup] == 0 {
			chosen[nodeGroup] = 2
			if w.solver.Cycle.Budget.Spend(steps) && match(n.Object()) {
				chosen[nodeGroup] = 1
			}
		}
		if e.HonorsAffinity && chosen[nodeGroup] == 2 {
			return false
		}
		return !e.HonorsTaints || podspec.Untolerated(n.Taints, k.Pod.Spec.Tolerations) == nil
	}
}
