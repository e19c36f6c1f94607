// Package timeline looks at the members of one job side by side: whose clock can be compared
// with whose, which surely failed before which, whose end another member explains, and which
// rank a collective waited for. It reads no logs and knows no kinds of failure by name; what
// it is given are members, times and sightings.
//
// Three rules carry it, and each holds whatever the program is:
//
//   - A cause is not later than its consequence. What a member shows first after another one
//     had already failed for a reason of its own cannot be the cause of that failure.
//   - A member that says that another went away, or that it was told to stop, did not go first.
//   - Two times from two clocks are ordered only if they are further apart than those clocks
//     may be.
//
// Start reading at Mark.
package timeline

import (
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// Member is one pod of a job, or one bare log, as far as it was seen.
type Member struct {
	Place  string // see evidence.Source.Place
	Source evidence.Source
	Clock  string // whose clock its times come from: see evidence.Source.Clock

	Started  time.Time // zero: unknown
	Ended    time.Time // of the container that failed first; zero: it runs, or nothing says
	Done     time.Time // ended well; zero: it did not, or nothing says
	ExitCode int32
	Failed   bool // ended in failure, by the platform's word
	Running  bool

	Read       bool      // its log was read
	FirstLine  time.Time // zero: lines without times
	LastLine   time.Time
	LastText   string // masked
	LastNumber int

	Stepped time.Time     // its last line that shows training; zero: unknown
	Sign    time.Time     // its first sign of trouble; zero: none, or undated
	Carried bool          // Sign is that of a line above: it was no earlier
	Says    string        // what it says of its end, in words; empty: nothing
	First   bool          // it is the one that failed first, or one of them
	Ahead   time.Duration // how far its clock is taken to be ahead of the API server's

	Calls  []Call             // what its watchdogs said
	Before control.FormerLife // of the pod that had its name and place, and was taken from its node; zero: unknown
	Alike  int                // how many more say what it says, of which nothing else is kept
}

// Waits says that a member is a pod that has not started.
func (m *Member) Waits() bool {
	return m.Source.Pod != "" && !m.Failed && !m.Running && m.Done.IsZero() && m.Started.IsZero()
}

// Headcount counts those that take part, with the ones of which nothing else is kept.
func Headcount(all []Member) int {
	n := 0
	for i := range all {
		n += 1 + all[i].Alike
	}
	return n
}
