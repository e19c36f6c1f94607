package capacity

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// explain fills in why nodes were refused to the first kin without a place, and what the
// text will talk about.
func (q *question) explain(r *Result, kins []*kin) {
	r.Rejected.Total = len(q.s.nodes)
	if len(kins) == 0 {
		r.Rejected.Open = len(q.s.nodes)
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
	for cell, usable := range cellsFor(kins, gate.passes) {
		if usable {
			r.Usable += int(q.on.grid.weight(cell))
		}
	}
}

// firstWithout is the first group that has not all its pods placed, and its kin.
func (q *question) firstWithout(kins []*kin) (*kin, string) {
	placed := map[string]int{}
	for _, p := range q.plan {
		placed[q.gang.Groups[p.group].Name] += p.count
	}
	for i, g := range q.gang.Groups {
		for _, k := range kins {
			if slices.Contains(k.groups, i) && placed[g.Name] < g.least() {
				return k, g.Name
			}
		}
	}
	return kins[0], kins[0].name
}

func (q *question) reject(out *Rejections, k *kin) {
	taints := map[string]int{}
	for cell, g := range k.gatesNow() {
		nodes := int(q.on.grid.weight(cell))
		switch g {
		case notReady:
			out.NotReady += nodes
		case cordoned:
			out.Cordoned += nodes
		case notSelected:
			out.Selector += nodes
		case tainted:
			out.Taint += nodes
			taints[k.taints[k.refuse[q.s.cols.taintSet[q.on.grid.class[cell]]]-1]] += nodes
		case tooSmall:
			out.TooSmall += nodes
		case full:
			out.Full += nodes
		case otherwise, closed:
			out.Other += nodes
		default:
			out.Open += nodes
		}
	}
	out.Taints = slices.SortedFunc(maps.Keys(taints), func(a, b string) int {
		return cmp.Or(cmp.Compare(taints[b], taints[a]), cmp.Compare(a, b))
	})
}

func (q *question) askOf(k *kin) Ask {
	a := Ask{Role: k.name, Each: job.Resources{}, Apart: k.alone}
	for cell, n := range k.now {
		if n > 0 {
			a.Nodes += int(q.on.grid.weight(cell))
		}
	}
	var roles []string
	for _, i := range k.groups {
		g := &q.gang.Groups[i]
		pods := max(0, g.Count) - q.settled[i]
		roles = append(roles, roleText(g.Name, pods))
		a.Pods = int(plus(int64(a.Pods), int64(pods)))
	}
	a.Roles = strings.Join(roles, " + ")
	for _, n := range k.needs {
		if n.name != corev1.ResourcePods {
			a.Each[n.name] = n.n
		}
	}
	return a
}
