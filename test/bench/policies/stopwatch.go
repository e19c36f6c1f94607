package main

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"github.com/signalbox-dev/signalbox/preflight"
)

// stopwatch measures what the policies of a review take: from the question whether any is to be
// asked, which stands right before their input is built, to their answer.
type stopwatch struct {
	preflight.Engine
	took, spent time.Duration
}

// InForce implements preflight.Engine.
func (s *stopwatch) InForce() preflight.Policies {
	return &watched{Policies: s.Engine.InForce(), by: s}
}

type watched struct {
	preflight.Policies
	by           *stopwatch
	since        time.Time
	spentAlready time.Duration
}

// Reads implements preflight.Selective.
func (w *watched) Reads(stage preflight.Stage, part string) bool {
	return w.Policies.(preflight.Selective).Reads(stage, part)
}

// Asks implements preflight.Selective.
func (w *watched) Asks(stage preflight.Stage) bool {
	w.since, w.spentAlready = time.Now(), spent()
	return w.Policies.(preflight.Selective).Asks(stage)
}

// Decide implements preflight.Policies.
func (w *watched) Decide(ctx context.Context, in preflight.Input, q preflight.Question) (preflight.Ruled, error) {
	ruled, err := w.Policies.Decide(ctx, in, q)
	w.by.took, w.by.spent = w.by.took+time.Since(w.since), w.by.spent+spent()-w.spentAlready
	return ruled, err
}

// spent is the processor time of this thread, by its clock: getrusage(2) counts in ticks of the
// scheduler, which are longer than what is measured here.
func spent() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
