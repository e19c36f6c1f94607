package assign

import (
	"context"
	"errors"
	"fmt"
)

// MostSteps is what one question may cost, in steps of some nanoseconds each: the verdict comes
// first, and what would fit instead is looked for with what is left.
const MostSteps = 3 << 18

// MostTrySteps is what one suggestion that is tried may cost: what cannot be decided within it is
// not suggested, and the others have their turn.
const MostTrySteps = MostSteps / 16

// stepsPerLook is the number of steps after which the context is looked at again.
const stepsPerLook = 1024

// Budget counts the steps of one question, the verdict and all that is said beside it. It is
// counted, never timed: a question has the same answer on every machine, unless its context ends.
type Budget struct {
	err  func() error // of the context
	most int
	used int
	next int    // what is used when the context is looked at again
	Over string // why no step is left; empty: there are some
	Gone bool   // because nobody waits for the answer

	until int  // what is used when the try that is on must end; 0: none is on
	tired bool // it had to
}

// NewBudget is a budget of so many steps, which ends with the context, too.
func NewBudget(ctx context.Context, most int) *Budget {
	b := &Budget{err: ctx.Err, most: most}
	b.look()
	return b
}

// Spend counts steps that are to be made. False means that they must not be: what was found so
// far is of no use.
func (b *Budget) Spend(steps int) bool {
	if b.Over != "" || b.tired {
		return false
	}
	if steps > b.most-b.used {
		b.Over = fmt.Sprintf("the answer takes more than the %d steps that a question may cost", b.most)
		return false
	}
	if b.until > 0 && b.used+steps > b.until {
		b.tired = true
		return false
	}
	if b.used += steps; b.used >= b.next {
		b.look()
	}
	return b.Over == ""
}

// look asks whether somebody still waits for the answer.
func (b *Budget) look() {
	b.next = b.used + stepsPerLook
	switch err := b.err(); {
	case err == nil:
	case errors.Is(err, context.DeadlineExceeded):
		b.Gone = true
		b.Over = "the time was up before the answer was found"
	default:
		b.Gone = true
		b.Over = "the question was withdrawn before the answer was found"
	}
}

// Try gives so many steps to what follows; done ends it and says whether they were enough.
func (b *Budget) Try(steps int) (done func() bool) {
	b.until = b.used + steps
	return func() bool {
		enough := !b.tired && b.Over == ""
		b.until, b.tired = 0, false
		return enough
	}
}

// Used is how many steps were made.
func (b *Budget) Used() int { return b.used }

// StepsPerMatch is what it costs to compare the pods of a pod set with a selector.
const StepsPerMatch = 10
