package fit_test

import (
	"runtime"
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
)

// What one change of an object copies does not grow with the objects of its kind, and the
// snapshots copy of the other kinds nothing.
func TestAChangeOfAnObjectCopiesLittle(t *testing.T) {
	const nodes, changes, perSnapshot, mostBytes = 5000, 4000, 100, 4000
	l := &cluster.Store{}
	attachAll(l, nodes)
	for _, kind := range []string{"claims", "volumes", "attachments"} {
		t.Run(kind, func(t *testing.T) {
			snapshotOf(l)
			var taken uint64
			var before, after runtime.MemStats
			for i := 0; i < changes; i += perSnapshot {
				events := make([]func(*cluster.Store), perSnapshot)
				for at := range events {
					events[at] = churnStored(kind, i+at, nodes)
				}
				runtime.ReadMemStats(&before)
				for _, happen := range events {
					happen(l)
				}
				snapshotOf(l)
				runtime.ReadMemStats(&after)
				taken += after.TotalAlloc - before.TotalAlloc
			}
			if each := taken / changes; each > mostBytes {
				t.Errorf("one change takes %d bytes, the snapshot included; want at most %d", each, mostBytes)
			}
		})
	}
}
