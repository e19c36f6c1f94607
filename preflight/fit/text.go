package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// String is the result in one stable paragraph: how many pods fit, both numbers of what
// is short, and why nodes do not count.
func (r Result) String() string {
	out := r.Headline()
	_, stopped := r.stopper()
	if stopped {
		out += ": " + r.violationsText()
	}
	if s := r.reason(); s != "" && stopped && r.Refused() {
		out += "; " + s
	} else if s != "" && !stopped {
		out += ": " + s
	}
	if s := r.Rejected.String(); s != "" && r.Refused() {
		out += "; " + s
	}
	return out
}

// Refused says that the answer is a proven no.
func (r Result) Refused() bool {
	return r.Verdict == TooBig || r.Verdict == Full || r.Verdict == Fragmented
}

// Headline is the answer in a few words, without a reason: what lies before the nodes,
// where that decides, and how far the pods get on them.
func (r Result) Headline() string {
	if r.Paused != "" {
		return r.Paused + "; " + r.withViolations(r.onNodes())
	}
	return r.withViolations(r.onNodes())
}

// onNodes is the headline about the nodes.
func (r Result) onNodes() string {
	pods := words.Count(r.Wanted, "pod", "pods")
	switch {
	case r.Wanted == 0 && (r.Verdict == Unknown || r.Verdict == Fits):
		return "there are no pods to place"
	case r.Wanted == 1:
		return r.headlineOfOne()
	case r.Verdict == Fits && r.Placed < r.Wanted:
		return fmt.Sprintf("%d of up to %s fit", r.Placed, pods)
	case r.Verdict == Unknown:
		return fmt.Sprintf("not known whether %s fit", pods)
	case r.Verdict == TooBig && !r.PodTooBig && !r.Unresolvable:
		return fmt.Sprintf("%d of %s fit now, and not all of them on the idle cluster", r.Placed, pods)
	case r.Verdict == Full, r.Verdict == Fragmented:
		return fmt.Sprintf("%d of %s fit now", r.Placed, pods)
	default:
		return fmt.Sprintf("%d of %s fit", r.Placed, pods)
	}
}

// headlineOfOne is the headline of a gang of one pod, which needs no counting.
func (r Result) headlineOfOne() string {
	switch r.Verdict {
	case Fits:
		return "the pod fits"
	case TooBig:
		return "the pod does not fit"
	case Full, Fragmented:
		return "the pod does not fit now"
	case Unknown:
	}
	return "not known whether the pod fits"
}

// reason is what the headline rests on.
func (r Result) reason() string {
	switch r.Verdict {
	case Fits:
		return r.PlanText()
	case Unknown:
		return strings.Join(r.Assumed[:min(1, len(r.Assumed))], "")
	case TooBig, Full, Fragmented:
	}
	if r.Reason != "" {
		return r.Reason + r.backText()
	}
	lead := r.leading()
	if len(lead) == 0 {
		return ""
	}
	if r.Verdict == TooBig && lead[0].LargestFree < lead[0].LargestAsked {
		return r.neverText(lead[0]) + r.backText()
	}
	if len(lead) == 2 {
		return r.togetherText(lead[0], lead[1])
	}
	return r.askText(lead[0]) + "; " + r.haveText(lead[0]) + r.backText()
}

// leading are the shortfalls to talk about: the one that weighs most, and a second one
// where neither is short alone.
func (r Result) leading() []Shortfall {
	all := slices.Clone(r.Shortfall)
	slices.SortStableFunc(all, func(a, b Shortfall) int { return cmp.Compare(weight(a), weight(b)) })
	if len(all) > 1 && !all[0].short() && all[1].Resource != corev1.ResourcePods {
		return all[:2]
	}
	return all[:min(1, len(all))]
}

// neverText is for a pod that is larger than any node it may use.
func (r Result) neverText(s Shortfall) string {
	who := "one pod"
	for _, a := range r.Asks {
		if a.Each[s.Resource] == s.LargestAsked {
			who = "one " + a.Role
			break
		}
	}
	switch {
	case r.Usable+r.Rejected.TooSmall == 0:
		return fmt.Sprintf("no node may take %s, which asks for %s", who, AmountText(s.Resource, s.LargestAsked))
	case s.LargestFree == 0:
		return fmt.Sprintf("%s asks for %s; no node it may use has any", who, AmountText(s.Resource, s.LargestAsked))
	default:
		return fmt.Sprintf("%s asks for %s; the largest node it may use has %s, even idle", who, AmountText(s.Resource, s.LargestAsked), job.Format(s.Resource, s.LargestFree))
	}
}

// askText is who asks for how much of a resource, each and in sum.
func (r Result) askText(s Shortfall) string {
	var parts []string
	for _, a := range r.Asks {
		each := a.Each[s.Resource]
		switch {
		case each == 0:
		case a.Pods == 1:
			parts = append(parts, fmt.Sprintf("%s asks for %s", a.Roles, AmountText(s.Resource, each)))
		default:
			parts = append(parts, fmt.Sprintf("%s ask for %s each", a.Roles, AmountText(s.Resource, each)))
		}
	}
	if s.Resource == corev1.ResourcePods || len(parts) == 0 {
		return "room for " + words.Count(int(s.Asked), "pod", "pods") + " is asked"
	}
	text := strings.Join(parts, ", ")
	if s.Asked != s.LargestAsked {
		text += fmt.Sprintf(" (%s)", job.Format(s.Resource, s.Asked))
	}
	return text
}

// haveText is what there is of a resource.
func (r Result) haveText(s Shortfall) string {
	f := func(n int64) string { return job.Format(s.Resource, n) }
	nodes := "the " + words.Count(r.Usable, "node", "nodes") + " that may take " + r.them()
	what := string(s.Resource)
	if s.Resource == corev1.ResourcePods {
		what = "places for pods"
		if s.Free == 1 {
			what = "place for a pod"
		}
	}
	switch {
	case r.Usable == 0:
		return "no node may take " + r.them()
	case r.Verdict == TooBig && r.Running > 0:
		return fmt.Sprintf("%s have %s %s beside the %s, even idle", nodes, f(s.Free), what, words.Count(r.Running, "pod that runs", "pods that run"))
	case r.Verdict == TooBig:
		return fmt.Sprintf("%s have %s %s in all, even idle", nodes, f(s.Free), what)
	case s.Free == 0:
		return fmt.Sprintf("no %s are free on %s", what, nodes)
	case s.Free >= s.Asked && s.LargestFree >= s.LargestAsked && s.LargestFit < s.LargestPods:
		return fmt.Sprintf("%s %s are free on %s, enough on single nodes for %s of %s", f(s.Free), what, nodes, words.Count(s.LargestFit, "pod", "pods"), f(s.LargestAsked))
	default:
		return fmt.Sprintf("%s %s %s free on %s, at most %s on one", f(s.Free), what, isAre(s.Free), nodes, f(s.LargestFree))
	}
}

// them are the pods of the gang.
func (r Result) them() string {
	if r.Wanted == 1 {
		return "it"
	}
	return "them"
}

func isAre(n int64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// togetherText is for pods that find enough of each resource, though not on the same nodes.
func (r Result) togetherText(a, b Shortfall) string {
	return fmt.Sprintf("%s, %s; %s and %s are free on the %s that may take %s, but not enough of both on the same nodes",
		r.askText(a), r.askText(b), AmountText(a.Resource, a.Free), AmountText(b.Resource, b.Free), words.Count(r.Usable, "node", "nodes"), r.them())
}

// shortLine is a shortfall in one line of its own.
func (r Result) shortLine(s Shortfall) string {
	f := func(n int64) string { return job.Format(s.Resource, n) }
	if r.Verdict == TooBig && s.LargestFree < s.LargestAsked {
		return fmt.Sprintf("%s: %s asked by one pod, %s on the largest node it may use", s.Resource, f(s.LargestAsked), f(s.LargestFree))
	}
	free := "free"
	if r.Verdict == TooBig {
		free = "there even when idle"
	}
	return fmt.Sprintf("%s: %s asked, %s by one pod; %s %s on %s, at most %s on one",
		s.Resource, f(s.Asked), f(s.LargestAsked), f(s.Free), free, words.Count(r.Usable, "node", "nodes"), f(s.LargestFree))
}

func (r Result) backText() string {
	if !r.WithNodesBack {
		return ""
	}
	return fmt.Sprintf("; all would with the %s back", words.Count(r.Rejected.NotReady+r.Rejected.Cordoned, "unready or cordoned node", "unready or cordoned nodes"))
}

// PlanText is where the pods go, in short: "1 Master + 3 Workers on 4 nodes".
func (r Result) PlanText() string {
	if len(r.Plan) == 0 {
		return ""
	}
	nodes := make(map[string]bool, len(r.Plan))
	var roles words.Roles
	for i := 0; i < len(r.Plan); {
		group, pods := r.Plan[i].Group, 0
		for ; i < len(r.Plan) && r.Plan[i].Group == group; i++ {
			pods += r.Plan[i].Count
			nodes[r.Plan[i].Node] = true
		}
		roles.Add(group, pods)
	}
	return fmt.Sprintf("%s on %s", &roles, words.Count(len(nodes), "node", "nodes"))
}

// String names the nodes that do not count, in the order of FilterReason; empty: all do.
func (r Rejections) String() string {
	var out []string
	add := func(count int, what string) {
		switch {
		case count > 0 && out == nil:
			out = append(out, words.Count(count, "node", "nodes")+" "+what)
		case count > 0:
			out = append(out, fmt.Sprintf("%d %s", count, what))
		}
	}
	tainted := "tainted"
	if len(r.Taints) > 0 {
		tainted += " (" + strings.Join(r.Taints[:min(3, len(r.Taints))], ", ") + ")"
	}
	add(r.NotReady, "not ready")
	add(r.Cordoned, "cordoned")
	add(r.Selector, "not selected")
	add(r.Taint, tainted)
	add(r.TooSmall, "too small")
	add(r.Full, "full")
	add(r.Other, "closed by ports, volumes or affinity")
	return strings.Join(out, ", ")
}

// Lines is the result for a terminal, a heading and a fact per line: what is asked, what
// is short, why nodes do not count, where the pods would go, what would fit instead.
func (r Result) Lines() []string {
	out := []string{r.Headline()}
	line := func(head, text string) {
		if text != "" {
			out = append(out, fmt.Sprintf("  %-8s %s", head, text))
		}
	}
	for _, a := range r.Asks[:min(words.MostRoles, len(r.Asks))] {
		line("asked", a.String())
	}
	if more := len(r.Asks) - words.MostRoles; more > 0 {
		line("", "and "+words.Count(more, "role more", "roles more"))
	}
	for i, l := range r.Violations {
		line([]string{"limit", ""}[min(i, 1)], l.String())
	}
	if r.Refused() {
		line("because", r.Reason)
	}
	for _, s := range r.Shortfall {
		if r.Refused() && (s.short() || r.Reason == "" && (len(r.Shortfall) == 1 || s.Resource != corev1.ResourcePods)) {
			line("short", r.shortLine(s))
		}
	}
	if r.Refused() || r.Verdict == Unknown {
		line("nodes", r.Rejected.String())
	}
	for i, p := range r.placements() {
		line([]string{"plan", ""}[min(i, 1)], p)
	}
	if r.Preempts != nil {
		line("aside", r.Preempts.String())
	}
	for i, c := range r.Changes {
		line([]string{"change", "or"}[min(i, 1)], c)
	}
	for _, a := range r.Assumed {
		line("assumed", a)
	}
	return out
}

// mostNodes is how many nodes a line of the plan names.
const mostNodes = 4

// placements is the plan with equal lines drawn together: "5 Workers: 1 each on a, b, c".
func (r Result) placements() []string {
	if r.Verdict != Fits && r.Verdict != Unknown {
		return nil
	}
	var out []string
	for i := 0; i < len(r.Plan); {
		j, pods := i, 0
		var nodes []string
		for ; j < len(r.Plan) && r.Plan[j].Group == r.Plan[i].Group; j++ {
			pods += r.Plan[j].Count
			nodes = append(nodes, fmt.Sprintf("%s (%d)", r.Plan[j].Node, r.Plan[j].Count))
		}
		text := words.Pods(r.Plan[i].Group, pods) + " on " + strings.Join(nodes[:min(mostNodes, len(nodes))], ", ")
		if more := len(nodes) - mostNodes; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		out, i = append(out, text), j
	}
	return out
}

// String is who asks for what: "1 Master + 5 Workers: 8 nvidia.com/gpu, 32 cpu each".
func (a Ask) String() string {
	var amounts []string
	for _, name := range a.Each.Names() {
		amounts = append(amounts, AmountText(name, a.Each[name]))
	}
	if len(amounts) == 0 {
		return a.Roles + ": nothing but a place"
	}
	text := a.Roles + ": " + strings.Join(amounts, ", ")
	if a.Pods > 1 {
		text += " each"
	}
	return text
}

// AmountText is "8 nvidia.com/gpu", "24 cpu", "64Gi memory".
func AmountText(name corev1.ResourceName, n int64) string {
	return job.Format(name, n) + " " + string(name)
}
