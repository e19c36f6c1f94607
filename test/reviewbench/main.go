// Command reviewbench measures how long a review takes and prints the numbers beside what
// is promised: one review of the largest sample without the fit, a folder of a thousand
// manifests, and one file from start to exit.
//
//	make bench-review
//
// It judges nothing: a busy machine is slower. The promises are for two cores at rest.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// What is promised.
const (
	mostReview  = 300 * time.Microsecond
	mostBytes   = 200_000
	mostFolder  = 500 * time.Millisecond
	mostOneFile = 40 * time.Millisecond
	inFolder    = 1000
)

func main() {
	program := flag.String("program", "bin/signalbox", "the program to start")
	samples := flag.String("samples", "config/samples", "folder of sample jobs")
	flag.Parse()
	if err := run(*program, *samples); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(program, samples string) error {
	jobs, err := read(samples)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what (median)\twall clock\tprocessor\tpromised\t")
	set, err := check.NewSet(checks.All()...)
	if err != nil {
		return err
	}
	largest, slowest := "", cost{}
	for _, j := range jobs {
		if c := review(set, j.Object); c.wall > slowest.wall || largest == "" {
			largest, slowest = filepath.Base(j.Source), c
		}
	}
	fmt.Fprintf(w, "review of %s by %d checks\t%s\t\t%s\t\n", largest, len(set.Names()), slowest.wall.Round(time.Microsecond), mostReview)
	fmt.Fprintf(w, "  allocated\t%d bytes in %d\t\t%d bytes\t\n", slowest.bytes, slowest.allocs, mostBytes)

	dir, err := os.MkdirTemp("", "reviewbench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder of our own
	text, err := os.ReadFile(filepath.Join(samples, "pytorchjob.yaml"))
	if err != nil {
		return err
	}
	for i := range inFolder {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("job-%04d.yaml", i)), text, 0o600); err != nil {
			return err
		}
	}
	folder, err := timed(7, program, "check", "--offline", "-f", dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "check of %d manifests in one folder\t%s\t%s\t%s\t\n", inFolder, folder.wall.Round(time.Millisecond), folder.cpu.Round(time.Millisecond), mostFolder)
	one, err := timed(31, program, "check", "--offline", "-f", filepath.Join(samples, "pytorchjob.yaml"))
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "check of one file, start to exit\t%s\t%s\t%s\t\n", one.wall.Round(100*time.Microsecond), one.cpu.Round(100*time.Microsecond), mostOneFile)
	return w.Flush()
}

// read reads all sample jobs.
func read(dir string) (out []manifest.Document, err error) {
	sources, err := manifest.Sources([]string{dir}, nil)
	if err != nil {
		return nil, err
	}
	for _, s := range sources {
		for d, err := range s.Documents() {
			if err == nil && !d.List && !strings.HasPrefix(filepath.Base(s.Name), "kustomization") {
				out = append(out, d)
			}
		}
	}
	return out, nil
}

// cost is what one thing takes: the median of many, so that a busy machine disturbs little.
type cost struct {
	wall, cpu     time.Duration
	bytes, allocs int64
}

// review measures one review without a cluster, and so without the fit.
func review(set *check.Set, object *unstructured.Unstructured) cost {
	r := &preflight.Reviewer{Checks: set}
	once := func() {
		_, _ = r.Review(context.Background(), preflight.Request{Object: object, Namespace: map[string]string{}}) // kinds that are not covered cost nothing
	}
	memory := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			once()
		}
	})
	var all []time.Duration
	for range 2000 {
		start := time.Now()
		once()
		all = append(all, time.Since(start))
	}
	return cost{wall: median(all), bytes: memory.AllocedBytesPerOp(), allocs: memory.AllocsPerOp()}
}

// timed starts the program several times. Findings are fine.
func timed(runs int, program string, args ...string) (cost, error) {
	var wall, cpu []time.Duration
	for range runs {
		cmd := exec.Command(program, args...)
		start := time.Now()
		err := cmd.Run()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 1 {
			return cost{}, fmt.Errorf("run %s: %w", cmd, err)
		}
		wall = append(wall, time.Since(start))
		cpu = append(cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	return cost{wall: median(wall), cpu: median(cpu)}, nil
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
