package capacity

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// explain fills in why nodes were refused to the first kin without a place, and what the
// text will talk about.
func (q *question) explain(r *Result, kins []*kin) {
	r.Rejected.Total = len(q.s.Nodes())
	if len(kins) == 0 {
		r.Rejected.Open = len(q.s.Nodes())
		return
	}
	subject := kins[0]
	if r.Verdict != Fits {
		subject, r.Group = q.firstWithout(kins)
	}
	q.reject(&r.Rejected, subject)
	for _, k := range kins {
		r.Asks = append(r.Asks, q.askOf(k))
	}
	r.Usable = q.usable(kins)
}

// usable counts the nodes that may take pods of any of the kins, or could when idle.
func (q *question) usable(kins []*kin) (nodes int) {
	seen := make([]bool, len(q.on.grid.Class))
	for _, k := range kins {
		refuses := k.refuses()
		for _, cells := range k.open {
			for _, cell := range cells {
				if !seen[cell] && (k.now[cell] > 0 || refuses(cell).passes()) {
					seen[cell] = true
					nodes += int(q.on.grid.Size[cell])
				}
			}
		}
	}
	return nodes
}

// firstWithout is the first group that has not all its pods placed, and its kin.
func (q *question) firstWithout(kins []*kin) (*kin, string) {
	placed := map[string]int{}
	for _, p := range q.plan {
		placed[q.gang.Groups[p.group].Name] += p.count
	}
	for i, g := range q.gang.Groups {
		for _, k := range kins {
			if slices.Contains(k.groups, i) && placed[g.Name] < g.Least() {
				return k, g.Name
			}
		}
	}
	return kins[0], kins[0].name
}

func (q *question) reject(out *Rejections, k *kin) {
	taints := map[string]int{}
	for _, r := range k.refused {
		out.add(r.gate, int(r.nodes))
		if r.gate == tainted {
			taints[k.taints[k.refuse[q.s.Columns().TaintSet[q.on.grid.Class[r.cells[0]]]]-1]] += int(r.nodes)
		}
	}
	out.Open = int(k.takers)
	refuses := k.refuses()
	for _, cells := range k.open {
		for _, cell := range cells {
			if k.now[cell] == 0 {
				out.add(refuses(cell), int(q.on.grid.Size[cell]))
			}
		}
	}
	out.Taints = slices.SortedFunc(maps.Keys(taints), func(a, b string) int {
		return cmp.Or(cmp.Compare(taints[b], taints[a]), cmp.Compare(a, b))
	})
}

// add counts nodes behind a gate.
func (r *Rejections) add(g gate, nodes int) {
	switch g {
	case notReady:
		r.NotReady += nodes
	case cordoned:
		r.Cordoned += nodes
	case notSelected:
		r.Selector += nodes
	case tainted:
		r.Taint += nodes
	case tooSmall:
		r.TooSmall += nodes
	case full:
		r.Full += nodes
	case otherwise, closed:
		r.Other += nodes
	default:
		r.Open += nodes
	}
}

func (q *question) askOf(k *kin) Ask {
	a := Ask{Role: k.name, Each: job.Resources{}, Apart: k.alone, Nodes: int(k.takers)}
	var roles []string
	for _, i := range k.groups {
		g := &q.gang.Groups[i]
		pods := max(0, g.Count) - q.settled[i]
		roles = append(roles, words.Pods(g.Name, pods))
		a.Pods = int(saturate.Add(int64(a.Pods), int64(pods)))
	}
	a.Roles = strings.Join(roles, " + ")
	for _, n := range k.needs {
		if n.Name != corev1.ResourcePods {
			a.Each[n.Name] = n.N
		}
	}
	return a
}
