//go:build unix

// Logbench measures how fast logs are read with the whole catalog on one core and on two, and compares
// the gate with ripgrep over the same literals and the same text in the same run. Times are
// processor time, so that a busy machine does not show, but for the one of two cores.
//
//	make bench-logs
//
// The text is made of lines of labelled cases where they lie beside the repository
// (SIGNALBOX_CORPUS names another place), else of the catalog's own fixtures, mixed with
// ordinary output of training.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"time"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

func main() {
	size := flag.Int("mb", 512, "megabytes of text")
	stream := flag.Int("gb", 10, "gigabytes of the endless log, whose heap is measured; 0: none")
	rg := flag.String("rg", "rg", "ripgrep")
	runs := flag.Int("runs", 3, "runs; the best counts")
	ranks := flag.Int("ranks", 4000, "ranks of the gangs whose heap is measured; 0: none")
	profile := flag.String("cpuprofile", "", "`file` for a profile of the whole read path")
	flag.Parse()
	if err := run(*size, *stream, *ranks, *runs, *rg, *profile); err != nil {
		fmt.Fprintln(os.Stderr, "logbench:", err)
		os.Exit(1)
	}
}

func run(size, stream, ranks, runs int, rg, profile string) error {
	runtime.GOMAXPROCS(1)
	at := time.Now()
	catalog, err := signature.Builtin()
	if err != nil {
		return err
	}
	literals := literalsOf(catalog)
	fmt.Printf("%d signatures, %d literals, loaded in %v\n", len(catalog.All()), len(literals), time.Since(at).Round(time.Millisecond))
	dir, err := os.MkdirTemp("", "logbench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what stays in the temporary folder goes with it
	text := filepath.Join(dir, "text.log")
	lines, source, err := write(text, int64(size)<<20)
	if err != nil {
		return err
	}
	fmt.Printf("%d MB, %d lines: half from %s, half ordinary output of training\n", size, lines, source)
	list := filepath.Join(dir, "literals")
	if err := os.WriteFile(list, []byte(strings.Join(literals, "\n")+"\n"), 0o600); err != nil {
		return err
	}
	if err := compare(catalog, text, list, rg, size, runs); err != nil {
		return err
	}
	if err := whole(catalog, text, size, runs, profile); err != nil {
		return err
	}
	if err := ahead(catalog, text, size, runs); err != nil {
		return err
	}
	if err := redaction(text, size, runs); err != nil {
		return err
	}
	for procs := 1; procs <= min(runtime.NumCPU(), 2) && stream > 0; procs++ {
		runtime.GOMAXPROCS(procs)
		if err := endless(catalog, stream); err != nil {
			return err
		}
	}
	runtime.GOMAXPROCS(1)
	if ranks > 0 {
		return gang(catalog, ranks)
	}
	return nil
}

func literalsOf(c *signature.Catalog) []string {
	var all []string
	for _, s := range c.All() {
		all = append(all, s.Literals()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// compare times the gate and ripgrep in turn.
func compare(c *signature.Catalog, text, list, rg string, size, runs int) error {
	path, err := exec.LookPath(rg)
	if err != nil {
		fmt.Println("ripgrep: not on this machine; the gate is not compared")
	}
	var ours, theirs time.Duration
	var g gate
	counted := ""
	for range runs {
		if path != "" {
			out, took, err := ripgrep(path, list, text)
			if err != nil {
				return err
			}
			counted, theirs = out, best(theirs, took)
		}
		before := cpu()
		if g, err = pass(c, text); err != nil {
			return err
		}
		ours = best(ours, cpu()-before)
	}
	fmt.Printf("gate:    %s  %d lines pass\n", rate(size, ours), g.passed)
	if path != "" {
		fmt.Printf("ripgrep: %s  %s lines match; the gate takes %.2f of its time (rg -j1 -c -F -f; the gate also takes literals without capitals in any case)\n", rate(size, theirs), counted, ours.Seconds()/theirs.Seconds())
	}
	falsely, worst, err := g.explain(c, text)
	if err != nil {
		return err
	}
	fmt.Printf("false gate passes: %d of %d lines (%.2f %%)\n", falsely, g.lines, 100*float64(falsely)/float64(g.lines))
	for _, w := range worst {
		fmt.Println("  ", w)
	}
	return nil
}

func ripgrep(path, list, text string) (string, time.Duration, error) {
	cmd := exec.CommandContext(context.Background(), path, "-j1", "--no-config", "-a", "-c", "-F", "-f", list, text)
	out, err := cmd.Output()
	if err != nil {
		return "", 0, fmt.Errorf("run ripgrep: %w", err)
	}
	return strings.TrimSpace(string(out)), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// whole times a diagnosis: reading, cleaning, gate, regular expressions.
func whole(c *signature.Catalog, text string, size, runs int, profile string) error {
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	var took time.Duration
	var r diagnose.Result
	for range runs {
		before := cpu()
		r = diagnose.Diagnose(context.Background(), caseOf(func() (io.ReadCloser, error) { return os.Open(text) }), c, diagnose.Options{})
		took = best(took, cpu()-before)
	}
	if want := int64(size) << 20; r.Coverage.BytesRead+r.Coverage.BytesSkipped < want {
		return fmt.Errorf("the diagnosis saw %d of %d bytes", r.Coverage.BytesRead+r.Coverage.BytesSkipped, want)
	}
	fmt.Printf("whole read path: %s  verdict %s\n", rate(size, took), r.Verdict)
	return nil
}

// ahead times a diagnosis on two processors, where a log is read ahead by a second goroutine: by the clock, which says
// little on a busy machine, and in processor time.
func ahead(c *signature.Catalog, text string, size, runs int) error {
	if runtime.NumCPU() < 2 {
		return nil
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	var took, used time.Duration
	for range runs {
		at, before := time.Now(), cpu()
		r := diagnose.Diagnose(context.Background(), caseOf(func() (io.ReadCloser, error) { return os.Open(text) }), c, diagnose.Options{})
		took, used = best(took, time.Since(at)), best(used, cpu()-before)
		if want := int64(size) << 20; r.Coverage.BytesRead+r.Coverage.BytesSkipped < want {
			return fmt.Errorf("the diagnosis saw %d of %d bytes", r.Coverage.BytesRead+r.Coverage.BytesSkipped, want)
		}
	}
	fmt.Printf("on two processors: %s by the clock, %s of processor time\n", rate(size, took), rate(size, used))
	return nil
}

// redaction times what writes a log without its secrets.
func redaction(text string, size, runs int) error {
	var took time.Duration
	for range runs {
		in, err := os.Open(text)
		if err != nil {
			return err
		}
		before := cpu()
		_, err = redact.Copy(io.Discard, in)
		took = best(took, cpu()-before)
		if err := errors.Join(err, in.Close()); err != nil {
			return err
		}
	}
	fmt.Printf("redaction: %s\n", rate(size, took))
	return nil
}

func caseOf(open func() (io.ReadCloser, error)) diagnose.Case {
	return diagnose.Case{Now: time.Now(), Logs: []diagnose.Log{{Source: sourceOf("text.log"), Open: open}}}
}

func best(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

func rate(mb int, took time.Duration) string {
	return fmt.Sprintf("%6.0f MB/s (%.2f s)", float64(mb)/took.Seconds(), took.Seconds())
}

// cpu is the processor time of this process.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
