package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// bar is one of tqdm's that wrote over itself from one count to another.
func bar(from, to, of int) (text string) {
	for i := from; i <= to; i++ {
		text += fmt.Sprintf("\rtrain:  %d%%|##   | %d/%d [%02d:%02d<%02d:00,  1.29s/it]", i*100/of, i, of, i/60, i%60, of/60)
	}
	return text
}

// A bar leaves its line open. What is written behind it begins as a line does.
func TestBehindABar(t *testing.T) {
	cases := map[string]struct{ behind, want string }{
		"the shell saw it killed":     {"Killed\n", "host-oom-killed"},
		"a launcher's line":           {"./run.sh: line 3: 4711 Killed                  python train.py\n", "host-oom-killed"},
		"the batch system's word":     {"slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-01-06T10:00:00 DUE TO PREEMPTION ***\n", "sigterm-preempted"},
		"nothing but how far it came": {"\n", "healthy"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text := "loading\n"
			for epoch := range 8 {
				text += bar(0, 22, 22) + fmt.Sprintf("\nepoch %d val_loss: %.3f\n", epoch, 3-float64(epoch)/10)
			}
			if r := read(t, "", strings.NewReader(text+bar(0, 15, 22)+tc.behind)); r.Category != tc.want {
				t.Errorf("category %q, want %q: %s", r.Category, tc.want, r.Error)
			}
		})
	}
}

// A bar that counts on has survived what stands above it, though most of its counts were written over.
func TestABarThatCountsOn(t *testing.T) {
	const raised = "Traceback (most recent call last):\n  File \"/app/eval.py\", line 12, in score\n    return model(batch)\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 34.00 MiB.\n"
	fast := func(from, to int) string { return strings.ReplaceAll(bar(from, to, 900), "1.29s/it", "2.29it/s") }
	cases := map[string]struct {
		text string
		want diagnose.Verdict
	}{
		"by so many that no gang was waiting":    {bar(0, 107, 900) + raised + bar(108, 700, 900) + "\n", diagnose.Healthy},
		"by one":                                 {bar(0, 107, 900) + raised + bar(108, 109, 900) + "\n", diagnose.Diagnosed},
		"another bar, from its beginning":        {bar(0, 107, 900) + raised + bar(0, 1, 40) + "\n" + bar(300, 300, 900) + "\n", diagnose.Diagnosed},
		"more slowly than before":                {fast(0, 107) + "\n" + raised + bar(108, 700, 900) + "\n", diagnose.Healthy},
		"faster, and again what was survived":    {bar(0, 107, 900) + raised + fast(108, 700) + raised + bar(701, 800, 900) + "\n", diagnose.Healthy},
		"faster, and then what ends it for ever": {bar(0, 107, 900) + raised + fast(108, 700) + raised, diagnose.Diagnosed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if r := read(t, "", strings.NewReader(tc.text)); r.Verdict != tc.want {
				t.Errorf("%s, want %s: %s", r.Verdict, tc.want, r.Error)
			}
		})
	}
}

// A thread beside the main one ends alone: what ends the program outranks it.
func TestOfAThread(t *testing.T) {
	raised := func(message string) string {
		return "Traceback (most recent call last):\n  File \"/app/train.py\", line 9, in run\n    go()\n" + message + "\n"
	}
	cases := map[string]struct{ text, want string }{
		"of Python": {"Exception in thread Thread-3 (watch):\n" + raised("KeyError: 'queue'") + raised("ValueError: no rows"), "ValueError: no rows"},
		"of Rust":   {"thread '<unnamed>' panicked at src/a.rs:3:1:\nno column\nthread 'main' panicked at src/main.rs:7:1:\nno rows\n", "no rows"},
		"alone":     {"Exception in thread Thread-3 (watch):\n" + raised("KeyError: 'queue'"), "KeyError: 'queue'"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := read(t, "", strings.NewReader(tc.text))
			if r.Root == nil || !strings.Contains(r.Root.Line, tc.want) {
				t.Errorf("root %+v, want the line %q", r.Root, tc.want)
			}
		})
	}
}

// What nobody raised, and what happened no times, is no failure.
func TestNamesAndCountsOfNothing(t *testing.T) {
	steps := many("step %d loss: 0.25\n", 30)
	cases := map[string]string{
		"counts of none at the end": "loading\nGroups: completed 4, aborted 0\nCases: succeeded 31, failed 0, canceled 0\nAll cases passed.\nTotal time: 12 s, completed\n",
		"a type that stands alone":  steps + "End of training\nSystem.Management.Automation.RemoteException\nmodel saved\n",
		"one sentence of a loop":    many("Epoch 1 is %d percent complete, and the loss of it was 0.4\n", 99),
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			if r := read(t, "", strings.NewReader(text)); r.Verdict != diagnose.Healthy {
				t.Errorf("%s, want healthy: %s %v", r.Verdict, r.Error, r.Coverage.Missing)
			}
		})
	}
}

// Runs that end well print it too, so it is no cause of an end that came from outside: the run had gone on until then.
func TestAnEndFromOutside(t *testing.T) {
	const weak = "CommandNotFoundError: Your shell has not been properly configured to use 'conda activate'.\n"
	cases := map[string]struct{ end, want string }{
		"at the time limit": {"slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-01-06T10:00:00 DUE TO TIME LIMIT ***\n", "sigterm-preempted"},
		"by its own":        {"Traceback (most recent call last):\n  File \"/app/train.py\", line 3, in <module>\n    go()\nLookupError: no rows\n", "argument-or-config-error"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if r := read(t, "", strings.NewReader(weak+tc.end)); r.Category != tc.want {
				t.Errorf("category %q, want %q: %s", r.Category, tc.want, r.Error)
			}
		})
	}
}

// What a model is worth is known by more names than that of accuracy.
func TestMeasuresThatChange(t *testing.T) {
	for _, name := range []string{"RMSE", "Log-likelihood", "Recall@20"} {
		if r := read(t, "", strings.NewReader(many("config -> "+name+": 1.2%d over the held part\n", 12))); r.Verdict != diagnose.Healthy {
			t.Errorf("%s: %s, want healthy: %s", name, r.Verdict, r.Error)
		}
	}
}

// What counts on goes well, whatever else its lines say, and who else writes between them.
func TestCountersAmongOtherWords(t *testing.T) {
	fetched := func(n int, words ...string) (text string) {
		for i := range n {
			text += fmt.Sprintf("[%d/900] %s x%s\n", i+1, words[i%len(words)], strings.Repeat(string(rune('a'+i%26)), 3+i%7))
		}
		return text
	}
	ranks := ""
	for i := range 20 {
		ranks += fmt.Sprintf("%d train %.3f\n%d train %.3f\n", 120+i, 9-float64(i)/10, 100+i, 8-float64(i)/10)
	}
	cases := map[string]struct {
		text string
		want diagnose.Verdict
	}{
		"an error, and nothing was done then": {fetched(60, "[OK]") + "[ERROR] the store is gone\n", diagnose.Diagnosed},
		"errors alone, not one counted":       {strings.Repeat("[ERROR] the store is gone\n", 30), diagnose.Diagnosed},
		"two ranks, one behind the other":     {ranks, diagnose.Healthy},
		"what starts again and again":         {strings.Repeat(many("try %d of 3: waited 7 s\n", 3), 20), diagnose.Unknown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if r := read(t, "", strings.NewReader(tc.text)); r.Verdict != tc.want {
				t.Errorf("%s, want %s: %s", r.Verdict, tc.want, r.Error)
			}
		})
	}
}

// torchrun names the process that ended first. Where that was interrupted, somebody ended the run.
func TestTorchrunSawItInterrupted(t *testing.T) {
	const text = "Traceback (most recent call last):\n  File \"/app/train.py\", line 7, in <module>\n    step()\nKeyboardInterrupt\n" +
		"Root Cause (first observed failure):\n[0]:\n  time      : 2026-03-01_10:00:07\n  rank      : 0 (local_rank: 0)\n  exitcode  : %d (pid: 77)\n  traceback : Signal received by PID 77\n"
	for exit, want := range map[int]string{-2: "sigterm-preempted", 130: "sigterm-preempted", -1: "sigterm-preempted", -11: "segfault"} {
		if r := read(t, "", strings.NewReader(fmt.Sprintf(text, exit)+fmt.Sprintf("failed (exitcode: %d) local_rank: 0 (pid: 77)\n", exit))); r.Category != want {
			t.Errorf("exit code %d: category %q, want %q: %s", exit, r.Category, want, r.Error)
		}
	}
}

// A log that ends with the heading of a traceback does not end well.
func TestItEndsWithTheHeadingOfATraceback(t *testing.T) {
	if r := read(t, "", strings.NewReader(many("step %d loss: 0.25\n", 40)+"^CTraceback (most recent call last):\n")); r.Verdict == diagnose.Healthy {
		t.Errorf("%s: %s", r.Verdict, r.Error)
	}
}
