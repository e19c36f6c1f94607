package fit

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Fit answers whether the gang fits, and proves it: a yes carries a plan, a no an upper
// bound or an exhausted search; where there is neither, the answer is unknown. What it may
// cost is counted: where the budget is used up or the context ends, the answer is unknown and says so.
//
// The nodes are one thing, what lies before them another: the verdict is about nodes,
// Limits are the rules that keep the pods from ever reaching them. What would make a gang
// fit is the matter of package whatif.
func Fit(ctx context.Context, s *cluster.Snapshot, g gang.Gang, b *Budget) Result {
	if !b.Until(ctx) {
		return unanswered(g, b.Why())
	}
	g = quota.Stored(s, g)
	r, cycle := Solve(s, InParts(s, g), b)
	defer cycle.Release()
	if !b.Gone {
		AddViolations(s, &r, g)
	}
	return r
}

// Budget is what a question may cost, counted in steps; see NewBudget.
type Budget = assign.Budget

// Steps is what a question costs at most unless its caller says otherwise: some milliseconds.
const Steps = assign.MostSteps

// NewBudget is a budget of so many steps. The verdict comes first, what would fit instead is looked for with
// what is left. With more steps what was answered is answered the same.
func NewBudget(steps int) *Budget { return assign.NewBudget(steps) }

// InParts is the gang with a group for each part of its roles, as they are in a view.
func InParts(s *cluster.Snapshot, g gang.Gang) gang.Gang {
	return g.InParts(func(spec *corev1.PodSpec) (value int32, known bool) {
		if s == nil || s.Rules() == nil {
			return 0, false
		}
		class, known := s.PriorityClass(spec)
		return class.Value, known
	})
}

// unanswered is unknown, for a reason.
func unanswered(g gang.Gang, why string) Result {
	return Result{Paused: g.Held(), Wanted: g.Pods(), Plan: []Placement{}, Shortfall: []Shortfall{}, Assumed: []string{why}}
}

// Solve is the verdict about the nodes alone, and what it rests on: a search for a change goes on from there.
// The caller releases the cycle. Where only what is not known stands in the way of a yes, the gang may still fit
// whatever that is.
func Solve(s *cluster.Snapshot, g gang.Gang, b *Budget) (Result, *assign.Cycle) {
	if s == nil || s.Incomplete() != "" {
		return unanswered(g, s.Incomplete()), nil
	}
	r, cycle, doubted := solve(g, assign.NewCycle(s, g, b), s)
	if doubted && b.Spend(0) {
		done := b.Try(assign.MostSteps / 4)
		strict, strictCycle, _ := solve(g, assign.NewStrictCycle(s, g, b), s)
		if done() && strict.Verdict == Fits {
			cycle.Release()
			return strict, strictCycle
		}
		strictCycle.Release()
		if b.Gone {
			return unanswered(g, b.Why()), cycle
		}
	}
	return r, cycle
}

// solve is the verdict of a cycle; doubted: it would be yes but for what is not known.
func solve(g gang.Gang, cycle *assign.Cycle, s *cluster.Snapshot) (r Result, _ *assign.Cycle, doubted bool) {
	b := cycle.Budget
	if !b.Spend(0) {
		return unanswered(g, b.Why()), cycle, false
	}
	r = unanswered(g, "")
	r.Assumed = r.Assumed[:0]
	q := assign.NewSolver(s, g, cycle)
	a, podSets := Run(q, &r)
	if b.Gone {
		return unanswered(g, b.Why()), cycle, false
	}
	r.Running = q.PlacedBefore
	r.Placed += q.PlacedBefore
	if a != nil && b.Spend(0) {
		podSets = judge(q, &r, *a, podSets)
	}
	if !b.Spend(0) { // what was counted in part is no verdict
		r.Verdict = Unknown
		q.Inform("%s", b.Why())
	}
	blocked(q, &r)
	if r.Reason != "" { // what is not short has nothing to do with it
		r.Shortfall = slices.DeleteFunc(r.Shortfall, func(s Shortfall) bool { return r.Unresolvable || !s.short() })
	}
	explain(q, &r, podSets)
	if !b.Spend(0) && r.Verdict != Unknown { // nor is half an explanation one
		return unanswered(g, b.Why()), cycle, false
	}
	if r.Verdict == Fits {
		kept(q)
	}
	doubted = r.Verdict == Fits && len(q.FlipsYes) > 0
	r.Plan = Planned(q)
	r.Order = ordered(q)
	assume(q, &r)
	return r, cycle, doubted
}

// assume finishes the verdict with what was not looked at.
func assume(q *assign.Solver, r *Result) {
	s := q.Snapshot
	if !s.PodsKnown() && len(s.Nodes()) > 0 {
		if r.Verdict != TooBig {
			r.Verdict = Unknown
		}
		r.Assumed = append(r.Assumed, "pods are not known: what runs on the nodes was not counted, every node is taken as idle")
	}
	if len(q.FlipsNo) > 0 && r.Refused() && !r.Unresolvable {
		r.Verdict, r.PodTooBig, r.WithNodesBack, r.NotWithNodesBack = Unknown, false, false, false
		r.Assumed = append(r.Assumed, q.FlipsNo...)
	}
	switch now := r.Verdict == Full || r.Verdict == Fragmented; {
	case now && q.Refused:
		r.Verdict = Unknown
	case len(q.FlipsYes) > 0 && r.Verdict == Fits:
		r.Verdict = Unknown
		q.Inform("resources and nodes alone would allow it")
	}
	r.Assumed = append(r.Assumed, q.FlipsYes...)
	r.Assumed = append(r.Assumed, q.Info...)
	if s.PodsScope() != "" {
		r.Assumed = append(r.Assumed, fmt.Sprintf("all pods of the snapshot are in namespace %s; pods of others are not counted", s.PodsScope()))
	}
	if text := pendingText(s, q.Gang); text != "" && r.Verdict != TooBig {
		r.Assumed = append(r.Assumed, text)
	}
	if n := s.Silent(); n > 0 {
		r.Assumed = append(r.Assumed, fmt.Sprintf("%s nothing about health; counted as ready", words.Count(n, "node says", "nodes say")))
	}
	if least := q.Gang.MinMembers; r.Refused() && least > 0 && least < r.Wanted && r.Placed >= least {
		r.Assumed = append(r.Assumed, fmt.Sprintf("the gang may start with %d of its %d pods, and %d fit", least, r.Wanted, r.Placed))
	}
	if class := q.Gang.PriorityClass(); class != "" && (r.Verdict == Full || r.Verdict == Fragmented) && !ranked(q.Snapshot, q.Gang) {
		r.Assumed = append(r.Assumed, fmt.Sprintf("the priority class %s may move others aside; that is not considered", class))
	}
	r.Queue = q.Gang.Queue
	r.Autoscaler = s.Autoscaler()
	r.WaitsForOthers = r.Verdict == Full || r.Verdict == Fragmented
}
