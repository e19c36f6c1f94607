package whatif

import (
	"context"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

// Answer is the whole answer about a gang: whether it fits, the rules that it does not keep, which pods
// would have to go for it, and what would fit instead. The verdict comes first; all of it shares one
// budget of steps.
func Answer(ctx context.Context, s *cluster.Snapshot, g gang.Gang) fit.Result {
	return Within(ctx, s, g, fit.NewBudget(fit.Steps))
}

// Within is Answer within a budget of the caller.
func Within(ctx context.Context, s *cluster.Snapshot, g gang.Gang, b *fit.Budget) fit.Result {
	if !b.Until(ctx) {
		return fit.Fit(ctx, s, g, b) // which says why there is no answer
	}
	g = quota.Stored(s, g)
	parts := fit.InParts(s, g)
	r, cycle := fit.Solve(s, parts, b)
	defer cycle.Release()
	if b.Gone {
		return r
	}
	fit.AddViolations(s, &r, g)
	moveAside(s, &r, parts, b)
	if within := withinQuota(s, parts, &r, cycle); within != "" {
		r.Changes = append(r.Changes, within)
	}
	if r.Refused() {
		q := suggest(s, parts, &r, cycle)
		r.Changes, r.Numbers = append(r.Changes, q.found...), q.numbers
		r.Idle = q.onceIdle()
		if len(q.found) == 0 {
			r.Smaller = q.smallerRefused(b)
		}
		r.Assumed = append(r.Assumed, q.passed...)
	}
	if len(r.Changes) > 0 {
		r.Change = r.Changes[0]
	}
	return r
}
