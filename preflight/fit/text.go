package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// The finding, the shell and the diagnosis say an answer in the sentences of this file, so that
// one thing is called the same wherever somebody meets it.

// String is the result in one stable paragraph: how many pods fit, both numbers of what
// is short, and why nodes do not count.
func (r Result) String() string {
	if why := r.Why(); why != "" {
		return r.Headline() + ": " + why
	}
	return r.Headline()
}

// Why is what the headline rests on: the rules before the nodes where they decide, what is short on
// the nodes, and why nodes do not count; empty: no more is known.
func (r Result) Why() string {
	var out []string
	_, stopped := r.stopper()
	if stopped {
		out = append(out, r.violationsText())
	}
	if !stopped || r.Refused() {
		out = append(out, r.reason())
	}
	if r.Refused() && !r.refusedByAll() {
		out = append(out, r.Rejected.String())
	}
	return strings.Join(slices.DeleteFunc(out, func(part string) bool { return part == "" }), "; ")
}

// OnNodes is the answer about the nodes alone, whatever lies before them: for a caller that says the rest
// elsewhere. Of the nodes that do not count it names those that may come back.
func (r Result) OnNodes() string {
	out := r.onNodes()
	if why := r.reason(); why != "" {
		out += ": " + why
	}
	away := Rejections{NotReady: r.Rejected.NotReady, Cordoned: r.Rejected.Cordoned}.String()
	if away != "" && r.Verdict == TooBig && !r.WithNodesBack && !r.refusedByAll() {
		out += "; " + away
	}
	if r.Paused != "" {
		return r.Paused + "; " + out
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
	if r.refusedByAll() {
		return fmt.Sprintf("no node may take %s (%s)", r.whom(), r.Rejected) + r.backText()
	}
	lead := r.leading()
	if r.tooLarge() {
		return r.neverText(lead[0]) + r.backText()
	}
	if r.Reason != "" || len(lead) == 0 {
		return r.Reason + r.backText()
	}
	if len(lead) == 2 {
		return r.togetherText(lead[0], lead[1])
	}
	return r.shortText(lead[0]) + r.backText()
}

// tooLarge says that one pod asks for more than any node it may use has: then no rule between pods
// matters, nor what else is short.
func (r Result) tooLarge() bool {
	return r.Verdict == TooBig && !r.Unresolvable && slices.ContainsFunc(r.Shortfall, Shortfall.never)
}

// never says that no node has enough for one pod.
func (s Shortfall) never() bool { return s.LargestFree < s.LargestAsked }

// refusedByAll says that every node is away, or is refused to the pods by selector, taint or what other
// pods hold, so that room does not matter.
func (r Result) refusedByAll() bool {
	n := r.Rejected
	away := n.NotReady + n.Cordoned + n.Selector + n.Taint
	if r.Reason == "" { // where a rule between pods closes them, it says more
		away += n.Other
	}
	if r.Verdict == Full || r.Verdict == Fragmented { // what is too small for one pod is so whatever goes
		away += n.TooSmall
	}
	return r.Verdict != Fits && !r.Unresolvable && n.Total > 0 && away == n.Total
}

// Lacks is what there is too little of for the pods without a place, of a resource by name; empty:
// there is enough of it, as far as is known.
func (r Result) Lacks(resource string) string {
	for _, s := range r.Shortfall {
		if string(s.Resource) != resource || !r.Refused() {
			continue
		}
		lead := r.leading()
		switch {
		case r.Verdict == TooBig && s.never():
			return r.neverText(s)
		case len(lead) == 2 && !s.short(): // neither is short alone
			return r.togetherText(lead[0], lead[1])
		}
		return r.shortText(s)
	}
	return ""
}

// shortText compares what is asked of a resource with what there is.
func (r Result) shortText(s Shortfall) string { return r.askText(s) + ", but " + r.haveText(s) }

// leading are the shortfalls to talk about: the one that weighs most, and a second one
// where neither is short alone.
func (r Result) leading() []Shortfall {
	all := slices.Clone(r.Shortfall)
	slices.SortStableFunc(all, func(a, b Shortfall) int { return cmp.Compare(weight(a), weight(b)) })
	if len(all) > 1 && !all[0].short() {
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
	case s.LargestFree == 0 && s.Resource == corev1.ResourcePods:
		return fmt.Sprintf("no node %s may use offers a place for a pod (allocatable.pods is 0 or missing)", r.they())
	case s.LargestFree == 0:
		return fmt.Sprintf("%s asks for %s, but no node it may use has any", who, AmountText(s.Resource, s.LargestAsked))
	default:
		return fmt.Sprintf("%s asks for %s, but the largest node it may use has %s %s", who, AmountText(s.Resource, s.LargestAsked), job.Format(s.Resource, s.LargestFree), r.evenIdle())
	}
}

// askText is which roles ask for how much of a resource: in sum, or each where one node has to have it.
func (r Result) askText(s Shortfall) string {
	who, pods := r.asker(s.Resource)
	if pods == 0 {
		return r.subject() + " need" + words.Verb(r.Wanted) + " room for " + words.Count(int(s.Asked), "pod", "pods")
	}
	text := who + " ask" + words.Verb(pods) + " for "
	if pods > 1 && s.onSingleNodes() {
		return text + r.upTo(s) + AmountText(s.Resource, s.LargestAsked) + " each"
	}
	return text + AmountText(s.Resource, s.Asked)
}

// onSingleNodes says that it is not the sum that falls short, but what is free in one place.
func (s Shortfall) onSingleNodes() bool {
	return s.LargestFree < s.LargestAsked || s.Free >= s.Asked && s.LargestFit < s.LargestPods
}

// asker are the pods that ask for a resource.
func (r Result) asker(name corev1.ResourceName) (who string, pods int) {
	if name == corev1.ResourcePods {
		return "", 0
	}
	var roles []string
	for _, a := range r.Asks {
		if a.Each[name] > 0 {
			roles, pods = append(roles, a.Roles), pods+a.Pods
		}
	}
	switch {
	case pods == r.Wanted-r.Running:
		return r.subject(), pods
	case len(roles) == 1 && !strings.Contains(roles[0], "+"):
		return roles[0], pods
	}
	return words.Count(pods, "pod", "pods"), pods
}

// sumText is what is asked of a resource: "48 nvidia.com/gpu (8 each)".
func (r Result) sumText(s Shortfall) string {
	text := AmountText(s.Resource, s.Asked)
	if s.Asked == s.LargestAsked {
		return text
	}
	return fmt.Sprintf("%s (%s%s each)", text, r.upTo(s), job.Format(s.Resource, s.LargestAsked))
}

// upTo precedes what the largest pod asks for where others ask for less.
func (r Result) upTo(s Shortfall) string {
	for _, a := range r.Asks {
		if each := a.Each[s.Resource]; each > 0 && each < s.LargestAsked {
			return "up to "
		}
	}
	return ""
}

// haveText is what there is of a resource.
func (r Result) haveText(s Shortfall) string {
	f := func(n int64) string { return job.Format(s.Resource, n) }
	nodes := "the " + words.Count(r.Usable, "node", "nodes") + " " + r.they() + " may use"
	places := ""
	if s.Resource == corev1.ResourcePods {
		places = " places for pods"
		if s.Free == 1 {
			places = " place for a pod"
		}
	}
	switch {
	case r.Usable == 0:
		return "no node may take " + r.them()
	case r.Verdict == TooBig && s.onSingleNodes():
		return fmt.Sprintf("single nodes have room for only %s of %s %s (%s in all)", words.Count(s.LargestFit, "pod", "pods"), f(s.LargestAsked), r.evenIdle(), f(s.Free))
	case r.Verdict == TooBig:
		return fmt.Sprintf("%s %s %s%s %s", nodes, words.Has(r.Usable), f(s.Free), places, r.evenIdle())
	case s.Free == 0:
		return "none is free on " + nodes
	case s.LargestFree < s.LargestAsked:
		return fmt.Sprintf("no node has more than %s free (%s in all)", f(s.LargestFree), f(s.Free))
	case s.onSingleNodes():
		return fmt.Sprintf("single nodes have room for only %s of %s (%s free in all)", words.Count(s.LargestFit, "pod", "pods"), f(s.LargestAsked), f(s.Free))
	default:
		return fmt.Sprintf("only %s%s %s free on %s", f(s.Free), places, words.Is(int(s.Free)), nodes)
	}
}

// evenIdle is what the nodes are when nothing runs on them but the gang's own pods: their room is not free for its others.
func (r Result) evenIdle() string {
	if r.Running == 0 {
		return "even idle"
	}
	return "even idle, beside the " + r.runs()
}

// runs are the pods of the gang that have a place already.
func (r Result) runs() string { return words.Count(r.Running, "pod that runs", "pods that run") }

// subject is what asks: the pods that the headline counts, or those of them that do not run yet.
func (r Result) subject() string {
	switch {
	case r.Running > 0:
		return "the " + words.Count(r.Wanted-r.Running, "pod that waits", "pods that wait")
	default:
		return r.they()
	}
}

// them are the pods of the gang.
func (r Result) them() string {
	if r.Wanted == 1 {
		return "it"
	}
	return "them"
}

// whom are the pods that the answer talks of: those of the gang, or of the groups that stand in the way.
func (r Result) whom() string {
	if len(r.Asks) == 1 && r.Asks[0].Pods < r.Wanted-r.Running {
		return r.Asks[0].Roles
	}
	return r.them()
}

// they is them as a subject.
func (r Result) they() string {
	if r.Wanted == 1 {
		return "it"
	}
	return "they"
}

// togetherText is for pods that find enough of each resource, though not on the same nodes.
func (r Result) togetherText(a, b Shortfall) string {
	who, pods := r.asker(a.Resource)
	other, others := r.asker(b.Resource)
	places := b.Resource == corev1.ResourcePods
	asked := fmt.Sprintf("%s ask%s for %s", who, words.Verb(pods), r.sumText(a))
	switch {
	case places:
	case other == who:
		asked += " and " + r.sumText(b)
	default:
		asked += fmt.Sprintf(" and %s ask%s for %s", other, words.Verb(others), r.sumText(b))
	}
	if r.Usable == 0 {
		return fmt.Sprintf("%s; no node %s may use has enough of both for one pod, even idle", asked, r.they())
	}
	second, free := AmountText(b.Resource, b.Free), "free"
	if places {
		second = "places for " + words.Count(int(b.Free), "pod", "pods")
	}
	if r.Verdict == TooBig {
		free = "there " + r.evenIdle()
	}
	return fmt.Sprintf("%s; %s and %s are %s on the %s %s may use, but not enough of both on the same nodes",
		asked, AmountText(a.Resource, a.Free), second, free, words.Count(r.Usable, "node", "nodes"), r.they())
}

// backText is what has to come back that the pods fit; empty where that does not help.
func (r Result) backText() string {
	if !r.WithNodesBack {
		return ""
	}
	var gone []string
	if away := r.Rejected.NotReady + r.Rejected.Cordoned; away > 0 {
		kind := "unready or cordoned node"
		switch {
		case r.Rejected.NotReady == 0:
			kind = "cordoned node"
		case r.Rejected.Cordoned == 0:
			kind = "unready node"
		}
		if away == 1 {
			gone = append(gone, "the "+kind+" is back")
		} else {
			gone = append(gone, "the "+words.Count(away, kind, kind+"s")+" are back")
		}
	}
	for _, taint := range r.Rejected.Taints {
		if podspec.TransientTaint(taint) && len(gone) < 3 {
			gone = append(gone, taint+" is gone")
		}
	}
	if gone == nil {
		return ""
	}
	who := "they all fit"
	if r.Wanted == 1 {
		who = "it fits"
	}
	return fmt.Sprintf("; %s once %s", who, strings.Join(gone, " and "))
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

// String is which roles ask for what: "1 Master + 5 Workers: 8 nvidia.com/gpu, 32 cpu each".
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

// MayComeBack says that some nodes do not count for what ends by itself or by hand: they are not ready, cordoned, or carry a
// taint that comes and goes with their state.
func (r Rejections) MayComeBack() bool {
	return r.NotReady+r.Cordoned > 0 || slices.ContainsFunc(r.Taints, podspec.TransientTaint)
}

// AmountText is "8 nvidia.com/gpu", "24 cpu", "64Gi memory".
func AmountText(name corev1.ResourceName, n int64) string {
	return job.Format(name, n) + " " + string(name)
}
