package fit

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

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
	if r.Running > 0 {
		line("running", fmt.Sprintf("%d of %s; %s room is not free for the others", r.Running, words.Count(r.Wanted, "pod", "pods"), words.Its(r.Running)))
	}
	for i, l := range r.Violations {
		line([]string{"limit", ""}[min(i, 1)], l.String())
	}
	switch {
	case r.Refused() && r.refusedByAll():
		text := "no node may take " + r.whom()
		if missing := r.Rejected.Selectors; len(missing) > 0 {
			text += ": none has " + strings.Join(missing[:min(3, len(missing))], ", ")
		}
		line("because", text)
	case r.Refused() && !r.tooLarge():
		line("because", r.Reason)
	case r.Smaller != "":
		line("because", "smaller pods do not fit either: "+r.Smaller)
	}
	for _, s := range r.Shortfall {
		if r.tells(s) {
			line("short", r.shortLine(s))
		}
	}
	if r.Refused() || r.Verdict == Unknown {
		line("nodes", r.Rejected.String()+r.backText())
	}
	for i, p := range r.placements() {
		line([]string{"plan", ""}[min(i, 1)], p)
	}
	if r.Preempts != nil {
		line("others", r.Preempts.String())
	}
	for i, c := range r.Changes {
		line([]string{"change", "or"}[min(i, 1)], c)
	}
	line("idle", r.Idle)
	for _, a := range r.Assumed {
		line("assumed", a)
	}
	return out
}

// tells says whether a shortfall is worth a line: not where every node is refused, and beside a pod
// that is too large for any node only what is short by itself.
func (r Result) tells(s Shortfall) bool {
	switch {
	case !r.Refused() || r.refusedByAll():
		return false
	case r.tooLarge() && !s.never() && s.Free >= s.Asked:
		return false
	case s.short():
		return true
	}
	return r.Reason == "" && (len(r.Shortfall) == 1 || s.Resource != corev1.ResourcePods)
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

// shortLine is a shortfall in one line of its own.
func (r Result) shortLine(s Shortfall) string {
	f := func(n int64) string { return job.Format(s.Resource, n) }
	beside := ""
	if r.Running > 0 {
		beside = ", beside the " + r.runs()
	}
	if r.Verdict == TooBig && s.LargestFree < s.LargestAsked {
		return fmt.Sprintf("%s: %s asked by one pod, %s on the largest node it may use", s.Resource, f(s.LargestAsked), f(s.LargestFree)) + beside
	}
	free := "free"
	if r.Verdict == TooBig {
		free = "there even idle"
	}
	return fmt.Sprintf("%s: %s asked, %s by one pod; %s %s on %s, at most %s on one",
		s.Resource, f(s.Asked), f(s.LargestAsked), f(s.Free), free, words.Count(r.Usable, "node", "nodes"), f(s.LargestFree)) + beside
}
