// Command summary runs `go test -json`, shows what a person wants to see while it runs
// (packages as they end, the output of failures) and closes with one line of counts.
//
//	go run ./test/summary -- go test -race ./...
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64
}

type tally struct {
	passed, failed, skipped int
	broken                  map[string]bool     // packages with a failed test of their own
	output                  map[string][]string // by package and test, until it has ended
	again                   []string            // what failures said, for the end of a long output
	stderr                  io.Writer
	stdout                  io.Writer
}

func main() {
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	at := slices.Index(args, "test")
	if at < 0 {
		fmt.Fprintln(os.Stderr, "usage: summary -- go test [flags] [packages]")
		os.Exit(2)
	}
	args = slices.Insert(slices.Clone(args), at+1, "-json")
	os.Exit(run(args))
}

func run(args []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	t := &tally{output: map[string][]string{}, broken: map[string]bool{}, stderr: os.Stderr, stdout: os.Stdout}
	lines := bufio.NewScanner(out)
	lines.Buffer(make([]byte, 1<<20), 64<<20)
	for lines.Scan() {
		t.line(lines.Bytes())
	}
	err = cmd.Wait()
	fmt.Print(strings.Join(t.again, ""))
	fmt.Printf("in %s\n", time.Since(start).Round(time.Second))
	fmt.Printf("%d passed, %d failed, %d skipped\n", t.passed, t.failed, t.skipped)
	if err != nil || t.failed > 0 {
		return 1
	}
	return 0
}

func (t *tally) line(b []byte) {
	var e event
	if json.Unmarshal(b, &e) != nil {
		fmt.Fprintln(t.stdout, string(b))
		return
	}
	key := e.Package + "\x00" + e.Test
	switch e.Action {
	case "output":
		t.output[key] = append(t.output[key], e.Output)
	case "build-output":
		fmt.Fprint(t.stderr, e.Output)
	case "pass", "fail", "skip":
		t.end(e, key)
	}
}

func (t *tally) end(e event, key string) {
	kept := t.output[key]
	delete(t.output, key)
	if e.Test == "" {
		if e.Action != "skip" {
			fmt.Fprintf(t.stdout, "%-4s %s %.1fs\n", e.Action, e.Package, e.Elapsed)
		}
		if e.Action == "fail" {
			fmt.Fprint(t.stdout, strings.Join(kept, ""))
			if !t.broken[e.Package] {
				t.failed++ // a package that does not build, or dies, counts too
			}
		}
		return
	}
	switch e.Action {
	case "pass":
		t.passed++
	case "skip":
		t.skipped++
		fmt.Fprint(t.stdout, strings.Join(kept, ""))
	case "fail":
		t.failed++
		t.broken[e.Package] = true
		fmt.Fprint(t.stdout, strings.Join(kept, ""))
		t.again = append(t.again, said(e.Test, strings.Join(kept, ""))...)
	}
}

// linesOfFailure are the lines of one failure that stand at the end once more.
const linesOfFailure = 10

// said is what a failed test says of why: of Ginkgo, which writes one report of all its specs, the message of each
// that failed; of any other test its first lines.
func said(test, output string) []string {
	out := []string{"failed: " + test + "\n"}
	left := linesOfFailure
	if ginkgoFailed.MatchString(output) {
		left = 0
	}
	for line := range strings.Lines(output) {
		if ginkgoFailed.MatchString(line) {
			left = linesOfFailure
		}
		if left > 0 && strings.TrimSpace(line) != "" {
			out, left = append(out, "  "+line), left-1
		}
	}
	return out
}

// ginkgoFailed begins what a spec failed with, where Ginkgo has told its steps before.
var ginkgoFailed = regexp.MustCompile(`(?m)^[\s\x1b\[0-9;m]*\[FAILED\](?:\x1b\[[0-9;]*m)* (?:[^i]|i[^n]|in[^ ])`)
