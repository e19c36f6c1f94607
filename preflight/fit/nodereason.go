package fit

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// NodeReason is what a node is to a gang.
type NodeReason struct {
	// Closed says that what is free on the node is of no use to the gang, whatever the
	// size of its pods: the node is not ready, tainted, out of some other resource ….
	Closed bool
	Why    string // in a few words; empty where the node takes a pod
	Own    int64  // what pods of the gang that exist hold of the resource
}

// NodeReasons are what the nodes of the snapshot, in their order, are to those pods of a
// gang that ask for a resource; to all of its pods, if none does.
func NodeReasons(s *cluster.Snapshot, g gang.Gang, of corev1.ResourceName) []NodeReason {
	if s == nil || s.Incomplete() != "" {
		return nil
	}
	out, b := make([]NodeReason, len(s.Nodes())), NewBudget(16*Steps)
	g = InParts(s, g)
	cycle := assign.NewCycle(s, g, b)
	if !b.Spend(0) {
		for at := range out {
			out[at].Why = "not worked out"
		}
		return out
	}
	q := assign.NewSolver(s, g, cycle)
	podSets := askers(q, of)
	for nodeGroup, members := range q.Cycle.Grouping.Nodes {
		st := nodeReason(q, podSets, nodeGroup, of)
		for _, at := range members {
			out[at] = st
		}
	}
	for _, own := range q.Cycle.Own {
		if at, ok := s.NodeAt(own.Record.Node()); ok {
			i := slices.IndexFunc(own.Record.Requests(), func(a cluster.Amount) bool { return a.Name == of })
			if i >= 0 {
				out[at].Own = saturate.Add(out[at].Own, own.Record.Requests()[i].N)
			}
		}
	}
	return out
}

// askers are the pod sets that ask for a resource; all, if none does.
func askers(q *assign.Solver, of corev1.ResourceName) []*assign.PodSet {
	var all, asking []*assign.PodSet
	for i := range q.Need { // pods that have a place count as well: they may lose it
		q.Need[i] = max(q.Need[i], min(1, q.Gang.Groups[i].Count))
	}
	for _, stage := range q.Cycle.Order.Stages {
		all = append(all, q.PodSets(stage)...)
	}
	for _, k := range all {
		if k.NeedOf(of) > 0 {
			asking = append(asking, k)
		}
	}
	if asking == nil {
		return all
	}
	return asking
}

// nodeReason is what the nodes of a node group are to pod sets: what they are to the one that fares best.
func nodeReason(q *assign.Solver, podSets []*assign.PodSet, nodeGroup int, of corev1.ResourceName) NodeReason {
	var best *assign.PodSet
	rank := func(k *assign.PodSet) int { return slices.Index(reasonRanks[:], k.Reasons()[nodeGroup]) }
	for _, k := range podSets {
		if best == nil || rank(k) < rank(best) {
			best = k
		}
	}
	if best == nil {
		return NodeReason{}
	}
	class := q.Cycle.Grouping.Class[nodeGroup]
	switch best.Reasons()[nodeGroup] {
	case assign.NotReady:
		return NodeReason{Closed: true, Why: "not ready"}
	case assign.Cordoned:
		return NodeReason{Closed: true, Why: "cordoned"}
	case assign.NotSelected:
		return NodeReason{Closed: true, Why: "not selected"}
	case assign.Tainted:
		return NodeReason{Closed: true, Why: "taint " + best.Taints[best.RefusingTaint[q.Snapshot.Columns().TaintSet[class]]-1]}
	case assign.TooSmall:
		return lack(best, class, of, q.Snapshot.Columns().Idle, "too small for")
	case assign.Full:
		return lack(best, class, of, q.Snapshot.Columns().Free, "short of")
	case assign.Otherwise:
		return NodeReason{Closed: true, Why: "closed by other pods"}
	case assign.Closed:
		if feature := best.Undeclared(q.Snapshot.Nodes()[q.Cycle.Grouping.Nodes[nodeGroup][0]]); feature != "" {
			return NodeReason{Closed: true, Why: "does not declare " + feature}
		}
		return NodeReason{Closed: true, Why: "out of a volume's reach"}
	default:
		return NodeReason{}
	}
}

// reasonRanks are the reasons, the most open one first.
var reasonRanks = [...]assign.FilterReason{assign.Open, assign.Full, assign.Otherwise, assign.TooSmall, assign.Tainted, assign.NotSelected, assign.Cordoned, assign.NotReady, assign.Closed}

// lack says what nodes of a class lack for one pod. Where that is the resource itself the
// nodes are not closed: smaller pods could use them.
func lack(k *assign.PodSet, class int32, of corev1.ResourceName, room [][]int64, words string) NodeReason {
	short := func(n cluster.Need) bool { return n.Column < 0 || room[n.Column][class] < n.N }
	for _, n := range k.Needs {
		if n.Name == of && short(n) {
			return NodeReason{Why: "a pod needs " + job.Format(of, n.N)}
		}
	}
	for _, n := range k.Needs {
		if short(n) {
			return NodeReason{Closed: true, Why: fmt.Sprintf("%s %s", words, n.Name)}
		}
	}
	return NodeReason{}
}
