package serve

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"time"
)

// memoryLimit is set by the Deployment to the memory limit of the container, in bytes.
const memoryLimit = "SIGNALBOX_MEMORY_LIMIT"

// How much the heap of a server may grow between two collections: roomToGrow, however large it is, and of a small one no more
// than mostGC percent. Nearly all that lives is the view of the cluster, which stays: a share of it, as Go would have it, is
// memory that somebody pays for and nobody uses. leastGC bounds what collecting costs where the view is very large, and is all
// there is where what lives grows: a list is read, of which much comes and little stays.
const (
	roomToGrow = 60 << 20
	leastGC    = 15
	mostGC     = 65
	// heapEvery is how often it is looked how much lives: a list is decoded in a second or two.
	heapEvery = 250 * time.Millisecond
	// heapLooks is how many looks what lives is held against: two seconds.
	heapLooks = 8
)

// collectSooner keeps the heap of a server small until the context is done. GOGC, where it is set, is left as it is.
func collectSooner(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	var seen pastHeap
	set := leastGC
	debug.SetGCPercent(set)
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	tick := time.NewTicker(heapEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		metrics.Read(live)
		if want := seen.percent(live[0].Value.Uint64()); want != set { // setting it stops the program for a moment
			set = want
			debug.SetGCPercent(set)
		}
	}
}

// pastHeap is what lived at the last looks, in a ring.
type pastHeap struct {
	live [heapLooks]uint64
	next int
}

// percent is how much the heap may grow now. Besides what stays, some of what is in work lives: by a quarter it grows only where
// more is to stay, or seems so.
func (p *pastHeap) percent(live uint64) int {
	least := slices.Min(p.live[:])
	p.live[p.next%heapLooks] = live
	p.next++
	if live > least+least/4 {
		return leastGC
	}
	return percentOf(live)
}

// percentOf is how much of what lives the heap may grow.
func percentOf(live uint64) int {
	return int(min(mostGC, max(leastGC, roomToGrow*100/max(live, 1))))
}

// boundMemory has the garbage collector work harder before the kernel ends the process: at nine
// tenths of what the container may use. GOMEMLIMIT, where it is set, is left as it is.
func boundMemory() (limit int64, of string) {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return 0, ""
	}
	// Version 2 of control groups, as a container sees its own
	// (https://docs.kernel.org/admin-guide/cgroup-v2.html#memory-interface-files).
	limit, of = memoryOf(os.Getenv(memoryLimit), "/sys/fs/cgroup/memory.max")
	if limit > 0 {
		debug.SetMemoryLimit(limit)
	}
	return limit, of
}

// memoryOf is nine tenths of the limit that is said, or else of that in the file; 0: there is none.
func memoryOf(said, file string) (limit int64, of string) {
	if n, err := strconv.ParseInt(said, 10, 64); err == nil && n > 0 {
		return n / 10 * 9, memoryLimit
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, ""
	}
	if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 { // "max": no limit
		return n / 10 * 9, file
	}
	return 0, ""
}
