package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

const intro = `# Benchmarks

What the fit costs, and what keeping a view of the cluster costs. ` + "`make bench-fit`" + ` runs the
benchmarks, on two cores and with fixed seeds, and writes this page; the numbers are benchstat's medians
of its runs. Times of one answer and of one change are processor time of the thread that works it out,
which other work on the machine disturbs less than the clock on the wall. ` + "`make bench-live`" + ` fills a real
API server and measures the view that follows it; its times, and those of files, are the clock's. Where a
load average is above the number of processors, others were using the machine, and all times are too long.
` + "`make bench-against BASE=commit`" + ` puts the answers beside those of an earlier one, in turn in one run.

Every cluster has 20 pods on each node. *Low* fragmentation: nodes are empty, half full or full, so that
few differ. *High*: every pod asks for something else, and hardly two nodes have the same room.
`

// section is a part of the page. of is the name its benchmarks begin with.
type section struct {
	title, of string
	write     func(io.Writer, *run)
}

var sections = []section{
	{"One question", "Fit/", answers},
	{"What the cost grows with", "Difference/", curve},
	{"Pods that look at each other", "Tied/", tied},
	{"Questions made to be slow", "Adversary/", hostile},
	{"One event", "Events/", events},
	{"Volumes", "Claims/", claims},
	{"Absurd questions", "Million/", bad},
	{"A snapshot in a file", "Snapshot/", snapshots},
	{"The view of a real API server", "Live/", live},
}

// write writes the page. Sections that were not measured are kept from the page before.
func write(w io.Writer, r *run, before string) {
	text(w, intro)
	for _, m := range r.machine {
		text(w, "\n    "+m)
	}
	text(w, "\n")
	for _, s := range sections {
		i := slices.IndexFunc(r.names, func(name string) bool { return strings.HasPrefix(name, s.of) })
		if i < 0 {
			text(w, kept(before, s.title))
			continue
		}
		text(w, "\n## "+s.title+"\n")
		if when := r.when[r.names[i]]; when != "" {
			text(w, "\nMeasured "+when+".\n")
		}
		s.write(w, r)
	}
}

// kept is a section of the page before, with its title; empty where it had none.
func kept(page, title string) string {
	_, rest, ok := strings.Cut(page, "\n## "+title+"\n")
	if !ok {
		return ""
	}
	body, _, _ := strings.Cut(rest, "\n## ")
	return "\n## " + title + "\n" + strings.TrimRight(body, "\n") + "\n"
}

func text(w io.Writer, s string) { _, _ = io.WriteString(w, s) } // a buffer, which keeps its error

var sizes = []int{1000, 5000, 15000}

// answers is what one question costs.
func answers(w io.Writer, r *run) {
	text(w, `
Median and 99th percentile of one answer: the verdict with its plan. Where it is a no, the second line
includes the search for what would fit instead.

| gang | roles | fragmentation | 1,000 nodes | 5,000 nodes | 15,000 nodes |
|---|---|---|---|---|---|
`)
	for _, pods := range []int{8, 128, 1024} {
		for _, roles := range []int{1, 3} {
			for _, frag := range []string{"low", "high"} {
				row(w, r, fmt.Sprintf("%d pods, fits | %d | %s", pods, roles, frag), frag, func(int) string { return fmt.Sprintf("pods=%d/roles=%d/yes", pods, roles) })
			}
		}
	}
	for _, roles := range []int{1, 3} {
		for _, frag := range []string{"low", "high"} {
			row(w, r, fmt.Sprintf("a quarter of the nodes, whole: does not fit | %d | %s", roles, frag), frag, func(n int) string { return fmt.Sprintf("pods=%d/roles=%d/verdict-no", n/4, roles) })
			row(w, r, fmt.Sprintf("… with what would fit | %d | %s", roles, frag), frag, func(n int) string { return fmt.Sprintf("pods=%d/roles=%d/no", n/4, roles) })
		}
	}
}

func row(w io.Writer, r *run, head, frag string, name func(nodes int) string) {
	cells := []string{"", head}
	for _, n := range sizes {
		cells = append(cells, r.lap(fmt.Sprintf("Fit/nodes=%d/frag=%s/%s", n, frag, name(n)), ""))
	}
	text(w, strings.TrimSpace(strings.Join(append(cells, ""), " | "))+"\n")
}

// lap is "0.21 ms (p99 0.40)".
func (r *run) lap(name, of string) string {
	median, ok := r.of("p50-sec"+of, name) // benchstat makes seconds of ns
	last, more := r.of("p99-sec"+of, name)
	if !ok || !more {
		return "–"
	}
	return fmt.Sprintf("%s ms (p99 %s)", number(median*1e3), number(last*1e3))
}

// number is a number with as many digits as say something.
func number(n float64) string {
	switch {
	case n >= 100:
		return fmt.Sprintf("%.0f", n)
	case n >= 10:
		return fmt.Sprintf("%.1f", n)
	case n >= 1:
		return fmt.Sprintf("%.2f", n)
	default:
		return fmt.Sprintf("%.3f", n)
	}
}

// curve shows what the cost grows with.
func curve(w io.Writer, r *run) {
	text(w, `
A gang of 1,024 pods in three roles on 5,000 nodes. The cost grows with the number of *different* nodes,
and not with the number of pods.

| different nodes | pods on each | one answer |
|---|---|---|
`)
	for _, name := range r.names {
		rest, ok := strings.CutPrefix(name, "Difference/different=")
		if !ok {
			continue
		}
		different, pods, _ := strings.Cut(strings.TrimSuffix(rest, "/answer"), "/podsPerNode=")
		text(w, fmt.Sprintf("| %s | %s | %s |\n", different, pods, r.lap(name, "")))
	}
}

// tied is what questions about pods cost that decide where others may go.
func tied(w io.Writer, r *run) {
	text(w, `
128 pods, fragmentation high, 125 racks. Where pods look at each other, they are placed one after the
other, as a scheduler would.

| gang | 1,000 nodes | 5,000 nodes |
|---|---|---|
`)
	for _, name := range r.names {
		if what, ok := strings.CutPrefix(name, "Tied/nodes=1000/"); ok {
			text(w, fmt.Sprintf("| %s | %s | %s |\n", strings.ReplaceAll(what, "_", " "), r.lap(name, ""), r.lap("Tied/nodes=5000/"+what, "")))
		}
	}
}

// hostile is what the worst questions cost that anybody has thought of.
func hostile(w io.Writer, r *run) {
	text(w, `
Processor time and memory of one answer, verdict and suggestions. All that one question may cost is
counted in steps, which end a search that would take longer: the last column is the share of the
questions that this leaves unknown. *Withdrawn* is a question whose context has ended before.

| question | one answer | longest | withdrawn | memory | unknown for the steps |
|---|---|---|---|---|---|
`)
	for _, name := range r.names {
		what, ok := strings.CutPrefix(name, "Adversary/")
		if !ok {
			continue
		}
		longest, _ := r.of("max-sec", name)
		ended, _ := r.of("ended-sec", name)
		memory, _ := r.of("max-MiB", name)
		unknown, _ := r.of("%unknown", name)
		text(w, fmt.Sprintf("| %s | %s | %s ms | %s ms | %s MiB | %s %% |\n",
			strings.ReplaceAll(what, "_", " "), r.lap(name, ""), number(longest*1e3), number(ended*1e3), number(memory), strconv.FormatFloat(unknown, 'f', -1, 64)))
	}
}

// events is what following a cluster costs.
func events(w io.Writer, r *run) {
	text(w, `
What one change of an object costs the view, at 1,000 changes a second and a snapshot every 100 ms, the
snapshots included; and the first question to each new snapshot: 1,024 pods in three roles, or a gang that
mounts a claim. Beside claims there are 20,000 claims, volumes and attachments, and 2,000 quotas.

| change of | nodes | pods | one change | first question |
|---|---|---|---|---|
`)
	for _, of := range []string{"pods", "nodes", "claims", "volumes", "attachments", "quotas"} {
		for _, n := range sizes {
			name := fmt.Sprintf("Events/of=%s/nodes=%d", of, n)
			if each, ok := r.of("p50-sec/event", name); ok {
				text(w, fmt.Sprintf("| %s | %d | %d | %s µs | %s |\n", of, n, 20*n, number(each*1e6), r.lap(name, "/first-fit")))
			}
		}
	}
}

// claims is what gangs with volumes cost, and following volumes.
func claims(w io.Writer, r *run) {
	text(w, `
A gang that mounts a claim, on 5,000 nodes with 20,000 claims, volumes and attachments and 100,000 pods.

| what | one answer |
|---|---|
`)
	for _, name := range r.names {
		if what, ok := strings.CutPrefix(name, "Claims/"); ok && what != "absent" {
			text(w, fmt.Sprintf("| a gang whose claim is %s | %s |\n", what, r.lap(name, "")))
		}
	}
}

// bad is what absurd questions cost.
func bad(w io.Writer, r *run) {
	text(w, `
| question | one answer |
|---|---|
`)
	for _, name := range r.names {
		if what, ok := strings.CutPrefix(name, "Million/"); ok {
			text(w, fmt.Sprintf("| 1,000,000 pods, 5,000 nodes: %s | %s |\n", strings.ReplaceAll(what, "_", " "), r.lap(name, "")))
		}
	}
}

// snapshots is what files of a big cluster take, and what writing and reading them costs.
func snapshots(w io.Writer, r *run) {
	text(w, `
5,000 nodes and 100,000 pods of 5,000 jobs, with requests of many sizes, as `+"`signalbox snapshot`"+` writes them and
`+"`check`"+` and `+"`fit`"+` read them. *Plain* is every object in full, as `+"`--plain`"+` writes it.

| file | size | writing it | reading it | memory to read it |
|---|---|---|---|---|
`)
	for _, name := range r.names {
		file, ok := strings.CutPrefix(name, "Snapshot/read/")
		if !ok {
			continue
		}
		size, _ := r.of("B/file", // benchstat makes bytes of MB
			"Snapshot/write/"+file)
		writing, _ := r.of("sec/op", "Snapshot/write/"+file)
		reading, _ := r.of("sec/op", name)
		peak, _ := r.of("MiB/peak", name)
		text(w, fmt.Sprintf("| %s | %s MB | %s s | %s s | %s MiB |\n", file, number(size/1e6), number(writing), number(reading), number(peak)))
	}
}

// live is what the view of a real API server needs.
func live(w io.Writer, r *run) {
	head := `
| cluster | ready after | CPU until then | heap | peak memory of the process | CPU per event |
|---|---|---|---|---|---|
`
	for _, name := range r.names {
		what, ok := strings.CutPrefix(name, "Live/")
		if !ok {
			continue
		}
		ready, _ := r.of("s/ready", name)
		cpu, _ := r.of("s-cpu/ready", name)
		heap, _ := r.of("MiB/heap", name)
		peak, _ := r.of("MiB/peak", name)
		event, _ := r.of("µs-cpu/event", name)
		text(w, head+fmt.Sprintf("| %s | %s s | %s s | %s MiB | %s MiB | %s µs |\n", strings.NewReplacer("/", ", ", "_", " ").Replace(what), number(ready), number(cpu), number(heap), number(peak), number(event)))
		head = ""
	}
}
