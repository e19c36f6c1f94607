package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// An exception that the program says it leaves behind is passing where training goes on for long enough.
func TestAnExceptionThatTrainingLeftBehind(t *testing.T) {
	steps := func(from, n int) (text string) {
		for i := range n {
			text += fmt.Sprintf("step %d | loss: %.3f | lr 1e-4\n", from+i, 2-float64(from+i)/1000)
		}
		return text
	}
	counted := func(n int) (text string) {
		for i := range n {
			text += fmt.Sprintf("upd %d nll %.3f gn 1.1\n", i, 3-float64(i)/100)
		}
		return text
	}
	waited := func(n int) (text string) {
		for i := range n {
			text += fmt.Sprintf("waited %d s of 600 for peer 3\n", 10*i)
		}
		return text
	}
	timeouts := func(n int) (text string) {
		for i := range n {
			text += fmt.Sprintf("[rank%[1]d]:[E ProcessGroupNCCL.cpp:607] [Rank %[1]d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4711, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for %d milliseconds before timing out.\n", i, 600000+i)
		}
		return text
	}
	const raised = "Traceback (most recent call last):\n  File \"/app/data.py\", line 33, in __getitem__\n    img = Image.open(path)\nPIL.UnidentifiedImageError: cannot identify image file '/data/7.jpg'\n"
	cases := map[string]struct {
		text string
		want diagnose.Verdict
	}{
		"announced, and many steps after it":     {steps(0, 30) + raised + "skipping this sample\n" + steps(30, 20), diagnose.Healthy},
		"announced at the very beginning":        {raised + "skipping this sample\n" + steps(0, 20), diagnose.Healthy},
		"announced, and few steps after it":      {steps(0, 30) + raised + "skipping this sample\n" + steps(30, 3), diagnose.Diagnosed},
		"not announced: training went on":        {steps(0, 30) + raised + steps(30, 20), diagnose.Healthy},
		"other ranks count one step, and wait":   {steps(0, 30) + raised + strings.Repeat(steps(30, 1), 16), diagnose.Diagnosed},
		"not announced, and few steps after it":  {steps(0, 30) + raised + steps(30, 3), diagnose.Diagnosed},
		"training went on, and was killed":       {steps(0, 30) + raised + steps(30, 20) + "Killed\n", diagnose.Diagnosed},
		"announced before it, and many steps":    {steps(0, 30) + "WARNING: sample 17 could not be decoded, skipping:\n" + raised + steps(30, 20), diagnose.Healthy},
		"announced before it: another try":       {steps(0, 30) + "retrying after error:\n" + raised + steps(30, 20), diagnose.Healthy},
		"announced before it: ignored":           {steps(0, 30) + "ignored exception:\n" + raised + steps(30, 20), diagnose.Healthy},
		"announced before it: going on":          {steps(0, 30) + "non-fatal error in the loader, continuing\n" + raised + steps(30, 20), diagnose.Healthy},
		"announced by a warning and a rule":      {steps(0, 30) + "[WARNING] Data conversion failed.\n====\n" + raised + steps(30, 20), diagnose.Healthy},
		"announced before a chain of them":       {steps(0, 30) + "skipping the sample:\n" + raised + "\nDuring handling of the above exception, another exception occurred:\n\n" + raised + steps(30, 20), diagnose.Healthy},
		"announced before one line":              {steps(0, 30) + "retrying after error:\nRuntimeError: peer gone\n" + steps(30, 20), diagnose.Healthy},
		"announced before it, and few steps":     {steps(0, 30) + "retrying after error:\n" + raised + steps(30, 3), diagnose.Diagnosed},
		"announced before it, and it ends":       {steps(0, 30) + "retrying after error:\n" + raised, diagnose.Diagnosed},
		"another one before it that is skipped":  {steps(0, 30) + "skipping:\n" + raised + steps(30, 20) + raised, diagnose.Diagnosed},
		"counted in words that nobody knows":     {"failed: OSError: [Errno 28] No space left on device\n" + counted(40), diagnose.Healthy},
		"all ranks of a gang give up":            {timeouts(64), diagnose.Diagnosed},
		"they trained before, and give up":       {steps(0, 30) + timeouts(64), diagnose.Diagnosed},
		"others wait, and count the seconds":     {counted(3) + raised + waited(40), diagnose.Diagnosed},
		"survived before, and again":             {steps(0, 10) + raised + steps(10, 20) + raised + steps(30, 3), diagnose.Healthy},
		"survived before, and no more":           {steps(0, 10) + raised + steps(10, 20) + raised + steps(30, 1), diagnose.Diagnosed},
		"another one after it that ends the run": {steps(0, 30) + raised + "skipping this sample\n" + steps(30, 20) + raised, diagnose.Diagnosed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if r := read(t, "", strings.NewReader(tc.text)); r.Verdict != tc.want {
				t.Errorf("%s, want %s: %s", r.Verdict, tc.want, r.Error)
			}
		})
	}
}

// A worker of a loader is none of the run's processes: where the run goes on, it was survived.
func TestALoadersWorkerThatCrashedIsSurvivedByTheNextSteps(t *testing.T) {
	const before, worker = "INFO:net:Train Epoch: 15 [70%]\n", "ERROR: Unexpected segmentation fault encountered in worker.\n"
	if r := read(t, "", strings.NewReader(before+worker+"INFO:net:====> Epoch: 16\nINFO:net:Train Epoch: 17 [5%]\n")); r.Root != nil {
		t.Errorf("survived: %s, %+v", r.Category, r.Root)
	}
	for _, after := range []string{"", "INFO:net:====> Epoch: 16\n"} { // one may be an echo
		if r := read(t, "", strings.NewReader(before+worker+after)); r.Category != "segfault" {
			t.Errorf("%q after it: %s, %+v", after, r.Category, r.Root)
		}
	}
}
