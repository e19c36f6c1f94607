// Package resident says how much memory a process has in use, or had at most, for tests and benchmarks.
package resident

import (
	"bytes"
	"math"
	"os"
	"runtime"
	"strconv"
)

// Forget makes Linux begin anew with the peak (proc(5), clear_refs). Elsewhere the peak is that of the
// whole run.
func Forget() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// Peak is the most resident memory since then, in MiB; 0 where nobody says.
func Peak() float64 { return of("self", "VmHWM") }

// PeakOf is the most resident memory that another process ever had, in MiB; 0 where nobody says.
func PeakOf(pid int) float64 { return Of(pid, "VmHWM") }

// Of is a field of what Linux says of a process in kilobytes, in MiB (proc(5), status: VmRSS, RssFile, RssAnon); 0 where
// nobody says.
func Of(pid int, field string) float64 { return of(strconv.Itoa(pid), field) }

func of(process, field string) float64 {
	status, err := os.ReadFile("/proc/" + process + "/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte(field+":")); ok {
			n, _ := strconv.ParseFloat(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte("kB")))), 64)
			return n / 1024
		}
	}
	return 0
}

// Live is what lives of this process' heap, in bytes and in objects, once nothing more goes of what was left before: pools and
// weak references take a few collections.
func Live() (size, objects int64) {
	objects = math.MaxInt64
	for range 20 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if int64(m.HeapObjects) >= objects {
			break
		}
		size, objects = int64(m.HeapAlloc), int64(m.HeapObjects)
	}
	return size, objects
}
