package whatif

import (
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/gang"
)

// onceIdle says with what change the gang would fit once nothing runs on the nodes, where they never hold it as it is and
// no change helps now: fewer pods, or a toleration, or both. Empty: none is known.
func (q *suggester) onceIdle() string {
	if q.was.Verdict != fit.TooBig || len(q.found)+len(q.halves) > 0 {
		return ""
	}
	if fewer, ok := q.fewest(q.fitsIdle); ok {
		return "on idle nodes it fits with " + q.fewer(fewer) + q.arguments(fewer)
	}
	for _, taint := range q.taints() {
		tolerant := q.on(taint.gang)
		text := "on idle nodes it fits with a toleration of the taint " + taint.text
		if tolerant.fitsIdle(tolerant.gang) {
			return text
		}
		fewer, ok := tolerant.fewest(tolerant.fitsIdle)
		q.tries = tolerant.tries
		if ok {
			return text + ", and " + tolerant.fewer(fewer) + tolerant.arguments(fewer)
		}
	}
	return ""
}

// fitsIdle says that a changed gang is proven to fit once nothing runs on the nodes but what stays.
func (q *suggester) fitsIdle(g gang.Gang) bool {
	if q.tries++; q.over(q.cycle.Budget) || q.tries > mostTries {
		return false
	}
	done := q.cycle.Budget.Try(assign.MostTrySteps)
	fits := fit.FitsIdle(assign.NewSolver(q.s, g, q.cycle))
	return done() && fits
}
