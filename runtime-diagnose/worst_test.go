package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// A line that only its program calls an error counts near the end of a log: what much else follows was
// outlived, whatever the words.
func TestTheWorstLineCountsNearTheEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		after int
		found bool
	}{
		"at the end":       {0, true},
		"forty lines":      {40, true},
		"one line more":    {41, false},
		"half of the file": {4000, false},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			b.WriteString("start\nagent: ERROR the lease of the tuner is gone\n")
			for i := range tc.after {
				fmt.Fprintf(&b, "uploading part %s\n", strings.Repeat("x", i%7+1))
			}
			r := read(t, "", strings.NewReader(b.String()))
			if found := r.Root != nil && strings.Contains(r.Root.Line, "the lease of the tuner is gone"); found != tc.found {
				t.Errorf("verdict %s, root %v; want it found: %v", r.Verdict, r.Root, tc.found)
			}
			if tc.found && r.Root.Standing != diagnose.Hypothesis {
				t.Errorf("it is %s", r.Root.Standing)
			}
		})
	}
}
