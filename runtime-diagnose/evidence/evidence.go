// Package evidence holds what a diagnosis rests on: single observations with an ID that
// can be printed and cited. Values only; texts are masked before they come here.
package evidence

import "time"

// ID names one item for ever: "pod/worker-3/trainer#18231", "event/train/FailedScheduling#2",
// "job/train/status". Stable, printable, citable.
type ID string

// Kind is where an observation comes from.
type Kind string

const (
	Log    Kind = "log"    // a line, or a traceback, of a container's log
	Event  Kind = "event"  // a Kubernetes event
	Status Kind = "status" // a condition or phase of the job, a pod or an object between
	Exit   Kind = "exit"   // how a container ended: code, signal, reason
	Node   Kind = "node"   // a node's condition, taint or kernel message
	Metric Kind = "metric" // a measured value
	Frame  Kind = "frame"  // the innermost frame of a traceback whose last line no signature knows
)

// Item is one observation.
type Item struct {
	ID     ID        `json:"id"`
	Kind   Kind      `json:"kind"`
	At     time.Time `json:"at,omitzero"` // zero: not known
	Clock  string    `json:"-"`           // whose clock At is from; empty: the API server's
	Latest bool      `json:"-"`           // At is the latest that it can have been, by an age in a pasted text: it orders, and is never told
	Source Source    `json:"-"`
	Text   string    `json:"text"`  // masked
	Times  int       `json:"times"` // identical copies folded into this one; at least 1
}

// Told is when it was, for people; zero where only a bound is known.
func (i Item) Told() time.Time {
	if i.Latest {
		return time.Time{}
	}
	return i.At
}

// Source is who was observed; empty fields are unknown. Rank is -1 where unknown.
type Source struct {
	Pod, Container, Role, Node, File string
	Rank, Line                       int
	Attempt                          int // 0: current; 1: the container before; …
}
