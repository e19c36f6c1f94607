package main

import (
	"runtime/debug"
	"testing"
)

func TestAServerCollectsSoonerUnlessToldOtherwise(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	for of, want := range map[string]int{"": serverGC, "200": 100, "off": 100} {
		t.Setenv("GOGC", of)
		debug.SetGCPercent(100)
		collectSooner()
		if got := debug.SetGCPercent(100); got != want {
			t.Errorf("GOGC=%q: %d %%; want %d", of, got, want)
		}
	}
}
