package topology

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSetsHoldWhatMapsHold compares sets of more pod sets than a word has bits with maps.
func TestSetsHoldWhatMapsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 4))
	for range 300 {
		n := 1 + r.IntN(200)
		a, b := newPodSetSet(n), newPodSetSet(n)
		inA, inB := map[int]bool{}, map[int]bool{}
		counts := make([]int32, n)
		for i := range n {
			counts[i] = r.Int32N(5)
			if r.IntN(3) == 0 {
				a.add(i)
				inA[i] = true
			}
			if r.IntN(3) == 0 {
				b.add(i)
				inB[i] = true
			}
		}
		var both, either, only []int
		pods := int32(0)
		for i := range n {
			if inA[i] && inB[i] {
				both = append(both, i)
			}
			if inA[i] || inB[i] {
				either = append(either, i)
			}
			if inA[i] && !inB[i] {
				only = append(only, i)
			}
			if inA[i] {
				pods += counts[i]
			}
			if a.has(i) != inA[i] {
				t.Fatalf("%d of %d is in: %t", i, n, a.has(i))
			}
		}
		for what, got := range map[string][2][]int{
			"both": {slices.Collect(a.and(b).all()), both}, "either": {slices.Collect(a.with(b).all()), either}, "only": {slices.Collect(a.without(b).all()), only},
		} {
			if !slices.Equal(got[0], got[1]) {
				t.Fatalf("of %d, %s: %v, want %v", n, what, got[0], got[1])
			}
		}
		if a.meets(b) != (len(both) > 0) || a.empty() != (len(inA) == 0) || a.podsOf(counts) != pods || !a.equal(slices.Clone(a)) {
			t.Fatalf("of %d: meets %t, empty %t, %d pods; want %d pods, %d in both", n, a.meets(b), a.empty(), a.podsOf(counts), pods, len(both))
		}
	}
}
