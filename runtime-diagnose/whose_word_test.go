package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What ended a run is told by whoever spoke last of it and knows: the program below its launcher's help, the kernel below
// the batch system's order, the batch system below what a shell or a head remarked.
func TestWhoseWordTellsWhatEndedIt(t *testing.T) {
	const (
		order   = "slurmstepd: error: *** JOB 42 ON n1 CANCELLED AT 2024-05-06T23:49:10 DUE TO TIME LIMIT ***\n"
		scancel = "slurmstepd: error: *** JOB 42 ON n1 CANCELLED AT 2024-05-06T23:49:10 ***\n"
		killed  = "slurmstepd: error: Detected 30 oom_kill events in StepId=42.batch. Some of the step tasks have been OOM Killed.\n"
		shell   = "/home/u/.bashrc: line 3: module: command not found\n"
		lacks   = "No checkpoint at /ckpt/latest.pt, start fresh\n"
		refused = "ERROR on proc 9: Non-numeric atom coords - simulation unstable (src/domain.cpp:548)\n"
		aborted = "MPI_ABORT was invoked on rank 9 in communicator MPI_COMM_WORLD\n"
		command = "Command '['simulate', '--nodes', '100']' returned non-zero exit status 2.\n"
		steps   = "step 1 loss 2.5\nstep 2 loss 2.4\nstep 3 loss 2.3\n"
	)
	run := func(what string) string {
		return "2025-01-04 17:40:00 - INFO - The analysis begins\n2025-01-04 17:40:01 - INFO - The records are read\n2025-01-04 17:40:02 - INFO - The words are counted\n" +
			"2025-01-04 17:40:03 - ERROR - It went wrong: " + what + "\n"
	}
	for name, tc := range map[string]struct{ log, want string }{
		"the program above its launcher's help":        {"setting up\n" + refused + aborted + many("help %d\n", 60), "python-exception-user-code: " + refused},
		"a program that goes on without its launcher":  {"setting up\n" + refused + many("part %d is written\n", 60), ""},
		"only whoever ran the command":                 {"begins\n" + command + "Loading the configuration\n", "python-exception-user-code: " + command},
		"the kernel below the order":                   {steps + scancel + killed, "host-oom-killed: " + killed},
		"the order below what the shell remarked":      {shell + "begins\n" + order, "sigterm-preempted: " + order},
		"the order below the head of a long log":       {lacks + many("part %d is written\n", 9) + order, "sigterm-preempted: " + order},
		"the order in a log of fewer than ten times":   {lacks + many("part %d is written\n", 8) + order, "file-not-found: " + lacks},
		"the last of several runs in words of its own": {run("the lease is lost") + run("the names are gone"), "python-exception-user-code: 2025-01-04 17:40:03 - ERROR - It went wrong: the names are gone"},
	} {
		t.Run(name, func(t *testing.T) {
			r, got := read(t, "", strings.NewReader(tc.log)), ""
			if r.Root != nil {
				got = fmt.Sprintf("%s: %s", r.Category, r.Root.Line)
			}
			if diff := cmp.Diff(strings.TrimSpace(tc.want), got); diff != "" {
				t.Errorf("cause (-want +got):\n%s", diff)
			}
		})
	}
	for last, want := range map[string]string{
		"This error has not yet been assigned to a category": "unknown", "the error of the last fold is 0.2": "healthy", "0 errors": "healthy",
	} {
		if r := read(t, "", strings.NewReader(steps+"the run is over\n"+last+"\nFor more see the manual\n")); string(r.Verdict) != want {
			t.Errorf("%q: %s, want %s", last, r.Verdict, want)
		}
	}
}
