// Package evidence holds what a diagnosis rests on, and what its stages hand on to each other: the Bundle
// that was collected of a job, the observations that were made in it, and of each the Item that can be
// printed and cited. Values only; texts are masked before they come here.
//
// Start reading at Bundle.
package evidence

import (
	"fmt"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// ID names one item for ever: "pod/worker-3/trainer#18231", "event/train/FailedScheduling#2",
// "job/train/status". Stable, printable, citable.
type ID string

// Kind is where an observation comes from. Signatures say in which kinds they look.
type Kind = signature.Kind

// The kinds.
const (
	Log    = signature.Log
	Event  = signature.Event
	Status = signature.Status
	Exit   = signature.Exit
	Node   = signature.Node
	Metric = signature.Metric
	Frame  = signature.Frame
)

// Item is one observation.
type Item struct {
	ID      ID        `json:"id"`
	Kind    Kind      `json:"kind"`
	At      time.Time `json:"at,omitzero"`       // zero: not known
	Carried bool      `json:"carried,omitempty"` // At is that of a line above in the log: it was no earlier
	Clock   string    `json:"-"`                 // whose clock At is from; empty: the API server's
	Latest  bool      `json:"-"`                 // At is the latest that it can have been, by an age in a pasted text: it orders, and is never told
	Source  Source    `json:"-"`
	Text    string    `json:"text"`  // masked
	Times   int       `json:"times"` // identical copies folded into this one; at least 1
}

// Told is when it was, for people; zero where only a bound is known.
func (i Item) Told() time.Time {
	if i.Latest {
		return time.Time{}
	}
	return i.At
}

// Source is what was observed; empty fields are unknown. Rank is -1 where unknown.
type Source struct {
	Pod, Container, Role, Node, File string
	Rank, Line                       int
	Attempt                          int // 0: current; 1: the container before; …
}

// Name is how messages name a log.
func (s Source) Name() string {
	switch {
	case s.Pod != "" && s.Container != "":
		return s.Pod + "/" + s.Container
	case s.Pod != "":
		return s.Pod
	default:
		return s.File
	}
}

// LineID is "pod/worker-3/trainer#18231", or "log/train.log#7" for a bare file. A log of
// an earlier container has the number of restarts since behind the container's name.
func (s Source) LineID() ID {
	switch {
	case s.Pod == "":
		return ID(fmt.Sprintf("log/%s#%d", s.File, s.Line))
	case s.Attempt > 0:
		return ID(fmt.Sprintf("pod/%s/%s-before-%d#%d", s.Pod, s.Container, s.Attempt, s.Line))
	default:
		return ID(fmt.Sprintf("pod/%s/%s#%d", s.Pod, s.Container, s.Line))
	}
}

// Who is "worker-3 (Worker 3, node gpu-7)".
func (s Source) Who() string {
	name := s.Pod
	if name == "" {
		name = s.File
		if s.Rank >= 0 && name != "" {
			return fmt.Sprintf("%s, rank %d", name, s.Rank)
		}
		return name
	}
	var about []string
	if s.Role != "" && s.Rank >= 0 {
		about = append(about, fmt.Sprintf("%s %d", s.Role, s.Rank))
	} else if s.Rank >= 0 {
		about = append(about, fmt.Sprintf("rank %d", s.Rank))
	}
	if s.Node != "" {
		about = append(about, "node "+s.Node)
	}
	if len(about) > 0 {
		name += " (" + strings.Join(about, ", ") + ")"
	}
	return name
}
