package main

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// memoryLimit is set by the Deployment to the memory limit of the container, in bytes.
const memoryLimit = "SIGNALBOX_MEMORY_LIMIT"

// serverGC is how much the heap of a server may grow between two collections, in percent of what lives. Nearly all of it
// is the view of the cluster, which stays: as much again, as Go would have it, is memory that somebody pays for and
// nobody uses. A collection looks at what lives, and of that most holds no pointers.
const serverGC = 50

// collectSooner keeps the heap of a server small. GOGC, where it is set, is left as it is.
func collectSooner() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(serverGC)
	}
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
