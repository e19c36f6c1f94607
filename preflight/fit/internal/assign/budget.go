package assign

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// MostSteps is what one question may cost, in steps of some nanoseconds each: the verdict comes
// first, and what would fit instead is looked for with what is left.
const MostSteps = 3 << 18

// MostTrySteps is what one suggestion that is tried may cost: what cannot be decided within it is
// not suggested, and the others have their turn.
const MostTrySteps = MostSteps / 16

// MostIdleSteps is what it may cost to find out whether the pods of a stage would fit on the idle cluster:
// it is asked once they do not fit now, which stays so.
const MostIdleSteps = MostSteps / 4

// stepsPerLook is the number of steps after which the context is looked at again.
const stepsPerLook = 1024

// Budget counts the steps of one question, the verdict and all that is said beside it. It is
// counted, never timed: a question has the same answer on every machine, unless its context ends. It
// serves one goroutine; several questions may share one, and are answered with what is left.
type Budget struct {
	err  func() error // of the context; nil: none has been given
	most int
	used int
	next int    // what is used when the context is looked at again
	Over string // why no step is left; empty: there are some
	Gone bool   // because no caller waits for the answer

	until int  // what is used when the try that is on must end; 0: none is on
	tired bool // it had to
}

// NewBudget is a budget of so many steps; of 0 or less nothing is answered.
func NewBudget(steps int) *Budget { return &Budget{most: max(0, steps)} }

// Until ends the budget with a context, too. False means that nothing can be asked any more.
func (b *Budget) Until(ctx context.Context) bool {
	b.err = ctx.Err
	b.look()
	return b.Spend(1)
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

// look asks whether a caller still waits for the answer.
func (b *Budget) look() {
	b.next = b.used + stepsPerLook
	if b.err == nil {
		return
	}
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

// Try gives so many steps to what follows; done ends it and says whether they were enough. A try within
// a try has no more than that has left.
func (b *Budget) Try(steps int) (done func() bool) {
	outer := b.until
	b.until = b.used + steps
	cut := outer > 0 && outer < b.until
	if cut {
		b.until = outer
	}
	return func() bool {
		enough := !b.tired && b.Over == ""
		b.until, b.tired = outer, b.tired && cut
		return enough
	}
}

// Why is the reason for which no steps are left; empty: some are.
func (b *Budget) Why() string {
	if b.Over == "" && b.tired {
		return "the answer takes more steps than one try may cost"
	}
	return b.Over
}

// Used is how many steps were made.
func (b *Budget) Used() int { return b.used }

// stepsPerLabel is what it costs to compare a label of a node with what a pod chooses by.
const stepsPerLabel = 4

// StepsOfSelecting is what it costs to ask a node whether a pod chooses it.
func StepsOfSelecting(spec *corev1.PodSpec) int {
	n := 1 + len(spec.NodeSelector)
	if required := podspec.NodeAffinity(spec); required != nil {
		for _, t := range required.NodeSelectorTerms {
			n += len(t.MatchExpressions) + 4*len(t.MatchFields)
		}
	}
	return n * stepsPerLabel
}

// stepsOfLabels is what it costs to part nodes by labels: little for as many as pods have that people write,
// whose values are kept numbered; for more they have to be numbered anew, at one go.
func stepsOfLabels(nodes, keys int) int {
	const kept, anew = 8, 30
	return saturate.Mul(nodes, saturate.Add(keys, saturate.Mul(anew, max(0, keys-kept))))
}

// stepsPerPod is what it costs to look at the labels of a pod that is there.
const stepsPerPod = 3

// StepsPerMatch is what it costs to compare the pods of a pod set with a selector.
const StepsPerMatch = 10
