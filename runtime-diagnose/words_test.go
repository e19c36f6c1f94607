package diagnose_test

import (
	"strings"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// An error that no signature knows speaks of something, and what its author named is its category: a hypothesis. What
// the interpreter itself words names no wish of anybody.
func TestAnErrorThatNobodyKnowsSpeaksThroughItsWords(t *testing.T) {
	trace := func(last string) string {
		return "Traceback (most recent call last):\n  File \"/opt/lib/python3.11/site-packages/oddlib/core.py\", line 3, in run\n    go()\n" + last + "\n"
	}
	cases := map[string]struct{ log, category, line string }{
		"a shape":             {trace("oddlib.PlanError: the shape of the mask must be (8, 4), but got (8, 2)"), "shape-mismatch", "the shape of the mask"},
		"a device":            {trace("oddlib.PlanError: the device asked for (cuda:5) is not available"), "no-gpu-visible", "cuda:5"},
		"counts":              {trace("oddlib.PlanError: the number of micro batches is less than the stages"), "wrong-world-size", "micro batches"},
		"a file":              {trace("oddlib.PlanError: did not find the folder of run seven"), "file-not-found", "run seven"},
		"an option":           {trace("oddlib.PlanError: the strategy is not supported with offload"), "argument-or-config-error", "strategy"},
		"data":                {trace("oddlib.PlanError: shard 7 is truncated"), "dataset-error", "shard 7"},
		"nothing known":       {trace("oddlib.PlanError: the plan was odd"), "python-exception-user-code", "the plan was odd"},
		"what Python worded":  {trace("KeyError: 'the shard of run seven is truncated'"), "python-exception-user-code", "KeyError"},
		"a package that lost": {trace("AttributeError: module 'oddlib' has no attribute 'fused'"), "import-version-conflict", "oddlib"},
		"a code of the operating system": {
			trace("oddlib.PlanError: (11) : invalid argument at /odd/general.cpp:383"), "python-exception-user-code", "PlanError",
		},
		"a line that its program calls an error": {"ERROR oddlib: unable to connect to 10.0.0.7:2379\n", "rendezvous-timeout", "unable to connect"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := read(t, "", strings.NewReader(c.log))
			if r.Root == nil || r.Category != c.category || !strings.Contains(r.Root.Line, c.line) {
				t.Fatalf("%s: %+v, want %s of %q", r.Category, r.Root, c.category, c.line)
			}
			if c.category != "python-exception-user-code" && r.Root.Standing != diagnose.Hypothesis {
				t.Errorf("standing %s: nobody knows these words", r.Root.Standing)
			}
		})
	}
}

// Launchers and macros print how a process ended in words of their own; the number means the same in all of them.
func TestTheNumberOfAnEndIsReadInAnyWords(t *testing.T) {
	for line, category := range map[string]string{
		"ERROR:oddlaunch.cli:Rank 2 crashed with exit code -7.":                                         "shm-exhausted",
		"ERROR:oddlaunch.cli:Global rank 0 (PID 208865) exited with code -11":                           "segfault",
		"[E] worker 3 died with status 139":                                                             "segfault",
		"[ERROR] [launch.py:324] ['python', '-u', 't.py'] exits with return code = -7":                  "shm-exhausted",
		"subprocess.CalledProcessError: Command '['python']' returned non-zero exit status 3221225477.": "segfault",
		"[E] worker 3 exited with code 3221225725":                                                      "segfault",
		"[E] worker 3 exited with code 3221225499":                                                      "python-exception-user-code",
		"GPUassert: out of memory src/tensors/memory.cu 31":                                             "gpu-oom",
		"ERROR: worker 3 exited with code 3":                                                            "python-exception-user-code",
	} {
		r := read(t, "", strings.NewReader("Building trainer...\n"+line+"\n"))
		if r.Root == nil || r.Category != category {
			t.Errorf("%q: %s, %+v, want %s", line, r.Category, r.Root, category)
		}
	}
}

// CUDA's words are known without the number and in another form.
func TestWordsOfCUDAAreReadInAnotherForm(t *testing.T) {
	r := read(t, "", strings.NewReader("epoch 3\nRuntimeError:cuda error:misaligned address\n"))
	if r.Category != "illegal-memory-access" {
		t.Errorf("%s, %+v", r.Category, r.Root)
	}
}
