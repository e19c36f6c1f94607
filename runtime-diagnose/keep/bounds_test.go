package keep

import (
	"fmt"
	"strings"
	"testing"
)

// A long traceback keeps its head however far above it stands, as long as few others began within it; its end is kept in any case.
func TestHeadsOfTracebacksAreRememberedUpToABound(t *testing.T) {
	for within, want := range map[int]bool{0: true, 63: true, 64: false, 1000: false} {
		var b strings.Builder
		b.WriteString(strings.Repeat("working on it, which takes a while\n", 1500))
		b.WriteString("[rank0]: Traceback (most recent call last):\n")
		for rank := range within {
			fmt.Fprintf(&b, "[rank%d]: Traceback (most recent call last):\n", rank+1)
		}
		for i := range 300 {
			fmt.Fprintf(&b, "[rank0]:   File \"a.py\", line %d, in f\n[rank0]:     g()\n", i)
		}
		b.WriteString("[rank0]: odd.BrokenError: it broke\n")
		e := excerpt(b.String())
		head, end := false, false
		for _, l := range e.Lines {
			head = head || l.Number == 1501
			end = end || strings.HasSuffix(l.Text, "it broke")
		}
		if head != want || !end || len(e.Hits) != 1 || e.Hits[0].First != 1501 || e.Read != 1500+1+within+601 {
			t.Errorf("with %d others its head is kept: %t, want %t; its end: %t; hits %v", within, head, want, end, e.Hits)
		}
	}
}

// What a clean-up at the end prints of exceptions that nobody waits for is left out, however much of it there is.
func TestExceptionsThatAreIgnoredAreLeftOutHoweverMany(t *testing.T) {
	for _, n := range []int{1, 999, 1000, 1001, 5001, 12_000} {
		var b strings.Builder
		b.WriteString(strings.Repeat("working on it, which takes a while\n", 1500))
		for i := range n {
			fmt.Fprintf(&b, "Exception ignored in: <function Loader.__del__ at 0x7f>\nTraceback (most recent call last):\n  File \"a.py\", line 7, in __del__\nodd.GoneError: it is gone %d\n", i)
		}
		for _, l := range excerpt(b.String()).Lines {
			if strings.Contains(l.Text, "odd.GoneError") || strings.Contains(l.Text, "Traceback") {
				t.Errorf("of %d exceptions that nobody waits for line %d is kept: %s", n, l.Number, l.Text)
				break
			}
		}
	}
}
