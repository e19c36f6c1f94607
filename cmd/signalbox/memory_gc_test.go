package main

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

// A heap grows by so many bytes, whatever lives; a small one by half at the most, a very large one by a part all the same.
func TestAHeapGrowsByTheSameHoweverLargeItIs(t *testing.T) {
	for live, want := range map[uint64]int{
		0: mostGC, 10 << 20: mostGC, 2 * roomToGrow: mostGC, 2*roomToGrow + 2<<20: mostGC - 2, 4 * roomToGrow: 25,
		roomToGrow * 100 / leastGC: leastGC, roomToGrow*100/leastGC + 1<<20: leastGC, 1 << 40: leastGC,
	} {
		if got := percentOf(live); got != want {
			t.Errorf("of %d bytes: %d %%; want %d", live, got, want)
		}
	}
}
