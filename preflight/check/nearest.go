package check

import (
	"fmt"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Suggestion is the name that a slip may have meant; the zero value: none is near.
type Suggestion struct{ name string }

// Name is the name that is suggested; empty: none is.
func (s Suggestion) Name() string { return s.name }

// String is "; did you mean X?", or nothing.
func (s Suggestion) String() string {
	if s.name == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", s.name)
}

// DidYouMean suggests the name that a typing slip is closest to, or nothing where no name is close. The first of
// equally close names wins.
func DidYouMean(name string, names []string) Suggestion {
	best, at := len([]rune(name))/3+2, -1
	for i, n := range names {
		if d := distance(name, n, best); d < best {
			best, at = d, i
		}
	}
	if at < 0 {
		return Suggestion{}
	}
	return Suggestion{names[at]}
}

// Nearest is the name that at most so many slips of the pen are between; empty: none is. The
// first of equally near names wins.
func Nearest(name string, names []string, slips int) string {
	best := ""
	for _, n := range names {
		if d := distance(name, n, slips+1); d > 0 && d <= slips {
			best, slips = n, d-1
		}
	}
	return best
}

// mostCompared is how many bytes of a name are compared, as many as a name of Kubernetes has: the time grows with the
// product of two lengths, and two of 400,000 letters in one job would take minutes.
const mostCompared = 253

// distance is how many slips are between two names, or most where that many or more are: longer ones than there are are not
// compared. Another case is one slip, however many letters have it.
func distance(a, b string, most int) int {
	if a != b && strings.EqualFold(a, b) {
		return min(1, most)
	}
	if max(len(a), len(b)) > mostCompared {
		return most
	}
	return words.Distance(a, b, most-1)
}
