package fit

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// stretch adds pods of elastic groups beyond their minimum, as far as there is room.
func stretch(q *assign.Solver, p *assign.Assignment) {
	for i, k := range p.PodSets {
		extra := int64(0)
		for _, group := range k.Groups {
			extra = saturate.Add(extra, int64(q.Extra[group]))
		}
		if p.Order != nil {
			p.Order.More(i, int(min(extra, math.MaxInt32)))
			continue
		}
		p.Fill(i, int(extra))
	}
}

// record writes an assignment into the plan, group by group, and counts its pods.
func record(q *assign.Solver, p *assign.Assignment) (placed int) {
	if p == nil {
		return 0
	}
	from := len(q.Plan)
	for i, k := range p.PodSets {
		placed += p.Placed[i]
		shares, group := shares(q, k, p.Placed[i]), 0
		onNodes := p.PlacedOn(i)
		q.Plan = slices.Grow(q.Plan, len(onNodes)+len(shares))
		for _, on := range onNodes {
			for n := int(on.Count); n > 0 && group < len(shares); {
				take := min(n, shares[group])
				if take > 0 {
					q.Plan = append(q.Plan, assign.Place{Group: k.Groups[group], Node: on.Node, Count: take})
				}
				n -= take
				if shares[group] -= take; shares[group] == 0 {
					group++
				}
			}
		}
	}
	line(q, p, q.Plan[from:])
	return placed
}

// line writes down the order in which the pods of an assignment can be bound.
func line(q *assign.Solver, p *assign.Assignment, places []assign.Place) {
	if !q.Cycle.Constrained {
		return
	}
	if p.Order == nil {
		q.Order = append(q.Order, places...)
		return
	}
	left := slices.Clone(places)
	for _, s := range p.Order.Steps() {
		at := slices.IndexFunc(left, func(l assign.Place) bool {
			return l.Count > 0 && l.Node == s.Node && slices.Contains(p.PodSets[s.PodSet].Groups, l.Group)
		})
		if at < 0 {
			continue
		}
		left[at].Count--
		if last := len(q.Order) - 1; last >= 0 && q.Order[last].Group == left[at].Group && q.Order[last].Node == s.Node {
			q.Order[last].Count++
		} else {
			q.Order = append(q.Order, assign.Place{Group: left[at].Group, Node: s.Node, Count: 1})
		}
	}
}

// shares deals the placed pods of a pod set to its groups: first what each cannot do without,
// then what elastic ones can use.
func shares(q *assign.Solver, k *assign.PodSet, placed int) []int {
	out := make([]int, len(k.Groups))
	for _, want := range [][]int{q.Need, q.Extra} {
		for i, group := range k.Groups {
			n := min(placed, want[group])
			out[i] += n
			placed -= n
		}
	}
	return out
}

// ordered is the plan in an order in which its pods can be bound; nil: any will do.
func ordered(q *assign.Solver) []Placement {
	var out []Placement
	for _, p := range q.Order {
		out = append(out, placement(q, p))
	}
	return out
}

// placement is a place in words.
func placement(q *assign.Solver, p assign.Place) Placement {
	return Placement{q.Gang.Groups[p.Group].Name, nodeName(q, p.Node), p.Count}
}

// nodeName is the name of a node of the view, or of one that only pods of the gang name.
func nodeName(q *assign.Solver, at int32) string {
	if known := len(q.Snapshot.Nodes()); int(at) >= known {
		return q.UnknownNodes[int(at)-known]
	}
	return q.Snapshot.Nodes()[at].Name
}

// Planned is the plan by group, as the gang lists them, then node, with equals added up.
func Planned(q *assign.Solver) []Placement {
	if len(q.Gang.Groups) > 1 {
		toFirst(q)
	}
	if len(q.UnknownNodes) > 0 {
		slices.SortStableFunc(q.Plan, func(a, b assign.Place) int {
			return cmp.Or(a.Group-b.Group, strings.Compare(nodeName(q, a.Node), nodeName(q, b.Node)))
		})
	} else if !byNode(q.Plan) {
		slices.SortStableFunc(q.Plan, func(a, b assign.Place) int { return cmp.Or(a.Group-b.Group, int(a.Node)-int(b.Node)) })
	}
	out := make([]Placement, 0, len(q.Plan))
	for i, p := range q.Plan {
		if i > 0 && q.Plan[i-1].Group == p.Group && q.Plan[i-1].Node == p.Node {
			out[len(out)-1].Count += p.Count
		} else {
			out = append(out, placement(q, p))
		}
	}
	return out
}

// byNode says whether places are in the order of their groups and nodes; nodes of the view are by name. Mostly they are.
func byNode(places []assign.Place) bool {
	for i := 1; i < len(places); i++ {
		if a, b := &places[i-1], &places[i]; a.Group > b.Group || a.Group == b.Group && a.Node > b.Node {
			return false
		}
	}
	return true
}

// toFirst puts what is planned for groups with one name down for the first of them.
func toFirst(q *assign.Solver) {
	first, named := make([]int, len(q.Gang.Groups)), make(map[string]int, len(q.Gang.Groups))
	for i, g := range q.Gang.Groups {
		at, there := named[g.Name]
		if !there {
			at, named[g.Name] = i, i
		}
		first[i] = at
	}
	for i := range q.Plan {
		q.Plan[i].Group = first[q.Plan[i].Group]
	}
}
