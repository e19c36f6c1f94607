// Package gang looks at the members of one job side by side: whose clock can be compared
// with whose, who surely failed before whom, whose end another member explains, and which
// rank a collective waited for. It reads no logs and knows no kinds of failure by name; what
// it is given are members, times and sightings.
//
// Three rules carry it, and each holds whatever the program is:
//
//   - A cause is not later than its consequence. What a member shows first after another one
//     had already failed for a reason of its own cannot be the cause of that failure.
//   - Who says that somebody else went away, or that it was told to stop, did not go first.
//   - Two times from two clocks are ordered only if they are further apart than those clocks
//     may be.
//
// Start reading at Mark.
package gang

import (
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// Member is one pod of a job, or one bare log, as far as it was seen.
type Member struct {
	Place  string // see PlaceOf
	Source evidence.Source
	Clock  string // whose clock its times come from: see ClockOf

	Started  time.Time // zero: unknown
	Ended    time.Time // of the container that failed first; zero: it runs, or nobody says
	Done     time.Time // ended well; zero: it did not, or nobody says
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
	Says    string        // what it says of its end, in words; empty: nothing
	First   bool          // it is the one that failed first, or one of them
	Ahead   time.Duration // how far its clock is taken to be ahead of the API server's

	Calls []Call // what its watchdogs said
	Alike int    // how many more say what it says, of which nothing else is kept
}

// PlaceOf names the member that a source belongs to: its pod, else its file.
func PlaceOf(s evidence.Source) string {
	if s.Pod != "" {
		return s.Pod
	}
	return s.File
}

// ownPrefix begins the names of clocks that only a program's own stamps show: of which zone,
// nobody says.
const ownPrefix = "own/"

// OwnClock names the clock of a program's own stamps in a place's log.
func OwnClock(place string) string { return ownPrefix + place }

// agePrefix begins the names of clocks of ages: those of one text are the same, and when it was printed nobody
// says, only that it was before now.
const agePrefix = "age/"

// AgeClock names the clock of ages that a pasted text prints.
func AgeClock(file string) string { return agePrefix + file }

// ClockOf names the clock that wrote the times of a source. Everything a node's kubelet and
// container runtime write comes from one clock; what nobody places on a node has its own.
func ClockOf(s evidence.Source) string {
	switch {
	case s.Node != "":
		return s.Node
	case s.Pod != "":
		return "pod/" + s.Pod
	case s.File != "":
		return "file/" + s.File
	default:
		return "" // the API server's
	}
}

// Headcount counts those that take part, with the ones of which nothing else is kept.
func Headcount(all []Member) int {
	n := 0
	for i := range all {
		n += 1 + all[i].Alike
	}
	return n
}
