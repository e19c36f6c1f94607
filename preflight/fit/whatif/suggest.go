package whatif

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// What a search for changes may spend, beside the steps that are left of the question: fits
// tried; keys, values or taints of one sort.
const (
	mostTries    = 80
	mostVariants = 6
	mostDevices  = 1024 // on one pod, of which smaller pods are tried
)

// suggester looks for changes of a gang that would make it fit. Every change it names was
// tried: it fits, with a plan.
type suggester struct {
	s      *cluster.Snapshot
	gang   gang.Gang
	was    *fit.Result
	cycle  *assign.Cycle
	tries  int
	found  []string
	halves []string // what cures the nodes only: a rule before them stops the changed gang, too
	passed []string // what was not tried, and why
	exist  []int    // pods of each group that there are; nil: not counted yet

	numbers [][]fit.Group // what was found and is numbers only
}

// newSuggester reads once what the pods ask for, of which every change is a copy.
func newSuggester(s *cluster.Snapshot, g gang.Gang, was *fit.Result, cycle *assign.Cycle) *suggester {
	g.Groups = slices.Clone(g.Groups)
	for i := range g.Groups {
		g.Groups[i].Pod.Requests = podspec.Requested(g.Groups[i].Pod)
	}
	return &suggester{s: s, gang: g, was: was, cycle: cycle}
}

// suggest are the changes that would make the gang fit, in a fixed order: less of what is
// too large for any node, fewer pods, smaller pods, then other nodes.
func suggest(s *cluster.Snapshot, g gang.Gang, was *fit.Result, cycle *assign.Cycle) *suggester {
	q := newSuggester(s, g, was, cycle)
	q.smallerRequest()
	q.fewerPods()
	q.smallerPods()
	q.freerSelector()
	q.toleration()
	q.otherPool()
	q.looserRules()
	q.tolerationAndFewer()
	q.found = append(q.found, q.halves...)
	return q
}

// pass says what is not tried.
func (q *suggester) pass(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(q.passed, text) {
		q.passed = append(q.passed, text)
	}
}

// trial is a changed gang that was tried.
type trial struct {
	*assign.Solver
	result  fit.Result
	podSets []*assign.PodSet // that did not fit, or to talk about
}

// try says whether a changed gang fits; nil: enough was tried.
func (q *suggester) try(g gang.Gang, what assign.Purpose) (a *trial, fits bool) {
	return q.tryOn(g, q.cycle, what)
}

// tryOn is try for a change that alters what the cycle rests on.
func (q *suggester) tryOn(g gang.Gang, cycle *assign.Cycle, what assign.Purpose) (a *trial, fits bool) {
	q.tries++
	switch {
	case q.over(cycle.Budget):
		return nil, false
	case q.tries > mostTries:
		q.pass("not every change that might make it fit was tried: there are more than %d", mostTries)
		return nil, false
	}
	steps := assign.MostTrySteps
	if q.inParts() { // parts that keep apart cost more, and are fewer than pods
		steps *= 4
	}
	done := cycle.Budget.Try(steps)
	a = &trial{Solver: assign.NewSolver(q.s, g, cycle)}
	a.Purpose = what
	failed, podSets := fit.Run(a.Solver, &a.result)
	a.podSets = podSets
	enough := done()
	q.over(cycle.Budget)
	return a, enough && failed == nil && len(a.FlipsYes) == 0 && q.s.PodsKnown() && g.Pods() > 0
}

// over says that no step is left, and that something was not tried therefore.
func (q *suggester) over(b *fit.Budget) bool {
	if b.Over != "" {
		q.pass("not every change that might make it fit was tried: %s", b.Over)
	}
	return b.Over != ""
}

// keep tries a change and keeps its text if it fits.
func (q *suggester) keep(g gang.Gang, format string, args ...any) bool {
	return q.keepOn(g, q.cycle, format, args...)
}

func (q *suggester) keepOn(g gang.Gang, cycle *assign.Cycle, format string, args ...any) bool {
	a, ok := q.tryOn(g, cycle, assign.Keeping)
	if ok {
		plan := fit.Planned(a.Solver)
		text := fmt.Sprintf(format, args...) + " (" + fit.Result{Plan: plan}.PlanText() + q.models(g, plan) + ")" + q.arguments(g)
		if stops := q.stopped(g); stops != "" {
			q.halves = append(q.halves, text+", but "+stops+" stops it")
		} else {
			q.found = append(q.found, text)
		}
		q.note(g)
	}
	return ok
}

// stopped is what stops a changed gang before the nodes; empty: nothing is known to.
func (q *suggester) stopped(g gang.Gang) string {
	if g.NodesOnly || q.s.Rules() == nil || q.s.Incomplete() != "" {
		return ""
	}
	if q.exist == nil {
		q.exist = quota.Existing(q.s, q.gang)
	}
	g.Groups = slices.Clone(g.Groups)
	for i := range g.Groups { // pods that are no more wanted are none that have completed
		g.Groups[i].Declared -= q.gang.Groups[i].Count - g.Groups[i].Count
	}
	if g.MinField != "" { // the advice names what it then has to be
		g.MinMembers = min(g.MinMembers, g.Pods())
	}
	limits, _ := quota.CheckWith(q.s, g, q.exist)
	var owners []string
	for _, l := range limits {
		// A change of amounts is one of Requests, and what the containers say stays as it was.
		asWritten := l.Rule == quota.RuleRange || l.Rule == quota.RuleAmount || strings.HasPrefix(l.Resource, "limits.")
		if o := l.Owner(); !slices.Contains(owners, o) && !(asWritten && q.smaller(g)) {
			owners = append(owners, o)
		}
	}
	return strings.Join(owners, " and ")
}

// smaller says that pods of a changed gang ask for other amounts.
func (q *suggester) smaller(g gang.Gang) bool {
	for i := range g.Groups {
		if !maps.Equal(podspec.Requested(g.Groups[i].Pod), podspec.Requested(q.gang.Groups[i].Pod)) {
			return true
		}
	}
	return false
}

// note keeps the numbers of a change that is nothing else.
func (q *suggester) note(g gang.Gang) {
	var all []fit.Group
	for i := range g.Groups {
		if g.Groups[i].Part != nil || q.gang.Groups[i].Declared > q.gang.Groups[i].Count {
			return // how many parts there are is written elsewhere, and what is written counts pods that have completed
		}
		was, is := &q.gang.Groups[i].Pod.Spec, &g.Groups[i].Pod.Spec
		if !equality.Semantic.DeepEqual(was.NodeSelector, is.NodeSelector) || !equality.Semantic.DeepEqual(was.Tolerations, is.Tolerations) ||
			!equality.Semantic.DeepEqual(was.Affinity, is.Affinity) || !equality.Semantic.DeepEqual(was.TopologySpreadConstraints, is.TopologySpreadConstraints) {
			return
		}
		all = append(all, fit.Group{Name: g.Groups[i].Name, Count: g.Groups[i].Count, Requests: podspec.Requested(g.Groups[i].Pod)})
	}
	if len(all) > 0 {
		q.numbers = append(q.numbers, all)
	}
}

// with is a copy of the gang, each group changed. The pod spec is copied as far as the
// searches below write to it.
func (q *suggester) with(change func(i int, g *gang.Group)) gang.Gang {
	out := q.gang
	out.Groups = slices.Clone(q.gang.Groups)
	for i := range out.Groups {
		g := &out.Groups[i]
		g.Pod.Requests = maps.Clone(podspec.Requested(g.Pod))
		g.Pod.Spec.NodeSelector = maps.Clone(g.Pod.Spec.NodeSelector)
		g.Pod.Spec.Tolerations = slices.Clone(g.Pod.Spec.Tolerations)
		change(i, g)
	}
	return out
}

// largest finds the largest n in [0, below) for which ok holds, if it holds for smaller
// ones too; 0 is never asked about.
func largest(below int64, ok func(int64) bool) int64 {
	low, high := int64(0), below
	for high-low > 1 {
		if mid := low + (high-low)/2; ok(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// fits says that a changed gang fits.
func (q *suggester) fits(g gang.Gang) bool {
	_, ok := q.try(g, assign.Deciding)
	return ok
}

// fewest finds the role that has to give up fewest pods for a function to hold, which holds for fewer pods if it does for
// more; of a role in parts, whole ones. ok: there is one.
func (q *suggester) fewest(holds func(gang.Gang) bool) (best gang.Gang, ok bool) {
	for i, g := range q.gang.Groups {
		whole, most, resized := g.Part == nil, g.Count, q.resized
		switch {
		case !whole:
			most, resized = q.parts(i), q.inFewerParts
		case g.Each > 1: // no other numbers can be written
			most, resized = g.Count/g.Each, func(i, n int) gang.Gang { return q.resized(i, n*g.Each) }
		}
		// Where the least number is written, the advice says what becomes of it.
		if g.Single || most < 2 || elastic(&g) && (g.LeastField == "" || g.Field == "") || !whole && i > 0 && q.gang.Groups[i-1].Part != nil && q.gang.Groups[i-1].Name == g.Name {
			continue
		}
		tries := func(n int64) bool { return holds(resized(i, int(n))) }
		n := int64(most - 1) // which is what a part that is too many leaves; it costs the most
		if whole || !tries(n) {
			n = largest(int64(most), tries)
		}
		if fewer := resized(i, int(n)); n > 0 && (!ok || fewer.Pods() > best.Pods()) {
			best, ok = fewer, true
		}
	}
	return best, ok
}

// fewerPods takes pods from one role.
func (q *suggester) fewerPods() {
	if fewer, ok := q.fewest(q.fits); ok {
		q.keep(fewer, "fits with %s", q.fewer(fewer))
	}
}

// fewer says of which roles a gang has fewer pods: by the number that is written, where that counts something else.
func (q *suggester) fewer(fewer gang.Gang) string {
	is, was := q.numbersOf(fewer, false)
	return strings.Join(is, " + ") + " instead of " + strings.Join(was, " + ")
}

// numbersOf are the numbers of pods that a changed gang has, and those that it had, as the job writes them. Where it
// writes replicas, which count pods, they are the pods; fields alone: those are left out.
func (q *suggester) numbersOf(changed gang.Gang, fields bool) (is, was []string) {
	before, after := q.gang.Whole(), changed.Whole()
	differs := func(i int) bool { return i >= 0 && before.Groups[i].Count != after.Groups[i].Count }
	for i := range after.Groups {
		g := &before.Groups[i]
		if !differs(i) || differs(before.Index(g.Along)) {
			continue
		}
		leads := slices.ContainsFunc(before.Groups, func(other gang.Group) bool { return other.Along == g.Name })
		field, old, n := written(g, after.Groups[i].Count, leads)
		switch {
		case q.byLeast(g):
			is, was = append(is, fmt.Sprintf("%s %d", g.LeastField, n)), append(was, strconv.Itoa(g.LeastNumber))
		case field != "":
			is, was = append(is, fmt.Sprintf("%s %d", field, n)), append(was, strconv.Itoa(old))
		case !fields:
			is, was = append(is, words.Pods(g.Name, after.Groups[i].Count)), append(was, strconv.Itoa(g.Count))
		}
	}
	return is, was
}

// written is the field that says how many pods a group has, what stands there, and what does for another number of
// pods; empty: it is called replicas and counts pods, or none says it.
func written(g *gang.Group, pods int, leads bool) (field string, old, n int) {
	old, _ = g.Number(g.Count)
	n, whole := g.Number(pods)
	switch {
	case !whole || g.Field == "" || g.Field == "replicas" && g.Each < 2 && !leads:
		return "", old, n
	case strings.Contains(string(g.Path), "["): // of a list, whose elements have names
		return g.Name + "." + g.Field, old, n
	}
	return string(g.Path), old, n
}

func (q *suggester) resized(i, pods int) gang.Gang {
	was := q.gang.Groups[i]
	return q.with(func(at int, g *gang.Group) {
		switch {
		case at == i:
			g.Count, g.Min = pods, 0
		case g.Along == was.Name && g.Along != "":
			g.Count, g.Min = g.Count/was.Count*pods, 0
		}
	})
}

// smallerPods keeps the sum of accelerators and spreads it over more, smaller pods; the
// other requests shrink in proportion. Roles that have one pod by their nature keep it.
func (q *suggester) smallerPods() {
	name, each := q.devices()
	if each > mostDevices {
		q.pass("smaller pods were not tried: one asks for more than %d %s", mostDevices, name)
	}
	if each < 2 || each > mostDevices {
		return
	}
	if q.inParts() {
		q.pass("smaller pods were not tried: parts of the job keep apart")
		return
	}
	grow := -1 // the role that takes the additional pods
	total := int64(0)
	for i, g := range q.gang.Groups {
		if podspec.Requested(g.Pod)[name] != each {
			continue
		}
		total = saturate.Add(total, int64(g.Count))
		if !g.Single && (grow < 0 || g.Count > q.gang.Groups[grow].Count) {
			grow = i
		}
	}
	if grow < 0 || total > 1<<20 {
		return
	}
	for size := each / 2; size >= 1; size-- {
		if each%size != 0 {
			continue
		}
		more := int(total*(each/size) - total)
		g := q.with(func(i int, g *gang.Group) {
			if g.Pod.Requests[name] != each {
				return
			}
			for r, n := range g.Pod.Requests {
				g.Pod.Requests[r] = shareOf(n, size, each)
			}
			if i == grow {
				if g.Min > 0 { // or the pods added would count as optional
					g.Min += more
				}
				g.Count += more
			}
		})
		text := fmt.Sprintf("fits with %s of %s instead of %s of %s", q.rolesWith(g, name), fit.AmountText(name, size), q.rolesWith(q.gang, name), job.Format(name, each))
		if is, was := q.numbersOf(g, true); len(is) > 0 {
			text += ": " + strings.Join(is, " + ") + " instead of " + strings.Join(was, " + ")
		}
		if q.keep(g, "%s", text) {
			return
		}
	}
}

// shareOf is n times part over whole, rounded up.
func shareOf(n, part, whole int64) int64 {
	return n/whole*part + (n%whole*part+whole-1)/whole
}

// devices is the accelerator that is counted in whole devices, and the largest number of
// it that one pod asks for.
func (q *suggester) devices() (name corev1.ResourceName, each int64) {
	for _, g := range q.gang.Groups {
		for _, r := range podspec.Requested(g.Pod).Names() {
			if n := podspec.Requested(g.Pod)[r]; job.AcceleratorUnit(r) == job.Device && n > each {
				name, each = r, n
			}
		}
	}
	return name, each
}

// rolesWith lists the roles that ask for a resource: "1 Master + 11 Workers".
func (q *suggester) rolesWith(g gang.Gang, name corev1.ResourceName) string {
	var out []string
	for i := range g.Groups {
		if podspec.Requested(q.gang.Groups[i].Pod)[name] > 0 {
			out = append(out, words.Pods(g.Groups[i].Name, g.Groups[i].Count))
		}
	}
	return strings.Join(out, " + ")
}

// smallerRequest lowers what is too large for every node to the most that fits.
func (q *suggester) smallerRequest() {
	caps, units := job.Resources{}, job.Resources{}
	for _, s := range q.was.Shortfall {
		if q.was.Verdict != fit.TooBig || s.LargestFree >= s.LargestAsked || s.Resource == corev1.ResourcePods {
			continue
		}
		units[s.Resource] = unitOf(s.Resource, s.LargestFree)
		if caps[s.Resource] = s.LargestFree / units[s.Resource]; caps[s.Resource] == 0 {
			return
		}
	}
	capped := func() gang.Gang {
		return q.with(func(_ int, g *gang.Group) {
			for name, n := range caps {
				if g.Pod.Requests[name] > n*units[name] {
					g.Pod.Requests[name] = n * units[name]
				}
			}
		})
	}
	var less, was []string
	for _, name := range caps.Names() {
		caps[name] = largest(caps[name]+1, func(n int64) bool {
			caps[name] = n
			_, ok := q.try(capped(), assign.Deciding)
			return ok
		})
		if caps[name] == 0 {
			return
		}
		less = append(less, fit.AmountText(name, caps[name]*units[name]))
		was = append(was, q.mostAsked(name))
	}
	if len(less) > 0 {
		q.keep(capped(), "fits with %s per pod instead of %s", strings.Join(less, " and "), strings.Join(was, " and "))
	}
}

// smallerRefused is the rule that would keep pods from the nodes if one pod were no larger than the largest of them: what is
// said of its size is not all that is in the way. Empty: none is known.
func (q *suggester) smallerRefused(b *fit.Budget) string {
	caps := job.Resources{}
	for _, s := range q.was.Shortfall {
		if q.was.Verdict == fit.TooBig && s.LargestFree < s.LargestAsked && s.Resource != corev1.ResourcePods {
			caps[s.Resource] = s.LargestFree
		}
	}
	if len(caps) == 0 {
		return ""
	}
	r, cycle := fit.Solve(q.s, q.with(func(_ int, g *gang.Group) {
		for name, n := range caps {
			g.Pod.Requests[name] = min(g.Pod.Requests[name], n)
		}
	}), b)
	defer cycle.Release()
	if b.Gone || r.Verdict != fit.TooBig {
		return ""
	}
	return r.Reason
}

// mostAsked is the most that one pod asks for of a resource.
func (q *suggester) mostAsked(name corev1.ResourceName) string {
	most := int64(0)
	for _, g := range q.gang.Groups {
		most = max(most, podspec.Requested(g.Pod)[name])
	}
	return job.Format(name, most)
}

// unitOf is the step in which people write an amount of this size.
func unitOf(name corev1.ResourceName, size int64) int64 {
	switch {
	case name == corev1.ResourceCPU && size >= 1000:
		return 1000
	case name == corev1.ResourceCPU:
		return 1
	case job.AcceleratorUnit(name) != job.NotAccelerator || size < 1<<20:
		return 1
	case size < 1<<30:
		return 1 << 20
	default:
		return 1 << 30
	}
}
