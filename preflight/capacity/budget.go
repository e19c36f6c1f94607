package capacity

import (
	"context"
	"errors"
	"fmt"
)

// mostSteps is what one question may cost, in steps of some nanoseconds each: the verdict comes
// first, and what would fit instead is looked for with what is left.
const mostSteps = 3 << 18

// mostTrySteps is what one suggestion that is tried may cost: what cannot be decided within it is
// not suggested, and the others have their turn.
const mostTrySteps = mostSteps / 16

// stepsPerLook is the number of steps after which the context is looked at again.
const stepsPerLook = 1024

// budget counts the steps of one question, the verdict and all that is said beside it. It is
// counted, never timed: a question has the same answer on every machine, unless its context ends.
type budget struct {
	err  func() error // of the context
	most int
	used int
	next int    // what is used when the context is looked at again
	over string // why no step is left; empty: there are some
	gone bool   // because nobody waits for the answer

	until int  // what is used when the try that is on must end; 0: none is on
	tired bool // it had to
}

func newBudget(ctx context.Context, most int) *budget {
	b := &budget{err: ctx.Err, most: most}
	b.look()
	return b
}

// spend counts steps that are to be made. False means that they must not be: what was found so
// far is of no use.
func (b *budget) spend(steps int) bool {
	if b.over != "" || b.tired {
		return false
	}
	if steps > b.most-b.used {
		b.over = fmt.Sprintf("the answer takes more than the %d steps that a question may cost", b.most)
		return false
	}
	if b.until > 0 && b.used+steps > b.until {
		b.tired = true
		return false
	}
	if b.used += steps; b.used >= b.next {
		b.look()
	}
	return b.over == ""
}

// look asks whether somebody still waits for the answer.
func (b *budget) look() {
	b.next = b.used + stepsPerLook
	switch err := b.err(); {
	case err == nil:
	case errors.Is(err, context.DeadlineExceeded):
		b.gone = true
		b.over = "the time was up before the answer was found"
	default:
		b.gone = true
		b.over = "the question was withdrawn before the answer was found"
	}
}

// try gives so many steps to what follows; done ends it and says whether they were enough.
func (b *budget) try(steps int) (done func() bool) {
	b.until = b.used + steps
	return func() bool {
		enough := !b.tired && b.over == ""
		b.until, b.tired = 0, false
		return enough
	}
}
