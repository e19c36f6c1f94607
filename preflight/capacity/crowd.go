package capacity

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// crowd is what earlier stages take on nodes, where they linger.
type crowd map[int32]map[int]int64 // by node, then column

// crowdBeside is what of earlier stages is still there beside a stage: a group that has
// not certainly completed stays where it was placed.
func (q *question) crowdBeside(earlier []*packing, stage []int) crowd {
	out := crowd{}
	for _, p := range earlier {
		for i, k := range p.kins {
			if p.placed[i] == 0 || q.gone(k, stage) {
				continue
			}
			for _, on := range p.seats(i) {
				out.take(on.node, k.needs, int(on.count))
			}
		}
	}
	return out
}

// stay is what pods of the gang take that have a place.
func (q *question) stay() crowd {
	out := crowd{}
	for _, p := range q.on.own {
		at, ok := q.s.nodeAt(p.record.node)
		if !ok || p.record.resident { // which is counted on an idle cluster already
			continue
		}
		needs := []need{{q.s.cols.index[corev1.ResourcePods], corev1.ResourcePods, 1}}
		for _, a := range p.record.requests {
			if column, ok := q.s.cols.index[a.name]; ok && a.name != corev1.ResourcePods {
				needs = append(needs, need{column, a.name, a.n})
			}
		}
		out.take(int32(at), needs, 1)
	}
	return out
}

func (c crowd) take(node int32, needs []need, pods int) {
	taken := c[node]
	if taken == nil {
		taken = map[int]int64{}
		c[node] = taken
	}
	for _, n := range needs {
		taken[n.column] = plus(taken[n.column], times(n.n, int64(pods)))
	}
}

// share gives every node of the crowd a piece of its own, with what is left on it.
func (p *packing) share(c crowd) {
	if len(c) == 0 {
		return
	}
	p.fresh = slices.Clone(p.fresh)
	for cell, nodes := range p.fresh {
		there := func(node int32) bool { _, ok := c[node]; return ok }
		if !slices.ContainsFunc(nodes, there) {
			continue
		}
		p.fresh[cell] = slices.DeleteFunc(slices.Clone(nodes), there)
		for at, node := range nodes {
			if !there(node) {
				continue
			}
			room := p.room(p.add(cell, nodes[at:at+1]))
			for i, column := range p.column {
				room[i] -= c[node][column]
			}
		}
	}
}
