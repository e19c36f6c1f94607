// Command policies measures what policies cost, and what Gatekeeper takes for the same rules about the
// same job, in one run: a hundred rules on a JobSet of 64 roles, and the memory of five hundred.
//
//	make bench-policies
//
// Ours is a whole review without checks: reading the job, building the input, asking all policies,
// sorting the answer; of it, what the policies take is measured by itself, from the moment when the
// input is begun to their sorted answer. Gatekeeper's is gator bench with the Rego engine, on a
// template and a constraint for each rule. Both deny the same number of times, or the run fails.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
)

const (
	asked    = 100 // policies
	loaded   = 500
	roles    = 64
	wantP99  = 1500 * time.Microsecond
	wantHeap = 60 << 20
	wantRate = 5
)

func main() {
	gator := flag.String("gator", "bin/tools/gator", "Gatekeeper's gator")
	rounds := flag.Int("rounds", 2000, "reviews")
	page := flag.String("page", "", "file to write the numbers into, as Markdown")
	flag.Parse()
	if err := run(*gator, *rounds, *page); err != nil {
		fmt.Fprintln(os.Stderr, "bench-policies:", err)
		os.Exit(1)
	}
}

// figures are what was measured.
type figures struct {
	ours, plain, none measured
	spent             []time.Duration // by policies, of the processor
	denials           int
	heap              int64
	theirs            gatorResult
	theirViolation    int
}

// measured are times of reviews, each sorted.
type measured struct {
	whole    []time.Duration // by the clock
	policies []time.Duration // of it building the input and asking the policies
	spent    []time.Duration // of that the processor time of the thread, without what others take from it
}

func run(gator string, rounds int, page string) error {
	f, err := ours(rounds)
	if err != nil {
		return err
	}
	if f.theirs, err = gatekeeper(gator, rounds); err != nil {
		return err
	}
	f.theirViolation = f.theirs.Violations / max(1, f.theirs.Iterations)
	if f.theirViolation != f.denials {
		return fmt.Errorf("the sets are not equivalent: ours denies %d times, Gatekeeper's %d", f.denials, f.theirViolation)
	}
	text := f.page()
	fmt.Print(text)
	if page == "" {
		return nil
	}
	return os.WriteFile(page, []byte(text), 0o644)
}

func ours(rounds int) (f figures, err error) {
	now := time.Now()
	of := preflight.Request{Object: job(), Operation: "CREATE", User: "ana", Namespace: map[string]string{preflight.ModeLabel: preflight.ModeEnforce}, Now: now}
	beside := view(now)
	defer runtime.KeepAlive(beside)
	if f.ours, f.denials, err = reviews(signalbox(asked, forms), of, rounds); err != nil {
		return f, err
	}
	if f.spent, err = spentBy(signalbox(asked, forms), of, rounds); err != nil {
		return f, err
	}
	if f.plain, _, err = reviews(signalbox(asked, []form{forms[0], forms[3]}), of, rounds); err != nil {
		return f, err
	}
	if f.none, _, err = reviews(nil, of, rounds); err != nil {
		return f, err
	}
	f.heap, err = heapOf(loaded)
	return f, err
}

// spentBy is the processor time of reviews. It is measured in a pass of its own: a goroutine that
// keeps its thread waits longer for it after each step of the collector of garbage.
func spentBy(files fs.FS, request preflight.Request, rounds int) ([]time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	m, _, err := reviews(files, request, rounds)
	return m.spent, err
}

// reviews are how long reviews took, and how many rules denied.
func reviews(files fs.FS, request preflight.Request, rounds int) (m measured, denials int, err error) {
	loaded, err := policies.Load(files)
	if err != nil {
		return m, 0, err
	}
	engine := &stopwatch{Engine: loaded}
	reviewer := &preflight.Reviewer{Policies: engine}
	for i := range rounds + rounds/10 {
		engine.took, engine.spent = 0, 0
		start := time.Now()
		report, err := reviewer.Review(context.Background(), request)
		one := time.Since(start)
		switch {
		case err != nil:
			return m, 0, err
		case len(report.Undecided) > 0:
			return m, 0, fmt.Errorf("undecided: %s", report.Undecided[0])
		}
		if denials = len(report.Rulings); i >= rounds/10 { // after a warm-up
			m.whole, m.policies, m.spent = append(m.whole, one), append(m.policies, engine.took), append(m.spent, engine.spent)
		}
	}
	slices.Sort(m.whole)
	slices.Sort(m.policies)
	slices.Sort(m.spent)
	return m, denials, nil
}

// heapOf is by how much the heap grows by so many policies, ready to be asked.
func heapOf(n int) (int64, error) {
	files := signalbox(n, forms)
	before := heap()
	engine, err := policies.Load(files)
	if err != nil {
		return 0, err
	}
	grown := heap() - before
	runtime.KeepAlive(engine)
	runtime.KeepAlive(files)
	return grown, nil
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// gatorResult is what gator bench says of its Rego engine.
type gatorResult struct {
	Iterations int     `json:"iterations"`
	Violations int     `json:"violationCount"`
	Rate       float64 `json:"reviewsPerSecond"`
	Latencies  struct {
		P50 string `json:"p50"`
		P99 string `json:"p99"`
	} `json:"latencies"`
}

func gatekeeper(gator string, rounds int) (gatorResult, error) {
	dir, err := os.MkdirTemp("", "bench-policies-")
	if err != nil {
		return gatorResult{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder
	text, err := yaml.Marshal(job().Object)
	if err != nil {
		return gatorResult{}, err
	}
	documents := append(constraints(asked), string(text))
	if err := os.WriteFile(filepath.Join(dir, "set.yaml"), []byte(strings.Join(documents, "\n---\n")), 0o600); err != nil {
		return gatorResult{}, err
	}
	command := exec.Command(gator, "bench", "--filename", dir, "--engine", "rego", "--output", "json",
		"--iterations", fmt.Sprint(rounds), "--warmup", fmt.Sprint(rounds/10))
	var out, why bytes.Buffer
	command.Stdout, command.Stderr = &out, &why
	if err := command.Run(); err != nil {
		return gatorResult{}, fmt.Errorf("%s bench: %w: %s", gator, err, why.String())
	}
	var results []gatorResult
	if err := json.Unmarshal(out.Bytes(), &results); err != nil {
		return gatorResult{}, fmt.Errorf("read what gator bench says: %w: %.4000s", err, out.String())
	}
	if len(results) != 1 {
		return gatorResult{}, errors.New("gator bench says nothing of its Rego engine")
	}
	return results[0], nil
}

func job() *unstructured.Unstructured {
	var all []any
	for i := range roles {
		all = append(all, map[string]any{
			"name": fmt.Sprintf("stage-%d", i), "replicas": int64(1),
			"template": map[string]any{"spec": map[string]any{"parallelism": int64(2), "completions": int64(2), "template": map[string]any{"spec": map[string]any{
				"restartPolicy": "Never", "nodeSelector": map[string]any{"pool": "train"},
				"containers": []any{map[string]any{
					"name": "main", "image": "registry.example.com/team/train:1", "command": []any{"python", "train.py"},
					"resources": map[string]any{"limits": map[string]any{"nvidia.com/gpu": "8", "cpu": "32", "memory": "256Gi"}},
				}},
				"volumes": []any{map[string]any{"name": "data", "hostPath": map[string]any{"path": "/data/shared"}}},
			}}}},
		})
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
		"metadata": map[string]any{"name": "train", "namespace": "ml", "labels": map[string]any{"team": "vision", "label-0": "x"}},
		"spec":     map[string]any{"replicatedJobs": all},
	}}
}

func signalbox(n int, of []form) fstest.MapFS {
	out := fstest.MapFS{}
	for i := range n {
		name := fmt.Sprintf("rule_%d", i)
		text := "# METADATA\n# title: a rule\n# description: Measured.\n# custom: {remedy: None.}\npackage signalbox." + name + "\n\n" + of[i%len(of)].ours(i/len(of))
		out[name+".rego"] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func constraints(n int) (out []string) {
	for i := range n {
		kind := fmt.Sprintf("Rule%d", i)
		rego := "package " + strings.ToLower(kind) + "\n\n" + forms[i%len(forms)].theirs(i/len(forms))
		out = append(out,
			fmt.Sprintf("apiVersion: templates.gatekeeper.sh/v1\nkind: ConstraintTemplate\nmetadata: {name: %s}\nspec:\n  crd: {spec: {names: {kind: %s}}}\n  targets:\n  - target: admission.k8s.gatekeeper.sh\n    rego: |\n      %s",
				strings.ToLower(kind), kind, strings.ReplaceAll(rego, "\n", "\n      ")),
			fmt.Sprintf("apiVersion: constraints.gatekeeper.sh/v1beta1\nkind: %s\nmetadata: {name: c}\nspec: {match: {kinds: [{apiGroups: [jobset.x-k8s.io], kinds: [JobSet]}]}}", kind))
	}
	return out
}

func percentile(sorted []time.Duration, p int) time.Duration { return sorted[(len(sorted)-1)*p/100] }

func (f *figures) page() string {
	var sum time.Duration
	for _, d := range f.ours.whole {
		sum += d
	}
	rate := float64(len(f.ours.whole)) / sum.Seconds()
	p99 := percentile(f.ours.policies, 99)
	var b strings.Builder
	fmt.Fprintf(&b, "# What policies cost\n\nWritten by `make bench-policies`; do not edit. %s, %d processors, load average %s, %s.\n\n", time.Now().UTC().Format(time.DateOnly), runtime.GOMAXPROCS(0), load(), runtime.Version())
	fmt.Fprintf(&b, "%d policies on a JobSet of %d roles (%d pods), %d reviews one after the other; %d of the policies' rules deny. Eight of ten\nof these policies look at every role: 64 roles, eighty times. Gatekeeper is `gator bench --engine rego` with a template\nand a constraint for each of the same rules, in the same run. A view of %d nodes and %d pods is in memory beside ours, as\nwhere policies serve; nobody looks at it.\n\n", asked, roles, 2*roles, len(f.ours.whole), f.denials, nodes, nodes*podsPerNode)
	b.WriteString("What is promised of policies is the time from the moment when their input is begun to their sorted answer. The rest of\na review is reading the job: a review that asks no policy stands beside. On a busy machine the times are mostly waiting,\nso the processor time of the thread is told as well; it holds what the collector of garbage makes the thread do.\n\n")
	row := func(what string, d time.Duration, promised string) {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", what, d.Round(time.Microsecond), promised)
	}
	fmt.Fprintf(&b, "| | measured | promised |\n| --- | --- | --- |\n")
	row("policies with building the input, median", percentile(f.ours.policies, 50), "")
	row("policies with building the input, 99th percentile", p99, wantP99.String()+held(p99 <= wantP99))
	row("the same in processor time, median", percentile(f.spent, 50), "")
	row("the same in processor time, 99th percentile", percentile(f.spent, 99), "")
	row("policies that look at no role, 99th percentile", percentile(f.plain.policies, 99), "")
	row("a whole review, median", percentile(f.ours.whole, 50), "")
	row("a whole review, 99th percentile", percentile(f.ours.whole, 99), "")
	row("a whole review without policies, median", percentile(f.none.whole, 50), "")
	row("a whole review without policies, 99th percentile", percentile(f.none.whole, 99), "")
	fmt.Fprintf(&b, "| memory of %d policies, ready to be asked | %.1f MiB | %d MiB%s |\n", loaded, float64(f.heap)/(1<<20), wantHeap>>20, held(f.heap <= wantHeap))
	fmt.Fprintf(&b, "| whole reviews a second | %.0f | |\n", rate)
	fmt.Fprintf(&b, "| Gatekeeper's reviews a second | %.0f (median %s, 99th percentile %s) | |\n", f.theirs.Rate, f.theirs.Latencies.P50, f.theirs.Latencies.P99)
	fmt.Fprintf(&b, "| times Gatekeeper's throughput | %.1f | %d%s |\n", rate/f.theirs.Rate, wantRate, held(rate >= wantRate*f.theirs.Rate))
	return b.String()
}

// load is how many processes wanted a processor in the last minute: numbers of a busy machine are larger.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if first, _, ok := strings.Cut(string(text), " "); err == nil && ok {
		return first
	}
	return "not known"
}

func held(yes bool) string {
	if yes {
		return ""
	}
	return " (not held)"
}
