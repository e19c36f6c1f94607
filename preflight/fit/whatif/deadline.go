package whatif

import (
	"time"

	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Bound is how long a job may still run, and the field that says so.
type Bound struct {
	Rest  time.Duration
	Field string
}

// String is "at the latest in 2.2 h, when activeDeadlineSeconds is over".
func (b Bound) String() string {
	if b.Rest <= 0 {
		return "soon: its " + b.Field + " is over"
	}
	return "at the latest in " + words.Short(b.Rest) + ", when " + b.Field + " is over"
}

// atLatest is ", at the latest in 2.2 h …", where the time of every job that has to end is bounded; a job that
// may run for ever bounds nothing.
func atLatest(jobs []*runningJob, left func(namespace, name string) (bound Bound, ok bool)) string {
	if left == nil {
		return ""
	}
	var last Bound
	for i, j := range jobs {
		bound, ok := left(j.namespace, j.name)
		if !ok {
			return ""
		}
		if i == 0 || bound.Rest > last.Rest {
			last = bound
		}
	}
	if last.Rest <= 0 {
		return ", whose " + last.Field + " is over"
	}
	return ", " + last.String()
}
