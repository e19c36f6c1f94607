package diagnose_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// logsOf are bare logs of ranks, one each.
func logsOf(texts ...string) diagnose.Case {
	c := diagnose.Case{Now: noon}
	for i, text := range texts {
		c.Logs = append(c.Logs, diagnose.Log{
			Source: evidence.Source{File: fmt.Sprintf("log-rank%d.txt", i), Rank: i},
			Open:   func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil },
		})
	}
	return c
}

// raises is the end of a log that a call of a library raised an exception in.
func raises(file, function, message string) string {
	return "step 8 loss 1.2\nTraceback (most recent call last):\n  File \"/workspace/tune.py\", line 241, in main\n    step()\n  File \"/usr/lib/python3/dist-packages/torch/" +
		file + "\", line 197, in " + function + "\n    call()\n" + message + "\n"
}

// Where all members wait in vain, the one to look at is the one that waits in another call, that read another number or that
// says as its last word what ended it; where nothing sets one apart, none is.
func TestTheMemberThatWentAnotherWay(t *testing.T) {
	const timeout = "RuntimeError: [./gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 8000ms for recv operation to complete"
	const gone = "RuntimeError: [./gloo/transport/tcp/pair.cc:598] Connection closed by peer [10.244.3.19]:34112"
	backward, broadcast := raises("autograd/__init__.py", "backward", timeout), raises("distributed/distributed_c10d.py", "broadcast", timeout)
	sizes := func(read int) string {
		return raises("distributed/distributed_c10d.py", "init_process_group", fmt.Sprintf("RuntimeError: [enforce fail at ./gloo/transport/tcp/address.cc:45] sizeof(impl_) == bytes.size(). 136 vs %d", read))
	}
	lost := raises("autograd/__init__.py", "backward", gone)
	for name, tc := range map[string]struct {
		logs                []string
		rule, category, log string
	}{
		"one waits in another call":      {[]string{backward, backward, broadcast, backward}, "member-elsewhere", "nccl-timeout", "log-rank2.txt"},
		"all wait in one call":           {[]string{backward, backward, backward, backward}, "gloo-timeout", "nccl-timeout", "log-rank0.txt"},
		"two wait in each of two":        {[]string{backward, broadcast, broadcast, backward}, "gloo-timeout", "nccl-timeout", "log-rank0.txt"},
		"of two, each waits in its own":  {[]string{backward, broadcast}, "gloo-timeout", "nccl-timeout", "log-rank0.txt"},
		"one does not wait":              {[]string{backward, backward, broadcast, "step 8 loss 1.2\n"}, "member-silent", "nccl-timeout", "log-rank3.txt"},
		"one has another world":          {[]string{sizes(317), sizes(317), sizes(58), "process 3 joins\n"}, "gloo-other-world-size", "wrong-world-size", "log-rank2.txt"},
		"two have one world":             {[]string{sizes(317), sizes(58)}, "gloo-other-world-size", "wrong-world-size", "log-rank0.txt"},
		"one was asked to end":           {[]string{lost, lost, "step 8 loss 1.2\nsignal 15: checkpoint of step 9 written, leaving\n"}, "signal-received", "sigterm-preempted", "log-rank2.txt"},
		"two of three were asked to end": {[]string{lost, "step 8 loss 1.2\nsignal 15: leaving\n", "step 8 loss 1.2\nsignal 15: leaving\n"}, "signal-received", "sigterm-preempted", "log-rank1.txt"},
		"of two, one was asked to end":   {[]string{lost, lost, "step 8 loss 1.2\nsignal 15: leaving\n", "step 8 loss 1.2\n"}, "nccl-remote-error", "nccl-timeout", "log-rank0.txt"},
		"one says nothing of its end":    {[]string{lost, lost, "step 8 loss 1.2\n"}, "member-vanished", "host-oom-killed", "log-rank2.txt"},
		"the log of one is cut in words": {[]string{lost, lost, "step 8 loss 1.2\nTraceback (most recent call last):\n  File \"/workspace/tune.py\", line 241, in main\n    step()\n"}, "python-exception", "python-exception-user-code", "log-rank2.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			r := diagnose.Diagnose(t.Context(), logsOf(tc.logs...), catalog(t), diagnose.Options{})
			if r.Root == nil {
				t.Fatalf("no cause; want %s in %s", tc.rule, tc.log)
			}
			if got := r.Root.Signature; got != tc.rule || r.Category != tc.category || r.Root.Source.File != tc.log {
				t.Errorf("the cause is %s (%s) in %s; want %s (%s) in %s", got, r.Category, r.Root.Source.File, tc.rule, tc.category, tc.log)
			}
		})
	}
}

// What a launcher prints between two rules to account for an end has no word of the program, and what other ranks lose below it is
// what came of the end.
func TestALaunchersAccountIsNotTheProgramsWord(t *testing.T) {
	const rule = "--------------------------------------------------------------------------\n"
	const ended = rule + "Primary job  terminated normally, but 1 process returned\na non-zero exit code. Per user-direction, the job has been aborted.\n" + rule
	const aborted = rule + "MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD\nwith errorcode 2.\n" + rule
	const peer = rule + "An MPI communication peer process has unexpectedly disconnected.  This\nusually indicates a failure in the peer process (e.g., a crash or\notherwise exiting without calling MPI_FINALIZE first).\n" + rule
	const missing = "heat: /data/deck.in: No such file or directory\n"
	for name, tc := range map[string]struct{ log, category, line string }{
		"the launcher aborts the job":        {"sweep 8 max change 1.5e-02\n" + ended, "mpi-failure", "Primary job"},
		"the program itself aborts":          {"sweep 8 max change 1.5e-02\nheat: aborted: double free\n", "segfault", "double free"},
		"a rank says why, others lose it":    {"sweep 8 max change 1.5e-02\n" + missing + aborted + peer, "file-not-found", "deck.in"},
		"a peer is lost, and nothing is why": {"sweep 8 max change 1.5e-02\n" + aborted + peer, "mpi-failure", "disconnected"},
		"a peer is lost before a file is":    {"sweep 8 max change 1.5e-02\n" + peer + missing, "mpi-failure", "disconnected"},
	} {
		t.Run(name, func(t *testing.T) {
			r := diagnose.Diagnose(t.Context(), logsOf(tc.log), catalog(t), diagnose.Options{})
			if r.Root == nil || r.Category != tc.category || !strings.Contains(r.Root.Line, tc.line) {
				t.Errorf("the cause is %+v (%s); want %s at %q", r.Root, r.Category, tc.category, tc.line)
			}
		})
	}
}

// A trial of many whose score is no number was handled where its exception stands in a record and the loss of the run is a number
// below it; a loss that is none below it, or an exception that nothing handled, was not.
func TestATrialWithoutAScoreIsNoFailure(t *testing.T) {
	const record = "2026-03-01 10:00:04,016 | ERROR    | tune:during:112 - trial 2 failed, score set to 0, going on with the next\nTraceback (most recent call last):\n  File \"/workspace/tune.py\", line 110, in during\n    raise ValueError(\"trial 2: loss is nan\")\nValueError: trial 2: loss is nan\n"
	const raised = "Traceback (most recent call last):\n  File \"/workspace/tune.py\", line 279, in <module>\n    main()\n  File \"/workspace/tune.py\", line 110, in during\n    raise ValueError(\"trial 2: loss is nan\")\nValueError: trial 2: loss is nan\n"
	const head, sound, spoilt, done = "{'loss': 1.2, 'epoch': 0.2}\n", "{'loss': 1.1, 'epoch': 0.4}\n", "{'loss': nan, 'epoch': 0.4}\n", "2026-03-01 10:00:09,016 | INFO     | tune:main:260 - done, model saved\n"
	for name, tc := range map[string]struct{ log, category string }{
		"handled, and a loss below it":        {head + record + sound + sound + sound + done, "healthy"},
		"handled, of a logger like glog":      {strings.NewReplacer("2026-03-01 10:00:04,016 | ERROR    | tune:during:112 -", "E0301 10:00:04.016021       1 tune.py:112]").Replace(head + record + sound + sound + sound + done), "healthy"},
		"handled, and nothing is sound below": {head + record + spoilt + done, "nan-loss"},
		"handled as its last word":            {head + record, "nan-loss"},
		"raised":                              {head + raised, "nan-loss"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := diagnose.Diagnose(t.Context(), logsOf(tc.log), catalog(t), diagnose.Options{}); r.Category != tc.category {
				t.Errorf("it is %s (%s); want %s", r.Category, r.Analysis, tc.category)
			}
		})
	}
}
