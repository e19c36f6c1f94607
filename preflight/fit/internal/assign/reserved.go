package assign

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// Reserved is what earlier stages take on nodes, where they linger.
type Reserved map[int32]map[int]int64 // by node, then column

// ReservedBeside is what of earlier stages is still there beside a stage: a group that has
// not certainly completed stays where it was placed.
func (q *Solver) ReservedBeside(earlier []*Assignment, stage []int) Reserved {
	out := Reserved{}
	for _, p := range earlier {
		for i, k := range p.PodSets {
			if p.Placed[i] == 0 || q.gone(k, stage) {
				continue
			}
			for _, on := range p.PlacedOn(i) {
				out.take(on.Node, k.Needs, int(on.Count))
			}
		}
	}
	return out
}

// StillRunning are the pod sets of earlier stages of which pods are still there beside a stage.
func (q *Solver) StillRunning(earlier []*Assignment, stage []int) []*PodSet {
	var out []*PodSet
	for _, p := range earlier {
		for i, k := range p.PodSets {
			if p.Placed[i] > 0 && !q.gone(k, stage) {
				out = append(out, k)
			}
		}
	}
	return out
}

// Stay is what pods of the gang take that have a place.
func (q *Solver) Stay() Reserved {
	out := Reserved{}
	for _, p := range q.Cycle.Own {
		at, ok := q.Snapshot.NodeAt(p.Record.Node())
		if !ok || p.Record.Resident() { // which is counted on an idle cluster already
			continue
		}
		needs := []cluster.Need{{Column: q.Snapshot.Columns().Index[corev1.ResourcePods], Name: corev1.ResourcePods, N: 1}}
		for _, a := range p.Record.Requests() {
			if column, ok := q.Snapshot.Columns().Index[a.Name]; ok && a.Name != corev1.ResourcePods {
				needs = append(needs, cluster.Need{Column: column, Name: a.Name, N: a.N})
			}
		}
		out.take(int32(at), needs, 1)
	}
	return out
}

func (c Reserved) take(node int32, needs []cluster.Need, pods int) {
	taken := c[node]
	if taken == nil {
		taken = map[int]int64{}
		c[node] = taken
	}
	for _, n := range needs {
		taken[n.Column] = saturate.Add(taken[n.Column], saturate.Mul(n.N, int64(pods)))
	}
}

// reserveFor gives every node of the reservation a bin of its own, with what is left on it.
func (p *Assignment) reserveFor(c Reserved) {
	if len(c) == 0 {
		return
	}
	p.Fresh = slices.Clone(p.Fresh)
	for nodeGroup, nodes := range p.Fresh {
		there := func(node int32) bool { _, ok := c[node]; return ok }
		if !slices.ContainsFunc(nodes, there) {
			continue
		}
		p.Fresh[nodeGroup] = slices.DeleteFunc(slices.Clone(nodes), there)
		for at, node := range nodes {
			if !there(node) {
				continue
			}
			room := p.Room(p.Add(nodeGroup, nodes[at:at+1]))
			for i, column := range p.Column {
				room[i] -= c[node][column]
			}
		}
	}
}
