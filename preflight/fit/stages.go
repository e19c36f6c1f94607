package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/fit/topology"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Run places stage after stage. It returns the answer of the stage that could not be
// placed whole (nil: there is none) and the pod sets to talk about.
func Run(q *assign.Solver, r *Result) (*assign.Answer, []*assign.PodSet) {
	var talk []*assign.PodSet
	var placed []*assign.Assignment
	stages := q.Cycle.Order.Stages
	for i, stage := range stages {
		podSets := q.PodSets(stage)
		if !q.Cycle.Budget.Spend(1) {
			return &assign.Answer{}, podSets
		}
		beside := q.ReservedBeside(placed, stage)
		a := solveStage(q, podSets, beside, len(stages) == 1)
		if len(beside) > 0 {
			a = besideEarlier(q, a, q.StillRunning(placed, stage), podSets, stage)
		}
		if a.Yes && i == len(stages)-1 && a.Best != nil {
			stretch(q, a.Best)
		}
		r.Placed += record(q, a.Best)
		if talk == nil || !a.Yes || len(podSets) > 0 && mostPods(podSets) >= mostPods(talk) {
			talk = podSets
		}
		if !a.Yes {
			return &a, podSets
		}
		if a.Best != nil {
			placed = append(placed, a.Best)
		}
	}
	r.Verdict = Fits
	return nil, talk
}

// solveStage solves a stage. For a change that is only tried it does not matter how far the pods get.
func solveStage(q *assign.Solver, podSets []*assign.PodSet, beside assign.Reserved, only bool) assign.Answer {
	w := topology.NewRuleSet(q, podSets, false)
	switch {
	case w != nil:
		return topology.SolveConstrained(q, w, beside)
	case q.Purpose > assign.Placing && q.Cannot(podSets, false):
		return assign.Answer{No: true}
	case q.Purpose == assign.Deciding && only:
		return q.Decide(podSets, false)
	default:
		return q.Solve(podSets, false, beside)
	}
}

// besideEarlier is the answer for a stage whose pods come among those of earlier stages that are still there.
// Where these stand is our choice: that proves nothing against the others, as only what finds no room
// even together does. And what they keep from nodes by more than what they take is not modelled, so
// that a plan proves nothing either.
func besideEarlier(q *assign.Solver, a assign.Answer, early, late []*assign.PodSet, stage []int) assign.Answer {
	tied := topology.Tied(q, early, late)
	if a.Yes && !tied {
		return a
	}
	together := placeable(q, stage, q.PodSets(q.Cycle.Order.Beside(stage)), false)
	switch {
	case together.No && a.Yes:
		return assign.Answer{No: true, Rule: together.Rule}
	case tied && !together.No:
		q.DoubtYes(fmt.Sprintf("%s may still run when %s starts: ports, volumes and affinity between them are not judged", podSetNames(early), podSetNames(late)))
	}
	a.No = together.No
	return a
}

func podSetNames(podSets []*assign.PodSet) string {
	names := make([]string, len(podSets))
	for i, k := range podSets {
		names[i] = k.Name
	}
	return strings.Join(names, ", ")
}

func mostPods(podSets []*assign.PodSet) int {
	n := 0
	for _, k := range podSets {
		n = max(n, k.Count)
	}
	return n
}

// outlived says whether the gang asks for what may be taken where no pod runs: storage, attachments, devices.
func outlived(q *assign.Solver) bool {
	for i := range q.Gang.Groups {
		pod := &q.Gang.Groups[i].Pod
		for name := range pod.Requests {
			if q.Snapshot.DeviceClass(name) != "" {
				return true
			}
		}
		if len(pod.Spec.ResourceClaims) > 0 || slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil || v.Ephemeral != nil
		}) {
			return true
		}
	}
	return false
}

// judge names the verdict where a stage was not placed whole, and returns the pod sets that
// stand in the way: those of a stage that can never run, else those that cannot run now.
func judge(q *assign.Solver, r *Result, a assign.Answer, podSets []*assign.PodSet) []*assign.PodSet {
	idleKnown, stages := true, q.Cycle.Order.Stages
	// Where nothing runs, the cluster is idle, and all has been found out.
	asIdle := len(stages) == 1 && q.PlacedBefore == 0 && !outlived(q) && len(q.Snapshot.Nominated()) == 0 && !slices.Contains(q.Snapshot.Columns().Busy, true)
	for _, stage := range stages {
		ever := q.PodSets(q.Cycle.Order.Beside(stage))
		idle := a
		if !asIdle {
			done := q.Cycle.Budget.Try(assign.MostIdleSteps)
			idle = placeable(q, stage, ever, true)
			if !done() { // what was counted in part proves nothing
				idle = assign.Answer{}
			}
		}
		if idle.No && !idle.Unordered && (a.No || !evens(ever)) {
			ever = tooBig(q, r, ever)
			r.Everywhere = idle.Everywhere || !slices.ContainsFunc(ever, func(k *assign.PodSet) bool { return !k.NamesNodes() })
			r.Reason = cmp.Or(idle.Rule, nodeEach(q, ever, true), together(q, r.Shortfall, ever, true))
			return ever
		}
		idleKnown = idleKnown && idle.Yes
	}
	if !a.No {
		q.Inform("the pods could not be placed, and it could not be proven that they cannot")
		return podSets
	}
	if !idleKnown {
		q.Inform("that they would fit on the idle cluster is not proven")
	}
	now := func(podSets []*assign.PodSet) []Shortfall {
		return sums(q, podSets, q.Snapshot.Columns().Free, nil, takesNow)
	}
	sum := now(podSets)
	r.Verdict = Fragmented
	if slices.ContainsFunc(sum, Shortfall.inSum) || slices.ContainsFunc(podSets, shortOfNodes) {
		r.Verdict = Full
	}
	if alone := toBlame(podSets, sum, false); len(alone) < len(podSets) {
		podSets, sum = alone, now(alone)
	}
	r.Shortfall = lacking(sum)
	r.Reason = cmp.Or(a.Rule, nodeEach(q, podSets, false), together(q, r.Shortfall, podSets, false), keptFrom(r.Shortfall, podSets))
	return podSets
}

// together is what keeps pods apart or together where no single resource is short; empty: one is, or no rule does.
func together(q *assign.Solver, lacks []Shortfall, podSets []*assign.PodSet, idle bool) string {
	if slices.ContainsFunc(lacks, Shortfall.short) {
		return ""
	}
	if w := topology.NewRuleSet(q, podSets, idle); w != nil {
		return w.All()
	}
	for i, a := range podSets {
		for _, b := range podSets[i+1:] {
			if q.Clashes(a, b) {
				_, who := q.PodsOf([]*assign.PodSet{a, b})
				return fmt.Sprintf("%s cannot share a node (%s)", who, whyApart(a, b))
			}
		}
	}
	return ""
}

// toBlame are the pod sets to talk of where some of them do not find a place each even alone, while in sum
// there is enough for all pods: then the others have nothing to do with it.
func toBlame(podSets []*assign.PodSet, together []Shortfall, idle bool) []*assign.PodSet {
	if slices.ContainsFunc(together, Shortfall.inSum) {
		return podSets
	}
	alone := slices.DeleteFunc(slices.Clone(podSets), func(k *assign.PodSet) bool { return k.Most(idle) >= int64(k.Count) })
	if len(alone) == 0 {
		return podSets
	}
	return alone
}

// nodeEach says that the pods of a pod set need a node each, and find too few; empty: none does.
func nodeEach(q *assign.Solver, podSets []*assign.PodSet, idle bool) string {
	for _, k := range podSets {
		if takers := takingNodes(k, idle); k.OnePerNode && takers < int64(k.Count) {
			nodes := words.Count(int(takers), "node takes", "nodes take") + " one now"
			if idle {
				nodes = words.Count(int(takers), "node", "nodes") + " could take one, even idle"
			}
			_, who := q.PodsOf([]*assign.PodSet{k})
			return fmt.Sprintf("%s need a node each (%s); %s", who, whyApart(k, k), nodes)
		}
	}
	return ""
}

// takingNodes is the number of nodes that take a pod of the pod set.
func takingNodes(k *assign.PodSet, idle bool) int64 {
	if idle {
		k.CountIdle()
		return k.IdleSums.Takers
	}
	return k.Takers
}

// whyApart is what keeps pods of two pod sets from one node.
func whyApart(a, b *assign.PodSet) string {
	switch {
	case podspec.PortConflict(a.Facts.Ports, b.Facts.Ports):
		return "they take the same port of it"
	case podspec.DiskConflict(a.Facts.Disks, b.Facts.Disks):
		return "they use the same disk"
	default:
		return "required pod anti-affinity"
	}
}

// blocked says what no room helps against.
func blocked(q *assign.Solver, r *Result) {
	for i := range q.Gang.Groups {
		if why := q.Cycle.Facts[i].BlockedBy; why != "" && q.Need[i] > 0 && r.Refused() {
			r.Reason, r.Unresolvable = why, true
			return
		}
	}
}

// evens says whether pods spread: then those that go away on an idle cluster may have
// filled a domain that holds the others back.
func evens(podSets []*assign.PodSet) bool {
	return slices.ContainsFunc(podSets, func(k *assign.PodSet) bool { return len(k.Facts.Spread) > 0 })
}

// placeable says whether the pods of a stage would find room together with those of earlier stages that certainly
// run then, podSets being all of them; on the idle cluster beside those pods of the gang that have a place and keep
// it. How far the pods get does not matter.
func placeable(q *assign.Solver, stage []int, podSets []*assign.PodSet, idle bool) assign.Answer {
	defer func(purpose assign.Purpose) { q.Purpose = purpose }(q.Purpose)
	q.Purpose = max(q.Purpose, assign.Keeping)
	before := slices.DeleteFunc(q.Cycle.Order.Beside(stage), func(g int) bool { return slices.Contains(stage, g) })
	var kept assign.Reserved
	if idle && q.PlacedBefore > 0 {
		kept = q.Stay()
	}
	if w := topology.NewRuleSet(q, podSets, idle, before...); w != nil {
		return topology.SolveConstrained(q, w, kept)
	}
	if kept == nil {
		return q.Decide(podSets, idle)
	}
	if q.Cannot(podSets, idle) {
		return assign.Answer{No: true}
	}
	return q.Solve(podSets, idle, kept)
}

// FitsIdle says that a gang is proven to fit once nothing runs on the nodes but what stays.
func FitsIdle(q *assign.Solver) bool {
	for _, stage := range q.Cycle.Order.Stages {
		idle := placeable(q, stage, q.PodSets(q.Cycle.Order.Beside(stage)), true)
		if !idle.Yes || idle.Unordered {
			return false
		}
	}
	return len(q.FlipsYes) == 0 && q.Cycle.Budget.Spend(0)
}

// keptFrom says whose room it is, where no resource is short but for that; empty: one is, or none is kept.
func keptFrom(lacks []Shortfall, podSets []*assign.PodSet) string {
	at := slices.IndexFunc(podSets, func(k *assign.PodSet) bool { return k.Facts.KeptFor != "" })
	if at < 0 || slices.ContainsFunc(lacks, Shortfall.short) {
		return ""
	}
	return podSets[at].Facts.KeptFor
}

// shortOfNodes says that it is not room the pod set lacks but nodes: other pods close some of
// them, room on them is kept for others, or each of its pods needs one of its own.
func shortOfNodes(k *assign.PodSet) bool {
	return k.Facts.KeptFor != "" || slices.Contains(k.Reasons(), assign.Otherwise) || k.OnePerNode && k.Total < int64(k.Count)
}

// tooBig explains pod sets that do not fit on the idle cluster, and returns those to talk of.
func tooBig(q *assign.Solver, r *Result, podSets []*assign.PodSet) []*assign.PodSet {
	idle := func(podSets []*assign.PodSet) []Shortfall {
		return sums(q, podSets, q.Snapshot.Columns().Idle, q.Stay(), func(g assign.FilterReason) bool {
			return g.Passes() || g == assign.TooSmall && r.PodTooBig // what the largest of them have is said then
		})
	}
	r.Verdict = TooBig
	r.PodTooBig = slices.ContainsFunc(podSets, func(k *assign.PodSet) bool { return k.Count > 0 && k.Most(true) == 0 })
	together := idle(podSets)
	if alone := toBlame(podSets, together, true); len(alone) < len(podSets) {
		podSets, together = alone, idle(alone)
	}
	r.Shortfall = lacking(together)
	r.WithNodesBack, r.NotWithNodesBack = fitsWithNodesBack(q)
	return podSets
}

// fitsWithNodesBack says whether the gang would fit on the idle cluster if all its nodes
// were ready and took pods. Then "too big" is true, but no reason to change the job. no: it is proven that it would not.
func fitsWithNodesBack(q *assign.Solver) (yes, no bool) {
	if !q.Snapshot.Lacking() {
		return false, false
	}
	defer q.Cycle.Budget.Try(assign.MostTrySteps)() // it explains, and proves nothing
	lifted := assign.NewSolver(q.Snapshot, q.Gang, q.Cycle)
	lifted.IgnoreHealth = true
	for _, stage := range q.Cycle.Order.Stages {
		a := placeable(lifted, stage, lifted.PodSets(q.Cycle.Order.Beside(stage)), true)
		if counted := q.Cycle.Budget.Spend(0); !a.Yes || !counted {
			return false, a.No && counted && len(lifted.FlipsNo) == 0
		}
	}
	return true, false
}

// lacking keeps the resources that are short, in sum or in one place; all of them where
// none is short alone.
func lacking(all []Shortfall) []Shortfall {
	var out []Shortfall
	for _, s := range all {
		if s.short() {
			out = append(out, s)
		}
	}
	if out == nil {
		return all
	}
	return out
}
