package capacity

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
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

// lingering are the kins of earlier stages of which pods are still there beside a stage.
func (q *question) lingering(earlier []*packing, stage []int) []*kin {
	var out []*kin
	for _, p := range earlier {
		for i, k := range p.kins {
			if p.placed[i] > 0 && !q.gone(k, stage) {
				out = append(out, k)
			}
		}
	}
	return out
}

// among is the answer for a stage whose pods come among those of earlier stages that are still there.
// Where these stand is our choice: that proves nothing against the others, as only what finds no room
// even together does. And what they keep from nodes by more than what they take is not modelled, so
// that a plan proves nothing either.
func (q *question) among(a answer, early, late []*kin, stage []int) answer {
	tied := q.tied(early, late)
	if a.yes && !tied {
		return a
	}
	together := q.ever(q.gather(q.gang.Beside(stage)), false)
	switch {
	case together.no && a.yes:
		return answer{no: true, rule: together.rule}
	case tied && !together.no:
		q.blur(fmt.Sprintf("%s may still run when %s starts: ports, volumes and affinity between them are not judged", kinNames(early), kinNames(late)))
	}
	a.no = together.no
	return a
}

func kinNames(kins []*kin) string {
	names := make([]string, len(kins))
	for i, k := range kins {
		names[i] = k.name
	}
	return strings.Join(names, ", ")
}

// tied says that a rule holds between kins of two sets.
func (q *question) tied(early, late []*kin) bool {
	for _, a := range early {
		for _, b := range late {
			if q.clashes(a, b) {
				return true
			}
		}
	}
	w := q.weave(slices.Concat(early, late), false)
	return w != nil && w.spans(len(early))
}

// spans says that a rule of the web holds between its first kins and the others. A spread that the
// first ask for was looked at when they were placed.
func (w *web) spans(first int) bool {
	early, late := w.set(), w.set()
	for i := range w.kins {
		if i < first {
			early.add(i)
		} else {
			late.add(i)
		}
	}
	across := func(a, b kinSet) bool { return a.meets(early) && b.meets(late) || a.meets(late) && b.meets(early) }
	return slices.ContainsFunc(w.apart, func(r apartRule) bool { return across(r.holders, r.with) }) ||
		slices.ContainsFunc(w.near, func(r nearRule) bool { return across(r.holders, r.with) }) ||
		slices.ContainsFunc(w.even, func(r evenRule) bool { return r.holders.meets(late) && r.counted.meets(early) }) ||
		slices.ContainsFunc(w.share, func(r shareRule) bool { return across(r.kins, r.kins) }) ||
		slices.ContainsFunc(w.slots, func(r slotRule) bool { users := r.users(); return across(users, users) })
}

// users are the kins whose pods bring volumes of the driver.
func (r *slotRule) users() kinSet {
	set := newKinSet(len(r.own))
	for i, n := range r.own {
		if n > 0 {
			set.add(i)
		}
	}
	for _, kins := range r.shared {
		set.join(kins)
	}
	return set
}

// stay is what pods of the gang take that have a place.
func (q *question) stay() crowd {
	out := crowd{}
	for _, p := range q.on.own {
		at, ok := q.s.NodeAt(p.record.Node())
		if !ok || p.record.Resident() { // which is counted on an idle cluster already
			continue
		}
		needs := []cluster.Need{{Column: q.s.Columns().Index[corev1.ResourcePods], Name: corev1.ResourcePods, N: 1}}
		for _, a := range p.record.Requests() {
			if column, ok := q.s.Columns().Index[a.Name]; ok && a.Name != corev1.ResourcePods {
				needs = append(needs, cluster.Need{Column: column, Name: a.Name, N: a.N})
			}
		}
		out.take(int32(at), needs, 1)
	}
	return out
}

func (c crowd) take(node int32, needs []cluster.Need, pods int) {
	taken := c[node]
	if taken == nil {
		taken = map[int]int64{}
		c[node] = taken
	}
	for _, n := range needs {
		taken[n.Column] = saturate.Add(taken[n.Column], saturate.Mul(n.N, int64(pods)))
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
