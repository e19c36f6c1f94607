package diagnose_test

import (
	"strings"
	"testing"
)

// A tracker that begins a run below a complaint belongs to another run.
func TestATrackerBeginsARun(t *testing.T) {
	const (
		raised = "Traceback (most recent call last):\n  File \"/app/fold.py\", line 9, in fit\n    y = model(x)\nRuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 9x2)\n"
		memory = "step 3: CUDA out of memory. Tried to allocate 2.00 GiB\n"
	)
	for name, tc := range map[string]struct{ log, want string }{
		"a tracker that begins another run":              {raised + "wandb: Currently logged in as: a\nwandb: Tracking run with wandb version 0.13\nwandb: Run data is saved in b\nwandb: Run offline\nwandb: Syncing run c\nwandb: View d\nwandb: View e\n", ""},
		"one that begins it before the complaint":        {"wandb: Currently logged in as: a\nwandb: Tracking run with wandb version 0.13\n" + raised, "shape-mismatch"},
		"another run that fails of something else":       {strings.Replace(raised, "in fit", "in <module>", 1) + "wandb: Currently logged in as: a\nwandb: Tracking run with wandb version 0.13\nEpoch 1/80\n" + memory, "gpu-oom"},
		"a tracker of which one run has two first lines": {"the data is read\n" + memory + "wandb: Currently logged in as: a\nwandb: upgrade it\nwandb: Tracking run with wandb version 0.13\n", "gpu-oom"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := read(t, "", strings.NewReader(tc.log)); string(r.Category) != tc.want {
				t.Errorf("category is %q, want %q; %s", r.Category, tc.want, r.Verdict)
			}
		})
	}
}

// A line without a level that speaks of something known is a program's last word at the end of a whole log; an excerpt
// holds little but what somebody found worth showing.
func TestAGuessIsTheLastWord(t *testing.T) {
	const (
		guess = "filtering 3 invalid samples of the evaluation data set\n"
		after = "the model is read\n"
	)
	rows := func(n int) string { return many("rows of part %d are read\n", n) }
	for name, tc := range map[string]struct{ log, want string }{
		"in an excerpt, above the last line":   {rows(28) + guess + after, "dataset-error"},
		"in a whole log, above the last line":  {rows(29) + guess + after, ""},
		"in a whole log, as the last line":     {rows(60) + guess, "dataset-error"},
		"an error that is a number":            {rows(3) + "Standard: -0.7949564571198138\nError: 1.0655694471228827e-06\n", ""},
		"an error that is a whole number":      {rows(3) + "Standard: -0.7949564571198138\nError: 12\n", "python-exception-user-code"},
		"an error that is a number and a word": {rows(3) + "Error: 1.06 is too high\n", "python-exception-user-code"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := read(t, "", strings.NewReader(tc.log)); string(r.Category) != tc.want {
				t.Errorf("category is %q, want %q; %s", r.Category, tc.want, r.Verdict)
			}
		})
	}
}
