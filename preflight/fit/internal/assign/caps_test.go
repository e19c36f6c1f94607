package assign

import (
	"testing"

	"github.com/signalbox-dev/signalbox/test/build"
)

// TestMemoryBeyondWhatIsKeptIsNotKept is about the memory that answers are worked out in: above its limits
// it is made anew, and what is in it is the same.
func TestMemoryBeyondWhatIsKeptIsNotKept(t *testing.T) {
	s := build.Cluster(build.Nodes(1, "n")...)
	for _, n := range []int{mostKept, mostKept + 1} {
		cycle := &Cycle{s: s, Arena: &arena{}}
		cycle.Arena.block = make([]int32, n)
		m := cycle.Arena
		m.block[n-1] = 7
		for _, zero := range cycle.Numbers(n) {
			if zero != 0 {
				t.Fatalf("of %d numbers one is %d; want zeros", n, zero)
			}
		}
		*cycle.onNodes() = make([]NodePods, n)
		cycle.Release()
		if kept := len(m.block) > 0; kept != (n <= mostKept) {
			t.Errorf("a block of %d numbers is kept: %t", n, kept)
		}
		if kept := m.onNodes != nil; kept != (n <= mostKept) {
			t.Errorf("room for pods on %d nodes is kept: %t", n, kept)
		}
	}
	m := &arena{}
	all := make([]*Assignment, mostDesks+1)
	for i := range all {
		all[i] = &Assignment{PodSets: make([]*PodSet, 1), Column: []int{0}}
		m.prepare(all[i])
		all[i].binCounts = append(all[i].binCounts, int32(i))
	}
	for i, p := range all {
		if p.binCounts[0] != int32(i) {
			t.Errorf("assignment %d holds %d: two share their memory", i, p.binCounts[0])
		}
	}
	if len(m.handedOut) != mostDesks {
		t.Errorf("%d assignments work in the memory that is kept; want %d", len(m.handedOut), mostDesks)
	}
	cycle := &Cycle{s: s, Arena: m}
	cycle.Release()
	if len(m.handedOut) != 0 || len(m.slots) != mostDesks {
		t.Errorf("%d assignments still work in what was given back, %d rooms are kept", len(m.handedOut), len(m.slots))
	}
}

// TestATryThatCostsTooMuchCostsNoOther is about what one suggestion may cost.
func TestATryThatCostsTooMuchCostsNoOther(t *testing.T) {
	for _, more := range []int{0, 1} {
		b := NewBudget(MostSteps)
		done := b.Try(MostTrySteps)
		made := b.Spend(MostTrySteps) && (more == 0 || b.Spend(more))
		if enough := done(); made != (more == 0) || enough != made {
			t.Errorf("%d steps: made %t, enough %t", MostTrySteps+more, made, enough)
		}
		if !b.Spend(1) || b.Over != "" || b.Used() > MostTrySteps+1 {
			t.Errorf("after a try of %d steps no other may be made: %q, %d used", MostTrySteps+more, b.Over, b.Used())
		}
	}
}
