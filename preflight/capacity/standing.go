package capacity

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Standing is what a node is to a gang.
type Standing struct {
	// Closed says that what is free on the node is of no use to the gang, whatever the
	// size of its pods: the node is not ready, tainted, out of some other resource ….
	Closed bool
	Why    string // in a few words; empty where the node takes a pod
	Own    int64  // what pods of the gang that exist hold of the resource
}

// Standings are what the nodes of the snapshot, in their order, are to those pods of a
// gang that ask for a resource; to all of its pods, if none does.
func Standings(s *cluster.Snapshot, g gang.Gang, of corev1.ResourceName) []Standing {
	if s == nil || s.Incomplete() != "" {
		return nil
	}
	q := newQuestion(s, g, newGround(s, g, newBudget(context.Background(), 16*mostSteps)))
	out := make([]Standing, len(s.Nodes()))
	kins := q.askers(of)
	for cell, members := range q.on.grid.Nodes {
		st := q.standing(kins, cell, of)
		for _, at := range members {
			out[at] = st
		}
	}
	for _, own := range q.on.own {
		if at, ok := s.NodeAt(own.record.Node()); ok {
			i := slices.IndexFunc(own.record.Requests(), func(a cluster.Amount) bool { return a.Name == of })
			if i >= 0 {
				out[at].Own = saturate.Add(out[at].Own, own.record.Requests()[i].N)
			}
		}
	}
	return out
}

// askers are the kins that ask for a resource; all, if none does.
func (q *question) askers(of corev1.ResourceName) []*kin {
	var all, asking []*kin
	for i := range q.need { // pods that have a place count as well: they may lose it
		q.need[i] = max(q.need[i], min(1, q.gang.Groups[i].Count))
	}
	for _, stage := range q.gang.Stages() {
		all = append(all, q.gather(stage)...)
	}
	for _, k := range all {
		if k.needOf(of) > 0 {
			asking = append(asking, k)
		}
	}
	if asking == nil {
		return all
	}
	return asking
}

// standing is what the nodes of a cell are to kins: what they are to the one that fares best.
func (q *question) standing(kins []*kin, cell int, of corev1.ResourceName) Standing {
	var best *kin
	rank := func(k *kin) int { return slices.Index(gateRanks[:], k.gatesNow()[cell]) }
	for _, k := range kins {
		if best == nil || rank(k) < rank(best) {
			best = k
		}
	}
	if best == nil {
		return Standing{}
	}
	class := q.on.grid.Class[cell]
	switch best.gatesNow()[cell] {
	case notReady:
		return Standing{Closed: true, Why: "not ready"}
	case cordoned:
		return Standing{Closed: true, Why: "cordoned"}
	case notSelected:
		return Standing{Closed: true, Why: "not selected"}
	case tainted:
		return Standing{Closed: true, Why: "taint " + best.taints[best.refuse[q.s.Columns().TaintSet[class]]-1]}
	case tooSmall:
		return best.lack(class, of, q.s.Columns().Idle, "too small for")
	case full:
		return best.lack(class, of, q.s.Columns().Free, "short of")
	case otherwise:
		return Standing{Closed: true, Why: "closed by other pods"}
	case closed:
		return Standing{Closed: true, Why: "out of a volume's reach"}
	default:
		return Standing{}
	}
}

// gateRanks are the gates, the most open one first.
var gateRanks = [...]gate{open, full, otherwise, tooSmall, tainted, notSelected, cordoned, notReady, closed}

// lack says what nodes of a class lack for one pod. Where that is the resource itself the
// nodes are not closed: smaller pods could use them.
func (k *kin) lack(class int32, of corev1.ResourceName, room [][]int64, words string) Standing {
	short := func(n cluster.Need) bool { return n.Column < 0 || room[n.Column][class] < n.N }
	for _, n := range k.needs {
		if n.Name == of && short(n) {
			return Standing{Why: "a pod needs " + job.Format(of, n.N)}
		}
	}
	for _, n := range k.needs {
		if short(n) {
			return Standing{Closed: true, Why: fmt.Sprintf("%s %s", words, n.Name)}
		}
	}
	return Standing{}
}

// Count is a number of pods of a role as people say it: "1 Master", "5 Workers".
func Count(role string, n int) string { return words.Pods(role, n) }
