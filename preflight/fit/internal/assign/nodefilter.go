package assign

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// nodeFilter is which node groups admit pods that choose nodes alike, whatever they ask for.
type nodeFilter struct {
	cycle         *Cycle
	facts         *podFacts
	pod           *job.Pod
	ignoreHealth  bool
	Refused       []refusal // node groups that are refused; nothing about room
	Open          [][]int32 // the other node groups, in lists
	RefusingTaint []int     // by taint set: index+1 into the taints that refuse
	Taints        []string  // that refuse
	Capacities    []*capacity
}

// refusal is node groups that are refused for one reason, all of one taint set.
type refusal struct {
	Reason     FilterReason
	NodeGroups []int32
	Nodes      int64
}

// nodeFilter finds the node filter of a pod set, or works it out.
func (q *Solver) nodeFilter(k *PodSet) *nodeFilter {
	x := &k.Pod.Spec
	same := equality.Semantic.DeepEqual
	for _, a := range q.Cycle.Filters {
		y := &a.pod.Spec
		if !q.Cycle.Budget.Spend(3) {
			break
		}
		if a.ignoreHealth == q.IgnoreHealth && a.facts.filtersAlike(k.Facts) && x.NodeName == y.NodeName && same(x.NodeSelector, y.NodeSelector) && same(x.Tolerations, y.Tolerations) && same(x.Affinity, y.Affinity) {
			return a
		}
	}
	a := &nodeFilter{cycle: q.Cycle, facts: k.Facts, pod: k.Pod, ignoreHealth: q.IgnoreHealth}
	if q.Cycle.Budget.Spend(len(q.Snapshot.Columns().TaintSets) + len(q.Cycle.Grouping.Class)/8) {
		a.tolerate(q.Snapshot)
		a.filter(q.Snapshot)
	}
	if q.Cycle.Budget.Spend(0) { // what was filtered in part is not kept
		q.Cycle.Filters = append(q.Cycle.Filters, a)
	}
	return a
}

// filtersAlike says that two groups find the same nodes shut, for certain.
func (t *podFacts) filtersAlike(u *podFacts) bool {
	free := func(t *podFacts) bool { return t.neverOpen == nil && t.closedNow == nil && t.closedIdle == nil }
	return t == u || free(t) && free(u)
}

// tolerate finds the taints that refuse the pods.
func (a *nodeFilter) tolerate(s *cluster.Snapshot) {
	a.RefusingTaint = make([]int, len(s.Columns().TaintSets))
	for set, taints := range s.Columns().TaintSets {
		if a.ignoreHealth {
			taints = slices.DeleteFunc(slices.Clone(taints), func(t corev1.Taint) bool { return podspec.TransientTaint(t.Key) })
		}
		if t := podspec.Untolerated(taints, tolerations(&a.pod.Spec)); t != nil {
			a.Taints = append(a.Taints, podspec.TaintText(t))
			a.RefusingTaint[set] = len(a.Taints)
		}
	}
}

// tolerations are those of a pod. One that names its node passes by the scheduler, and its kubelet asks about NoExecute only
// (https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/#concepts).
func tolerations(spec *corev1.PodSpec) []corev1.Toleration {
	if spec.NodeName == "" {
		return spec.Tolerations
	}
	return append(slices.Clip(spec.Tolerations), corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
}

// filter goes through the reasons that lie in the nodes themselves. It asks once for each
// selection, unless pods choose nodes by their names or some nodes are closed to them.
func (a *nodeFilter) filter(s *cluster.Snapshot) {
	spec := &a.pod.Spec
	_, byName := podspec.SelectorKeys(spec)
	reason := a.reasonOf(s, byName)
	if byName || a.facts.neverOpen != nil {
		var free []int32
		for nodeGroup := range a.cycle.Grouping.Class {
			if g := reason(int32(nodeGroup)); g != Open {
				a.Refused = append(a.Refused, refusal{g, []int32{int32(nodeGroup)}, a.cycle.Grouping.Weight(nodeGroup)})
			} else {
				free = append(free, int32(nodeGroup))
			}
		}
		a.Open = [][]int32{free}
		return
	}
	selections := a.cycle.Grouping.Selections(s.Columns())
	for i, nodeGroups := range selections.Groups {
		if g := reason(nodeGroups[0]); g != Open {
			a.Refused = append(a.Refused, refusal{g, nodeGroups, selections.Nodes[i]})
		} else {
			a.Open = append(a.Open, nodeGroups)
		}
	}
}

// reasonOf prepares the first reason why a node group is refused, whatever room it has.
func (a *nodeFilter) reasonOf(s *cluster.Snapshot, byName bool) func(nodeGroup int32) FilterReason {
	g, spec, columns := a.cycle.Grouping, &a.pod.Spec, s.Columns()
	match, steps, selected := podspec.Selects(spec), StepsOfSelecting(spec), make([]int8, g.LabelSets+1)
	free := len(spec.NodeSelector) == 0 && spec.Affinity == nil && !byName
	cordon := []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
	toleratesCordon := a.ignoreHealth || podspec.Untolerated(cordon, tolerations(spec)) == nil
	admits := func(nodeGroup int32) bool {
		if free {
			return true
		}
		known := &selected[g.LabelSet[nodeGroup]]
		if *known == 0 || byName {
			n := s.Nodes()[g.Nodes[nodeGroup][0]]
			*known = -1
			if a.cycle.Budget.Spend(steps) && match(n.Object()) && (spec.NodeName == "" || spec.NodeName == n.Name) {
				*known = 1
			}
		}
		return *known > 0
	}
	return func(nodeGroup int32) FilterReason {
		switch class := g.Class[nodeGroup]; {
		case !columns.Ready[class] && !a.ignoreHealth:
			return NotReady
		case columns.Cordoned[class] && !toleratesCordon:
			return Cordoned
		case !admits(nodeGroup):
			return NotSelected
		case a.RefusingTaint[columns.TaintSet[class]] > 0:
			return Tainted
		case a.facts.neverOpen != nil && a.facts.neverOpen[g.Nodes[nodeGroup][0]]:
			return Closed
		default:
			return Open
		}
	}
}
