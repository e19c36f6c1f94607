package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ticks is how many units of /proc/PID/stat make a second (proc_pid_stat(5): sysconf(_SC_CLK_TCK), 100
// on every architecture that Linux runs Go on).
const ticks = 100

// cpu is the processor time that the programs this one started have used, by name; empty where there
// is no /proc. On a machine with other work it tells more than the clock.
func cpu() map[string]time.Duration {
	used := map[string]time.Duration{}
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return used
	}
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
		for _, field := range fields[11:13] {
			n, err := strconv.ParseInt(field, 10, 64)
			if err == nil {
				used[string(text)[begin+1:end]] += time.Duration(n) * time.Second / ticks
			}
		}
	}
	return used
}

// since says how much of it the programs of a diagnosis have used since.
func since(before map[string]time.Duration) string {
	now := cpu()
	var parts []string
	for _, name := range []string{"signalbox", "kube-apiserver", "kwok"} {
		if used, ok := now[name]; ok {
			parts = append(parts, fmt.Sprintf("%s %.2f s", name, (used-before[name]).Seconds()))
		}
	}
	return strings.Join(parts, ", ")
}
