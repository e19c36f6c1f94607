// Package backoff says how often the same is written where somebody else takes it away: a controller that keeps an object as it
// is in git, or its author in a loop. What is new is written at once, what was written already after a pause that doubles.
//
// Start reading at Written.
package backoff

import "time"

const (
	// First is the pause after what is written for the first time.
	First = time.Second
	// mostPause is the longest one. What was not written for twice as long is new.
	mostPause = 5 * time.Minute
)

// Written is what was written last. The zero value is nothing.
type Written[T comparable] struct {
	what  T
	at    time.Time
	pause time.Duration
}

// Wait is how long something is not written because it was before; 0: it may be.
func (w *Written[T]) Wait(what T, now time.Time) time.Duration {
	if w.at.IsZero() || w.what != what {
		return 0
	}
	return max(0, w.at.Add(w.pause).Sub(now))
}

// Note says that something was written.
func (w *Written[T]) Note(what T, now time.Time) {
	pause := First
	if w.what == what && !w.at.IsZero() && now.Sub(w.at) <= 2*mostPause {
		pause = min(2*w.pause, mostPause)
	}
	*w = Written[T]{what, now, pause}
}
