package diagnose_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/keep"
)

// odd is what a program says that no signature knows, before it gives up with code 1.
const odd = "planner: the shard table disagrees with the ring"

// ownProgram is the log of a program that prints in its own way.
func ownProgram(pod string, rank int, more ...string) diagnose.Log {
	lines := []string{fmt.Sprintf("engine %d starts with 8 workers", rank), "ring joined"}
	for i := range 30 {
		lines = append(lines, fmt.Sprintf("tick %d took %d ms", i, 20+rank))
	}
	return logOf(pod, append(lines, more...)...)
}

// goodRun is what the last run printed, as a diagnosis of it remembers it.
func goodRun(t *testing.T, logs ...diagnose.Log) *keep.Good {
	t.Helper()
	before := train(3)
	before.Ref.UID = "the run before"
	c := diagnose.Case{Job: before, Kind: replicas, State: kinds.State{Phase: kinds.Succeeded}, Now: noon, Logs: logs}
	for _, pod := range names(4) {
		p := running(pod, "gpu-1")
		p.Status.Phase = corev1.PodSucceeded
		c.Pods = append(c.Pods, p)
	}
	r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{})
	if r.Printed == nil {
		t.Fatalf("nothing is remembered of a run that is %s", r.Verdict)
	}
	return &keep.Good{UID: "the run before", At: noon.Add(-24 * time.Hour), Pods: r.Printed.Pods, Whole: true, Lines: r.Printed.Lines}
}

func TestWhatIsNewSpeaksForABareExitCode(t *testing.T) {
	const closing = "closing the ring"
	cases := map[string]struct {
		good   func(t *testing.T) *keep.Good
		others int      // pods whose logs are read beside that of the one that ended
		last   []string // lines of the one that ended
		want   string   // the decisive line; empty: the exit code
		than   string
	}{
		"no other run and no other pod: nobody can tell": {nil, 0, []string{odd}, "", ""},
		"two other pods are no crowd":                    {nil, 2, []string{odd}, "", ""},
		"only the pod that ended says it":                {nil, 3, []string{odd, closing}, odd, "3 other pods"},
		"the last good run did not say it": {
			func(t *testing.T) *keep.Good { return goodRun(t, ownProgram("train-worker-0", 1, closing)) }, 0,
			[]string{odd, closing},
			odd, "the last good run (2026-02-28 12:00 UTC)",
		},
		"the last good run said it too": {
			func(t *testing.T) *keep.Good { return goodRun(t, ownProgram("train-worker-0", 1, odd)) }, 3,
			[]string{odd},
			"", "",
		},
		"of several new lines the one that says that something is wrong": {
			nil, 3, []string{"planner: reading the shard table", "planner: cannot read slot 17", "planner: leaving"}, "planner: cannot read slot 17", "3 other pods",
		},
		"a new line far above the end is not it": {nil, 3, append([]string{odd}, strings.Split(strings.Repeat("ring joined\n", 80), "\n")[:80]...), "", ""},
		"a step with another number is no news":  {nil, 3, []string{"tick 31 took 900 ms"}, "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := diagnose.Case{Job: train(3), Kind: replicas, State: kinds.State{Phase: kinds.Failed}, Now: noon}
			if tc.good != nil {
				c.Good = tc.good(t)
			}
			for i, pod := range names(4) {
				if i == 0 {
					c.Pods = append(c.Pods, ended(pod, "gpu-1", 1, "Error", noon))
					c.Logs = append(c.Logs, ownProgram(pod, i, tc.last...))
					continue
				}
				c.Pods = append(c.Pods, running(pod, "gpu-2"))
				if i <= tc.others {
					c.Logs = append(c.Logs, ownProgram(pod, i, "closing the ring"))
				}
			}
			r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{})
			if r.Verdict != diagnose.Inconclusive || r.Root == nil || r.Root.Source.Pod != names(4)[0] || r.Root.Standing != diagnose.Hypothesis {
				t.Fatalf("%s, root %+v; want an open end of the first pod", r.Verdict, r.Root)
			}
			got := ""
			if r.Root.Signature == "unfamiliar-line" {
				got = r.Root.Line
			}
			if got != tc.want || !strings.Contains(r.Analysis, tc.than) {
				t.Errorf("decisive line %q, want %q, new against %q; analysis: %s", got, tc.want, tc.than, r.Analysis)
			}
			checkCites(t, r)
		})
	}
}

// A line that a signature knows is held against the last good run, too.
func TestTheLastGoodRunIsComparedWith(t *testing.T) {
	oom := "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 512.00 MiB is free."
	failed := func(good *keep.Good) string {
		c := diagnose.Case{Job: train(3), Kind: replicas, State: kinds.State{Phase: kinds.Failed}, Now: noon, Good: good}
		c.Pods = append(c.Pods, ended("train-worker-0", "gpu-1", 1, "Error", noon))
		c.Logs = append(c.Logs, ownProgram("train-worker-0", 0, oom))
		return diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{}).Analysis
	}
	if text := failed(goodRun(t, ownProgram("train-worker-0", 0))); !strings.Contains(text, "The last good run (2026-02-28 12:00 UTC) did not print this line.") {
		t.Errorf("of a new line: %s", text)
	}
	var survived keep.Good
	survived.At = noon.Add(-24 * time.Hour)
	survived.Lines.Add(oom)
	if text := failed(&survived); !strings.Contains(text, "printed this line too, and ended well.") {
		t.Errorf("of a line that was survived: %s", text)
	}
	own := goodRun(t, ownProgram("train-worker-0", 0))
	own.UID = train(3).Ref.UID
	if text := failed(own); own.UID != "" && strings.Contains(text, "last good run") {
		t.Errorf("a job is compared with itself: %s", text)
	}
	if text := failed(nil); strings.Contains(text, "last good run") {
		t.Errorf("of a job without another run: %s", text)
	}
}

// What is not whole is not taken for all there was.
func TestARunThatWasReadInPartIsRememberedAsSuch(t *testing.T) {
	c := diagnose.Case{Job: train(3), Kind: replicas, State: kinds.State{Phase: kinds.Succeeded}, Now: noon, Logs: []diagnose.Log{
		ownProgram("train-worker-0", 0, "[signalbox: lines in between were not read]", "the end"),
	}}
	r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{})
	if r.Printed == nil || r.Printed.Whole || r.Printed.Lines.Has("[signalbox: lines in between were not read]") {
		t.Errorf("remembered is %+v", r.Printed)
	}
}
