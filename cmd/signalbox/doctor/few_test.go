package doctor

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// Of many namespaces five are named, and the others counted.
func TestNamespacesAreNamedOrCounted(t *testing.T) {
	for n, want := range map[int]string{5: "n4", 6: "and 1 more", 300: "and 295 more"} {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("n%d", i))
		}
		before := slices.Clone(all)
		if got := firstNames(all); got[len(got)-1] != want || len(got) > 6 || !slices.Equal(all, before) {
			t.Errorf("of %d: %v; want %s at the end", n, got, want)
		}
	}
}

// Clocks may be a minute apart, either way, and not more.
func TestClocksMayBeAMinuteApart(t *testing.T) {
	for skew, want := range map[time.Duration]string{
		time.Minute: partFine, -time.Minute: partFine, time.Minute + 1: partWrong, -time.Minute - 1: partWrong,
	} {
		var e examination
		(&doctor{skew: func() time.Duration { return skew }}).clock(&e)
		if len(e.Parts) != 1 || e.Parts[0].State != want {
			t.Errorf("%s apart: %+v; want %s", skew, e.Parts, want)
		}
	}
}
