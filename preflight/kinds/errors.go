package kinds

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// ReadError lists everything that kept an object from being read whole.
type ReadError struct {
	Kind     string
	Problems []Problem // in the order they were met
}

// Problem is one place that could not be read.
type Problem struct {
	Path job.Path
	Have string // what is written there, cut short
	Want string // what was expected
}

func (p Problem) String() string {
	where := cmp.Or(string(p.Path), "the object")
	return fmt.Sprintf("%s is %s; expected %s", where, p.Have, p.Want)
}

func (e *ReadError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return fmt.Sprintf("read %s: %s", e.Kind, strings.Join(lines, "; "))
}
