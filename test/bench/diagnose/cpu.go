package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/test/resident"
)

// ticks is how many units of /proc/PID/stat make a second (proc_pid_stat(5): sysconf(_SC_CLK_TCK), 100
// on every architecture that Linux runs Go on).
const ticks = 100

// child is a program that this one started.
type child struct {
	pid  int
	name string
	used time.Duration // of processors
}

// children are the programs that this one started; empty where there is no /proc.
func children() []child {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	var out []child
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state ppid …, and utime and stime as the 14th and 15th: the name may hold anything.
		begin, end := strings.IndexByte(string(text), '('), strings.LastIndexByte(string(text), ')')
		if begin < 0 || end < begin {
			continue
		}
		fields := strings.Fields(string(text)[end+1:])
		if len(fields) < 13 || fields[1] != strconv.Itoa(os.Getpid()) {
			continue
		}
		c := child{name: string(text)[begin+1 : end]}
		c.pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(file)))
		for _, field := range fields[11:13] {
			c.used += units(field)
		}
		out = append(out, c)
	}
	return out
}

// units reads a time in ticks.
func units(field string) time.Duration {
	n, err := strconv.ParseInt(field, 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second / ticks
}

// The parts of a diagnosis, in the order they are printed, and what the whole machine did: on one with
// other work, processor time tells more than the clock.
const (
	theBench   = "the bench"
	theMachine = "the whole machine"
)

var parts = []string{"signalbox", "kube-apiserver", "etcd", "kwok", theBench, theMachine}

// cpu is the processor time that was used until now, by part.
func cpu() map[string]time.Duration {
	used := map[string]time.Duration{}
	for _, c := range children() {
		used[c.name] += c.used
	}
	if text, err := os.ReadFile("/proc/self/stat"); err == nil {
		if fields := strings.Fields(string(text)[strings.LastIndexByte(string(text), ')')+1:]); len(fields) > 12 {
			used[theBench] = units(fields[11]) + units(fields[12])
		}
	}
	// cpu user nice system idle iowait irq softirq steal (proc_stat(5)); the first line is the sum.
	if text, err := os.ReadFile("/proc/stat"); err == nil {
		first, _, _ := strings.Cut(string(text), "\n")
		for i, field := range strings.Fields(first) {
			if i >= 1 && i <= 8 && i != 4 && i != 5 {
				used[theMachine] += units(field)
			}
		}
	}
	return used
}

// since is what was used since.
func since(before map[string]time.Duration) map[string]time.Duration {
	used := cpu()
	for name := range used {
		used[name] -= before[name]
	}
	return used
}

// spent prints processor time by part.
func spent(used map[string]time.Duration) string {
	var out []string
	for _, name := range parts {
		if d, ok := used[name]; ok {
			out = append(out, fmt.Sprintf("%s %.2f s", name, d.Seconds()))
		}
	}
	return strings.Join(out, ", ")
}

// medians are the medians of several rounds, part by part.
func medians(rounds []map[string]time.Duration) map[string]time.Duration {
	all := map[string][]time.Duration{}
	for _, used := range rounds {
		for name, d := range used {
			all[name] = append(all[name], d)
		}
	}
	out := map[string]time.Duration{}
	for name, ds := range all {
		out[name] = slices.Sorted(slices.Values(ds))[len(ds)/2]
	}
	return out
}

// memory says how much the programs of a diagnosis had in use at most.
func memory() string {
	most := map[string]float64{}
	for _, c := range children() {
		if slices.Contains(parts, c.name) {
			most[c.name] = max(most[c.name], resident.PeakOf(c.pid))
		}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(most)) {
		out = append(out, fmt.Sprintf("%s %.0f MiB", name, most[name]))
	}
	return strings.Join(out, ", ")
}
