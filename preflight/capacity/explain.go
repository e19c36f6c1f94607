package capacity

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

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
		case otherwise:
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
	a := Ask{Each: job.Resources{}}
	var roles []string
	for _, i := range k.groups {
		g := &q.gang.Groups[i]
		roles = append(roles, roleText(g.Name, g.Count))
		a.Pods += g.Count
	}
	a.Roles = strings.Join(roles, " + ")
	for _, n := range k.needs {
		if n.name != corev1.ResourcePods {
			a.Each[n.name] = n.n
		}
	}
	return a
}

// roleText is a number of pods of a role: "1 Master", "5 Workers", "2 pods of node".
func roleText(role string, n int) string {
	word := role != "" && strings.IndexFunc(role, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
	switch {
	case role == "":
		return many(n, "pod", "pods")
	case !word || strings.EqualFold(role, "node"):
		return fmt.Sprintf("%s of %s", many(n, "pod", "pods"), role)
	case n == 1 || strings.HasSuffix(role, "s") || strings.HasSuffix(role, "S"):
		return fmt.Sprintf("%d %s", n, role)
	default:
		return fmt.Sprintf("%d %ss", n, role)
	}
}

// String is the result in one stable paragraph: how many pods fit, both numbers of what
// is short, and why nodes do not count.
func (r Result) String() string {
	parts := []string{r.headline()}
	if s := r.shortText(); s != "" {
		parts = append(parts, s)
	}
	if s := r.Rejected.String(); s != "" && r.Verdict != Fits {
		parts = append(parts, s)
	}
	if r.Verdict == Unknown || r.Verdict == Fits && len(r.Assumed) > 0 {
		parts = append(parts, r.Assumed...)
	}
	return strings.Join(parts, "; ")
}

// headline is the answer in a few words.
func (r Result) headline() string {
	pods := many(r.Wanted, "pod", "pods")
	switch r.Verdict {
	case Fits:
		if r.Placed < r.Wanted {
			return fmt.Sprintf("the minimum fits: %d of %s", r.Placed, pods)
		}
		return fmt.Sprintf("%d of %s fit", r.Placed, pods)
	case TooBig:
		return fmt.Sprintf("%d of %s fit, and no more would on the idle cluster", r.Placed, pods)
	case Full, Fragmented:
		return fmt.Sprintf("%d of %s fit now", r.Placed, pods)
	default:
		return fmt.Sprintf("not known whether %s fit", pods)
	}
}

// shortText holds what is asked against what there is.
func (r Result) shortText() string {
	if r.Verdict != TooBig && r.Verdict != Full && r.Verdict != Fragmented {
		return ""
	}
	var out []string
	for _, s := range r.weightiest() {
		out = append(out, r.lack(s))
	}
	return strings.Join(out, "; ")
}

// weightiest are at most two shortfalls to talk about, accelerators first.
func (r Result) weightiest() []Shortfall {
	all := slices.Clone(r.Shortfall)
	slices.SortStableFunc(all, func(a, b Shortfall) int { return cmp.Compare(weight(a), weight(b)) })
	return all[:min(2, len(all))]
}

func weight(s Shortfall) int {
	switch {
	case job.AcceleratorUnit(s.Resource) != job.NotAccelerator:
		return 0
	case s.LargestHole < s.NeededHole:
		return 1
	case s.Resource == corev1.ResourcePods:
		return 3
	default:
		return 2
	}
}

// lack is one shortfall in words.
func (r Result) lack(s Shortfall) string {
	f := func(n int64) string { return job.Format(s.Resource, n) }
	switch {
	case r.Verdict == TooBig && s.LargestHole < s.NeededHole:
		return fmt.Sprintf("one pod asks for %s; the largest node it may use has %s", amountText(s.Resource, s.NeededHole), f(s.LargestHole))
	case r.Verdict == TooBig:
		return fmt.Sprintf("the pods ask for %s in sum, %s each; the nodes they may use have %s, the largest %s", amountText(s.Resource, s.Asked), f(s.NeededHole), f(s.Free), f(s.LargestHole))
	default:
		return fmt.Sprintf("the pods ask for %s in sum, %s each; %s are free on nodes they may use, %s at most on one", amountText(s.Resource, s.Asked), f(s.NeededHole), f(s.Free), f(s.LargestHole))
	}
}

// String names the nodes that do not count, in the order of the gates; empty: all do.
func (n Rejections) String() string {
	var out []string
	add := func(count int, what string) {
		if count > 0 {
			out = append(out, fmt.Sprintf("%d %s", count, what))
		}
	}
	add(n.NotReady, "not ready")
	add(n.Cordoned, "cordoned")
	add(n.Selector, "not matched by the selector")
	tainted := "tainted"
	if len(n.Taints) > 0 {
		tainted += " (" + strings.Join(n.Taints[:min(3, len(n.Taints))], ", ") + ")"
	}
	add(n.Taint, tainted)
	add(n.TooSmall, "too small")
	add(n.Full, "full")
	add(n.Other, "closed by ports or affinity")
	if out == nil {
		return ""
	}
	return fmt.Sprintf("of %s: %s", many(n.Total, "node", "nodes"), strings.Join(out, ", "))
}

// Lines is the result for a terminal: the answer, what is short, why nodes do not count,
// what would fit, what was assumed.
func (r Result) Lines() []string {
	out := []string{r.headline()}
	for _, s := range r.weightiest() {
		if r.Verdict == TooBig || r.Verdict == Full || r.Verdict == Fragmented {
			out = append(out, r.lack(s))
		}
	}
	if s := r.Rejected.String(); s != "" {
		out = append(out, s)
	}
	for _, c := range r.Changes {
		out = append(out, "→ "+c)
	}
	for _, a := range r.Assumed {
		out = append(out, "assumed: "+a)
	}
	return out
}
