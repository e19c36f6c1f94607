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
	placed := map[string]int{}
	for _, p := range q.plan {
		placed[p.Group] += p.Count
	}
	if r.Verdict != Fits {
		subject, r.Group = q.firstWithout(kins, placed)
	}
	q.reject(&r.Rejected, subject)
	for _, k := range kins {
		r.Asks = append(r.Asks, q.askOf(k))
	}
	for at := range subject.gates {
		if anyMay(kins, at, gate.passes) {
			r.Usable++
		}
	}
}

// firstWithout is the first group that has not all its pods placed, and its kin.
func (q *question) firstWithout(kins []*kin, placed map[string]int) (*kin, string) {
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
	for at, g := range k.gates {
		switch g {
		case notReady:
			out.NotReady++
		case cordoned:
			out.Cordoned++
		case notSelected:
			out.Selector++
		case tainted:
			out.Taint++
			taints[k.taints[k.refuse[q.s.cols.taintSet[at]]-1]]++
		case tooSmall:
			out.TooSmall++
		case full:
			out.Full++
		case otherwise, closed:
			out.Other++
		default:
			out.Open++
		}
	}
	out.Taints = slices.SortedFunc(maps.Keys(taints), func(a, b string) int {
		return cmp.Or(cmp.Compare(taints[b], taints[a]), cmp.Compare(a, b))
	})
}

func (q *question) askOf(k *kin) Ask {
	a := Ask{Role: k.name, Each: job.Resources{}, Apart: k.alone, Nodes: countFunc(k.now, func(n int) bool { return n > 0 })}
	var roles []string
	for _, i := range k.groups {
		g := &q.gang.Groups[i]
		roles = append(roles, roleText(g.Name, g.Count))
		a.Pods = int(plus(int64(a.Pods), int64(max(0, g.Count))))
	}
	a.Roles = strings.Join(roles, " + ")
	for _, n := range k.needs {
		if n.name != corev1.ResourcePods {
			a.Each[n.name] = n.n
		}
	}
	return a
}
