package diagnose_test

import (
	"strings"
	"testing"
)

// What a log complains of did not end a run where lines of other work follow to its end. What follows the end of a run is
// no work: stacks, warnings, trackers, batch systems, messages in a frame, tables.
func TestWorkBelowAComplaintShowsThatItEndedNothing(t *testing.T) {
	const (
		raised = "Traceback (most recent call last):\n  File \"/app/fold.py\", line 9, in fit\n    y = model(x)\nRuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 9x2)\n"
		said   = "fold 3: size mismatch for head.weight: copying a param with shape torch.Size([3, 256]) from checkpoint, the shape in current model is torch.Size([5, 256]).\n"
		memory = "step 3: CUDA out of memory. Tried to allocate 2.00 GiB\n"
		told   = "*** SIGTERM (@0x1) received by PID 20340 (TID 0x7fc91dcd1a40) from PID 21475; stack trace: ***\n"
	)
	lines := func(n int, form string) (text string) {
		for _, word := range strings.Fields("reads writes sorts joins splits counts merges groups ranks copies packs sends")[:n] {
			text += strings.ReplaceAll(form, "%", word)
		}
		return text
	}
	const work = "fold 4 % the rows\n"
	frame := strings.Repeat("-", 40) + "\n"
	for name, tc := range map[string]struct{ log, want string }{
		"ten lines below what was raised": {raised + lines(10, work), ""},
		"nine":                            {raised + lines(9, work), "shape-mismatch"},
		"eight lines below what was said": {memory + lines(8, work), ""},
		"seven":                           {memory + lines(7, work), "gpu-oom"},
		"a complaint below them":          {memory + lines(8, work) + said, "gpu-oom"},
		"four lines, three blank ones, four lines":        {many("fold %d is read\n", 60) + memory + strings.Repeat("fold 4 waits for the rows\n", 20) + lines(4, work) + "\n\n\n" + lines(4, work), ""},
		"eight lines below two complaints":                {memory + lines(3, work) + said + lines(8, work), ""},
		"the same line again and again":                   {memory + strings.Repeat("fold 4 waits for the rows\n", 12), "gpu-oom"},
		"an order to end, and what others say":            {told + lines(12, work), "sigterm-preempted"},
		"losses that are none":                            {trained(5) + many("step 1%d loss: nan\n", 6) + lines(12, work), "nan-loss"},
		"the frames of a stack":                           {raised + lines(12, "[frame 7]: %(+0x158e6e) [0x7f650c494e6e]\n"), "shape-mismatch"},
		"lines that go on with the one above":             {raised + lines(12, "    % the rows\n"), "shape-mismatch"},
		"warnings":                                        {raised + lines(12, "fold.py:8: FutureWarning: % the rows\n"), "shape-mismatch"},
		"what a tracker says of the end":                  {raised + lines(12, "wandb: % the rows\n"), "shape-mismatch"},
		"the same behind the cluster's times":             {raised + lines(12, "2026-03-02T11:30:01.123456789Z wandb: % the rows\n"), "shape-mismatch"},
		"the rows of a table":                             {raised + lines(12, "%  0.19  ray/server\n"), "shape-mismatch"},
		"a message in a frame":                            {frame + "it cannot go on: CUDA out of memory. Tried to allocate 2.00 GiB\n" + lines(12, work) + frame, "gpu-oom"},
		"work below the frame":                            {frame + "it cannot go on: CUDA out of memory. Tried to allocate 2.00 GiB\n" + frame + lines(8, work), ""},
		"work, and a traceback that breaks off":           {memory + lines(12, work) + "Traceback (most recent call last):\n  File \"t.py\", line 3, in <module>\n    fit()\n", "gpu-oom"},
		"a tracker that begins another run":               {raised + "wandb: Currently logged in as: a\nwandb: Tracking run with wandb version 0.13\nwandb: Run data is saved in b\nwandb: Run offline\nwandb: Syncing run c\nwandb: View d\nwandb: View e\n", ""},
		"one that begins it before the complaint":         {"wandb: Currently logged in as: a\nwandb: Tracking run with wandb version 0.13\n" + raised, "shape-mismatch"},
		"another run that fails of something else":        {strings.Replace(raised, "in fit", "in <module>", 1) + "wandb: Currently logged in as: a\nwandb: Tracking run with wandb version 0.13\nEpoch 1/80\n" + memory, "gpu-oom"},
		"a tracker of which one run has two first lines":  {"the data is read\n" + memory + "wandb: Currently logged in as: a\nwandb: upgrade it\nwandb: Tracking run with wandb version 0.13\n", "gpu-oom"},
		"steps above alone":                               {trained(8) + raised + lines(10, work), ""},
		"steps above, and the bar of the one that failed": {trained(8) + raised + "step 9 loss: 0.5\n" + lines(10, work), ""},
		"steps above, and two below":                      {trained(8) + raised + "step 9 loss: 0.5\nstep 10 loss: 0.4\n" + lines(10, work), "healthy"},
		"counts above alone":                              {many("fold %d of 90 has 3 rows\n", 60) + raised + lines(10, work), ""},
		"an end that went well above it":                  {"Training finished. `Trainer.fit` stopped: `max_epochs=5` reached.\n" + raised + lines(10, work), ""},
		"and below it":                                    {raised + lines(10, work) + "Training finished. `Trainer.fit` stopped: `max_epochs=5` reached.\n", "healthy"},
		"an end below what ended its process, and work":   {strings.Replace(raised, "in fit", "in <module>", 1) + lines(10, work) + "all folds are done\n", ""},
		"an end below memory that was short":              {memory + lines(8, work) + "all folds are done\n", ""},
		"a launcher that ends with 0":                     {"the rows are read\nthe rows are sorted\nCommand exiting with ret '0'\n", "healthy"},
		"and with 1":                                      {"the rows are read\nthe rows are sorted\nCommand exiting with ret '1'\n", ""},
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
		"in an excerpt, above the last line":  {rows(28) + guess + after, "dataset-error"},
		"in a whole log, above the last line": {rows(29) + guess + after, ""},
		"in a whole log, as the last line":    {rows(60) + guess, "dataset-error"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := read(t, "", strings.NewReader(tc.log)); string(r.Category) != tc.want {
				t.Errorf("category is %q, want %q; %s", r.Category, tc.want, r.Verdict)
			}
		})
	}
}
