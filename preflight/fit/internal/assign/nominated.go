package assign

import (
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// nominee is a pod of others that waits for room which others make on a node. kube-scheduler keeps that room from
// all pods that are not above it: a node that passes has to pass with it, too
// (k8s.io/kubernetes v1.37 pkg/scheduler/framework/runtime, RunFilterPluginsWithNominatedPods).
type nominee struct {
	*cluster.Pod
	node, class int32
	priority    int32
}

// findNominees finds the pods of others for which room is made.
func (cycle *Cycle) findNominees(g gang.Gang) {
	var scratch corev1.Pod
	for _, p := range cycle.s.Nominated() {
		at, ok := cycle.s.NodeAt(p.NominatedTo())
		if !ok || p.BelongsTo(&g, &scratch) {
			continue
		}
		cycle.nominees = append(cycle.nominees, nominee{p, int32(at), 0, cycle.s.PriorityOf(p)})
	}
	if len(cycle.nominees) == 0 || !cycle.Budget.Spend(len(cycle.s.Nodes())/4) {
		return
	}
	classOf := map[int32]int32{}
	grouping := cycle.s.GroupNodes(nil)
	for group, nodes := range grouping.Nodes {
		for _, node := range nodes {
			classOf[node] = grouping.Class[group]
		}
	}
	for i := range cycle.nominees {
		cycle.nominees[i].class = classOf[cycle.nominees[i].node]
	}
}

// keptFor are the nominees that a group gives way to, by node. A group whose priority is not known gives way to all
// of them only where that proves nothing against it.
func (cycle *Cycle) keptFor(g *gang.Group, certain bool) map[int32][]*nominee {
	spec := &g.Pod.Spec
	own, known := cycle.s.PriorityClass(spec)
	known = known && (spec.SchedulerName == "" || spec.SchedulerName == corev1.DefaultSchedulerName)
	out := map[int32][]*nominee{}
	for i := range cycle.nominees {
		n := &cycle.nominees[i]
		if gives := known && own.Value <= n.priority; gives || !known && !certain {
			out[n.node] = append(out[n.node], n)
		}
	}
	return out
}

// closeNominated closes to each group the nodes where beside the room that is kept from it there is none for
// one of its pods; a strict cycle closes all of them.
func (cycle *Cycle) closeNominated(g gang.Gang) {
	if cycle.findNominees(g); len(cycle.nominees) == 0 {
		return
	}
	columns := cycle.s.Columns()
	for i := range g.Groups {
		group := &g.Groups[i]
		if group.Count <= 0 || !cycle.Budget.Spend(len(cycle.s.Nodes())/4+len(cycle.nominees)) {
			continue
		}
		kept := cycle.keptFor(group, !cycle.strict)
		if len(kept) == 0 {
			continue
		}
		_, requests := Admitted(cycle.s, &group.Pod, podspec.Requested(group.Pod))
		needs := columns.NeedsOf(requests)
		t, nominated := &cycle.Facts[i], []*cluster.Pod(nil)
		t.keptNow = make([]bool, len(cycle.s.Nodes()))
		for node, pods := range kept {
			t.keptNow[node] = cycle.strict || !roomBeside(columns, pods, []portion{{needs, 1}})
			if t.keptNow[node] && !cycle.strict {
				nominated = append(nominated, pods[0].Pod)
			}
		}
		if len(nominated) > 0 {
			p := slices.MinFunc(nominated, (*cluster.Pod).Compare)
			t.KeptFor = fmt.Sprintf("others make room on %s for pod %s/%s, and it is kept for that", p.NominatedTo(), p.Namespace(), p.Name())
			if more := len(nominated) - 1; more > 0 {
				t.KeptFor += "; so it is on " + words.Count(more, "other node", "other nodes")
			}
		}
		closeNow(cycle.s, t, func(at int) bool { return !t.keptNow[at] })
	}
}

// portion is some equal pods on a node, and what each needs.
type portion struct {
	needs []cluster.Need
	pods  int64
}

// roomBeside says whether some pods go on a node, so many of each, beside others that are not there yet. As in the
// scheduler only what a pod asks for matters.
func roomBeside(columns *cluster.Columns, others []*nominee, portions []portion) bool {
	asked := map[int]int64{}
	names := map[int]corev1.ResourceName{}
	for _, p := range portions {
		for _, n := range p.needs {
			if n.Column < 0 {
				return false
			}
			asked[n.Column], names[n.Column] = saturate.Add(asked[n.Column], saturate.Mul(n.N, p.pods)), n.Name
		}
	}
	for column, n := range asked {
		for _, p := range others {
			if names[column] == corev1.ResourcePods {
				n = saturate.Add(n, 1)
			} else {
				n = saturate.Add(n, p.Takes(names[column]))
			}
		}
		if n > 0 && n > columns.Free[column][others[0].class] {
			return false
		}
	}
	return true
}

// NoRoomBeside is a pod of others for which room is made on a node, where it is not known that the gang's pods
// which the plan puts there go beside it; nil: there is none.
func (q *Solver) NoRoomBeside(node int32) *cluster.Pod {
	if !slices.ContainsFunc(q.Cycle.nominees, func(n nominee) bool { return n.node == node }) {
		return nil
	}
	var others []*nominee
	var portions []portion
	plain := true
	for _, at := range q.Plan[q.PlacedBefore:] {
		if at.Node != node {
			continue
		}
		group, facts := &q.Gang.Groups[at.Group], &q.Cycle.Facts[at.Group]
		kept := q.Cycle.keptFor(group, false)[node]
		if len(kept) > 0 && (len(facts.Ports)+len(facts.Disks)+len(facts.AntiAffinity)+len(facts.Spread)+len(facts.Claims) > 0 ||
			slices.ContainsFunc(kept, func(p *nominee) bool { return len(p.AntiAffinity()) > 0 })) {
			plain = false
		}
		for _, p := range kept {
			if !slices.Contains(others, p) {
				others = append(others, p)
			}
		}
		_, requests := Admitted(q.Snapshot, &group.Pod, q.requested(at.Group))
		portions = append(portions, portion{q.Snapshot.Columns().NeedsOf(requests), int64(min(at.Count, math.MaxInt32))})
	}
	if len(others) == 0 || plain && roomBeside(q.Snapshot.Columns(), others, portions) {
		return nil
	}
	return others[0].Pod
}
