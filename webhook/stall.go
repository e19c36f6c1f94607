package webhook

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// beats is how often the process notes that it runs.
	beats = 100 * time.Millisecond
	// stalledAfter is how long it must have stood still for an answer to be in doubt: part of what the API server
	// waits (timeoutSeconds) may have passed before, on its side.
	stalledAfter = time.Second
)

// stall knows whether the process stood still of late: stopped, starved or frozen with its machine. What it
// answered to requests that had waited meanwhile, nobody may have heard.
type stall struct {
	mu    sync.Mutex
	beat  time.Time // zero: it is not watched
	until time.Time
}

// watch notes that the process runs until the context is done.
func (s *stall) watch(ctx context.Context, now func() time.Time) {
	wait.UntilWithContext(ctx, func(context.Context) { s.note(now()) }, beats)
}

func (s *stall) note(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.beat.IsZero() && now.Sub(s.beat) > stalledAfter {
		s.until = now.Add(stalledAfter)
	}
	s.beat = now
}

// lately says whether the process stood still, or had so short a time ago that a request may have waited for it.
func (s *stall) lately(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.beat.IsZero() && now.Sub(s.beat) > stalledAfter || now.Before(s.until)
}
