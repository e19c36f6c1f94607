package render

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/fit"
)

func some(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("n%d", i))
	}
	return all
}

// Of what was taken for given the first are told, and the others counted; where they are the reasons of the answer, all are.
func TestWhatWasTakenForGivenIsToldOrCounted(t *testing.T) {
	for n, want := range map[int][]string{3: {"n0", "n1", "n2"}, 4: {"n0", "n1", "and 2 more: -o json lists all"}, 50: {"n0", "n1", "and 48 more: -o json lists all"}} {
		if diff := cmp.Diff(want, FewAssumed(some(n), fit.Fits)); diff != "" {
			t.Errorf("of %d (-want +got):\n%s", n, diff)
		}
		if got := FewAssumed(some(n), fit.Unknown); !slices.Equal(got, some(n)) {
			t.Errorf("of %d reasons %v are told", n, got)
		}
	}
}

// Of many checks that did not run for one reason four are named, and the others counted.
func TestChecksThatDidNotRunAreNamedOrCounted(t *testing.T) {
	for n, want := range map[int]string{terminal.MostNames: "n0, n1, n2, n3 (slow)", terminal.MostNames + 1: "n0, n1, n2, n3, n4 (slow)", terminal.MostNames + 2: "n0, n1, n2, n3 and 2 more (slow)"} {
		var r review.Reviewed
		for _, name := range some(n) {
			r.Skipped = append(r.Skipped, preflight.Skip{Check: name, Reason: "slow"})
		}
		if got := strings.Join(Unchecked(r), "\n"); !strings.HasSuffix(got, "not checked: "+want) {
			t.Errorf("of %d: %s; want %s", n, got, want)
		}
	}
}
