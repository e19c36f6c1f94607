package assign

import (
	"slices"
	"sync"
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

func TestWhatIsNotRememberedIsWorkedOutAgain(t *testing.T) {
	forgot, rows := 0, 1<<18
	m := &Memo{}
	for i := range rows {
		if m.Has([]uint32{uint32(i), 1, 2, 3, 4, 5}, 0) {
			t.Fatalf("row %d is known, and was not there", i)
		}
	}
	for i := range rows {
		if !m.Has([]uint32{uint32(i), 1, 2, 3, 4, 5}, 0) {
			forgot++
		}
	}
	if forgot == 0 || forgot == rows || len(m.rows) > 1<<20 {
		t.Errorf("%d of %d rows are forgotten, %d numbers are kept", forgot, rows, len(m.rows))
	}
}

// TestAnswersAtTheSameTimeShareNoMemory is for the race detector: what one answer gives back is another's, and never both have it.
func TestAnswersAtTheSameTimeShareNoMemory(t *testing.T) {
	s := build.Cluster(build.Nodes(1, "n")...)
	var wait sync.WaitGroup
	for mine := range int32(8) {
		wait.Go(func() {
			for range 200 {
				cycle := NewCycle(s, gang.Gang{}, NewBudget(MostSteps))
				numbers, memo := cycle.Numbers(64), cycle.Memo()
				for i, n := range numbers {
					if n != 0 {
						t.Errorf("number %d is %d in fresh memory", i, n)
						return
					}
					numbers[i] = mine
				}
				if memo.Has([]uint32{uint32(mine)}, 0) {
					t.Error("a fresh memo remembers a row")
				}
				if slices.ContainsFunc(numbers, func(n int32) bool { return n != mine }) {
					t.Error("two answers work in the same memory")
				}
				cycle.Release()
			}
		})
	}
	wait.Wait()
}
