package capacity

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
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
func (s *Snapshot) Standings(g Gang, of corev1.ResourceName) []Standing {
	if s == nil || s.incomplete != "" {
		return nil
	}
	q := s.question(g, s.ground(g, newBudget(context.Background(), 16*mostSteps)))
	out := make([]Standing, len(s.nodes))
	kins := q.askers(of)
	for cell, members := range q.on.grid.nodes {
		st := q.standing(kins, cell, of)
		for _, at := range members {
			out[at] = st
		}
	}
	for _, own := range q.on.own {
		if at, ok := s.nodeAt(own.record.node); ok {
			i := slices.IndexFunc(own.record.requests, func(a amount) bool { return a.name == of })
			if i >= 0 {
				out[at].Own = saturate.Add(out[at].Own, own.record.requests[i].n)
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
	for _, stage := range q.gang.stages() {
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
	class := q.on.grid.class[cell]
	switch best.gatesNow()[cell] {
	case notReady:
		return Standing{Closed: true, Why: "not ready"}
	case cordoned:
		return Standing{Closed: true, Why: "cordoned"}
	case notSelected:
		return Standing{Closed: true, Why: "not selected"}
	case tainted:
		return Standing{Closed: true, Why: "taint " + best.taints[best.refuse[q.s.columns().taintSet[class]]-1]}
	case tooSmall:
		return best.lack(class, of, q.s.columns().idle, "too small for")
	case full:
		return best.lack(class, of, q.s.columns().free, "short of")
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
	short := func(n need) bool { return n.column < 0 || room[n.column][class] < n.n }
	for _, n := range k.needs {
		if n.name == of && short(n) {
			return Standing{Why: "a pod needs " + job.Format(of, n.n)}
		}
	}
	for _, n := range k.needs {
		if short(n) {
			return Standing{Closed: true, Why: fmt.Sprintf("%s %s", words, n.name)}
		}
	}
	return Standing{}
}

// Missing is how many devices the node has and does not offer: the device plugin found
// them unhealthy. 0 for what is not counted in devices.
func (n *Node) Missing(r corev1.ResourceName) int64 {
	if n.object == nil || job.AcceleratorUnit(r) != job.Device {
		return 0
	}
	has, ok := n.object.Status.Capacity[r]
	if _, offered := n.object.Status.Allocatable[r]; !ok || !offered {
		return 0
	}
	return max(0, job.InBaseUnits(r, has)-n.Allocatable[r])
}

// PodsKnown says that the view holds pods, or knows that there are none: what is used on
// the nodes is a number, not a guess.
func (s *Snapshot) PodsKnown() bool { return s != nil && s.podsKnown }

// Count is a number of pods of a role as people say it: "1 Master", "5 Workers".
func Count(role string, n int) string { return roleText(role, n) }
