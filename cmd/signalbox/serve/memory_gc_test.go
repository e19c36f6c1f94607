package serve

import (
	"context"
	"runtime/debug"
	"testing"
	"testing/synctest"
)

func TestAServerCollectsSoonerUnlessToldOtherwise(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	for of, want := range map[string]int{"": leastGC, "200": 100, "off": 100} {
		t.Setenv("GOGC", of)
		debug.SetGCPercent(100)
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			stop()
			collectSooner(ctx)
		})
		if got := debug.SetGCPercent(100); got != want {
			t.Errorf("GOGC=%q: %d %%; want %d", of, got, want)
		}
	}
}

// A heap grows by so many bytes, whatever lives; a small one by a part at the most, a very large one by a part all the same.
func TestAHeapGrowsByTheSameHoweverLargeItIs(t *testing.T) {
	const room = 60 << 20
	for live, want := range map[uint64]int{
		0: 65, 10 << 20: 65, room * 100 / 65: 65, room * 100 / 64: 64, 2 * room: 50, 4 * room: 25, room * 100 / 15: 15, room*100/15 + 1<<20: 15, 1 << 40: 15,
	} {
		if got := percentOf(live); got != want {
			t.Errorf("of %d bytes: %d %%; want %d", live, got, want)
		}
	}
}

// While a list is read, of which much comes and little stays, a heap may grow by little; else by what is usual.
func TestAHeapMayGrowLessWhileMoreAndMoreLives(t *testing.T) {
	const mib = 1 << 20
	var p pastHeap
	look := func(want int, live ...uint64) {
		t.Helper()
		for _, n := range live {
			if got := p.percent(n * mib); got != want {
				t.Errorf("look %d, at %d MiB: %d %%; want %d", p.next, n, got, want)
			}
		}
	}
	look(leastGC, 20, 40, 60, 80, 100, 100, 100, 100) // the first list, and nothing to hold it against
	look(leastGC, 100, 100, 100)                      // two seconds ago less lived
	look(60, 100, 100)
	look(50, 120) // what is in work comes and goes
	look(48, 125)
	look(leastGC, 126, 180, 240) // a list is read anew
	look(60, 100)
}
