package diagnose_test

import (
	"strings"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
)

// What is said in words that no signature knows has a subject, and the category is a guess from that.
func TestWordsThatNobodyKnowsHaveASubject(t *testing.T) {
	raised := "Traceback (most recent call last):\n  File \"/app/train.py\", line 9, in run\n    go()\n"
	waits := func(file string) string {
		return "Traceback (most recent call last):\n  File \"" + file + "\", line 9, in seal\n    raise SealError(\n"
	}
	for name, tc := range map[string]struct{ text, category, line string }{
		"of an exception":                      {raised + "keeper.Refused: the archive's columns disagree\n", "dataset-error", "columns disagree"},
		"a wait of the program's own":          {waits("/app/gate.py") + "app.gate.SealError: timed out waiting for the acknowledgement of part 3\n", "python-exception-user-code", "timed out"},
		"a wait of a library":                  {waits("/venv/lib/python3.11/site-packages/keeper/gate.py") + "keeper.gate.SealError: timed out waiting for the acknowledgement of part 3\n", "network-dns", "timed out"},
		"an own wait for a host":               {waits("/app/gate.py") + "app.gate.SealError: connection timed out\n", "network-dns", "timed out"},
		"a type that Python raises about code": {raised + "io.UnsupportedOperation: read\n", "python-exception-user-code", "UnsupportedOperation"},
		"a defect with what is expected below": {raised + "TypeError: randn() received an invalid combination of arguments, but expected one of:\n * (tuple of ints size, *, torch.dtype dtype = None)\n", "python-exception-user-code", "randn()"},
		"a message that goes on too late":      {raised + "RuntimeError: the pipeline was not built:\na\nb\nc\nd\ne\nf\na truncated sample\n", "python-exception-user-code", "was not built:"},
		"no message, and an agent below":       {"[rank6]: Traceback (most recent call last):\n[rank6]:   File \"/app/train.py\", line 9, in run\n[rank6]:     assert not mixed\n[rank6]: AssertionError\nW1025 22:01:11.227000 280 torch/distributed/elastic/multiprocessing/api.py:897] Sending process 294 closing signal SIGTERM\n", "python-exception-user-code", "AssertionError"},
		"an error that its program logged":     {"starting\nkeeper: error: lookup of ps-0: Unknown host\n", "network-dns", "Unknown host"},
		"last words without a level":           {"starting\n[14:49:15] rpc.cc:76: Failed bind on 10.0.0.4:34567\n", "port-in-use", "Failed bind"},
		"behind a bar that was not ended":      {"  0%|     | 0/78 [00:00<?, ?it/s]\n  1%|     | 1/78 [00:01<2:37, 1.21s/it]F0000 00:00:17.89 9276 client.cc:487] the device halted unexpectedly\n", "gpu-hardware-xid", "halted"},
		"a traceback that breaks off":          {raised + "  File \"/app/reader.py\", line 3, in decode\n    raise Torn(\"unexpected end of data\")\n", "dataset-error", "unexpected end of data"},
		"information that it exits":            {"2023-09-25 15:53:27,994 [INFO] [RANK 0] Unable to load optimizer from checkpoint /ckpt/5000, exiting.\n", "checkpoint-corrupt-or-mismatch", "Unable to load optimizer"},
		"a function of NCCL that failed":       {"E external/xla/xla/pjrt/pjrt_stream_executor_client.cc:2593] Execution of replica 3 failed: INTERNAL: custom call 'xla.gpu.all_reduce' failed: external/xla/xla/service/gpu/nccl_utils.cc:275: NCCL operation ncclCommInitRank(&comm, nranks, id, rank) failed: unhandled cuda error\n", "nccl-init-network", "ncclCommInitRank"},
		"MPI failed while it started":          {"*** An error occurred in MPI_Init_thread\n*** on a NULL communicator\n*** MPI_ERRORS_ARE_FATAL (processes in this communicator will now abort,\n***    and potentially your MPI job)\n", "mpi-failure", "MPI_Init_thread"},
		"a kill in the words of a launcher":    {"[main-0] terminated with exit code (137). Reason [Error].\n", "host-oom-killed", "(137)"},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, "", strings.NewReader(tc.text))
			if r.Root == nil || r.Category != tc.category || !strings.Contains(r.Root.Line, tc.line) {
				t.Fatalf("category %q, root %+v; want %q and the line %q", r.Category, r.Root, tc.category, tc.line)
			}
			if strings.HasPrefix(r.Root.Signature, "subject-") && r.Root.Standing != attribute.Hypothesis {
				t.Errorf("standing %q of a guess", r.Root.Standing)
			}
		})
	}
}

// What a line of the level "information" says is no cause, whatever stands in it.
func TestWhatTensorFlowInformsOfIsNoSubject(t *testing.T) {
	if r := read(t, "", strings.NewReader("loading\n2021-09-06 14:21:44.757: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1115] Created TensorFlow device with compute capability 7.5: bad\n")); r.Verdict != diagnose.Unknown {
		t.Errorf("%s of what TensorFlow informs of, category %q", r.Verdict, r.Category)
	}
}

// A command as a shell prints it before it runs it says nothing of what became of it, whatever its options are called.
func TestWhatAShellPrintsBeforeItRunsItIsNoLastWord(t *testing.T) {
	log := "compilation of 2 sections\n+ /opt/bin/clang++ -I/opt/include -Wno-unreachable-code -Werror -c a.cc\n+ set +x\nlog file: out/a.log\n"
	if r := read(t, "", strings.NewReader(log)); r.Verdict != diagnose.Unknown {
		t.Errorf("%s of a command, category %q", r.Verdict, r.Category)
	}
	if r := read(t, "", strings.NewReader(strings.ReplaceAll(log, "+ /opt/bin/clang++", "error:"))); r.Verdict != diagnose.Diagnosed {
		t.Errorf("%s of an error", r.Verdict)
	}
}

// Twelve lines are the last words of a program; what was said one line before them is not.
func TestLastWordsAreTwelveLines(t *testing.T) {
	text := "the keeper ran out of memory\n" + strings.Repeat("waiting for the others\n", 11)
	if r := read(t, "", strings.NewReader(text)); r.Verdict != diagnose.Diagnosed || r.Category != "host-oom-killed" {
		t.Errorf("%s, category %q; want the memory", r.Verdict, r.Category)
	}
	if r := read(t, "", strings.NewReader(text+"waiting for the others\n")); r.Verdict != diagnose.Unknown {
		t.Errorf("%s of a line further up, want unknown", r.Verdict)
	}
}

// Numbers that move in the last lines show progress in a log that holds no complaint, and in no other.
func TestNumbersThatMoveAreProgress(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want diagnose.Verdict
	}{
		"a loss three times":           {"loss(X, Y) = 2.35f0 (tracked)\nloss(X, Y) = 0.66f0 (tracked)\nloss(X, Y) = 0.41f0 (tracked)\n", diagnose.Healthy},
		"a loss twice":                 {"loss(X, Y) = 2.35f0 (tracked)\nloss(X, Y) = 0.66f0 (tracked)\n", diagnose.Unknown},
		"a loss that rises":            {"loss(X, Y) = 0.41f0 (tracked)\nloss(X, Y) = 0.66f0 (tracked)\nloss(X, Y) = 2.35f0 (tracked)\n", diagnose.Unknown},
		"with a complaint between":     {"loss(X, Y) = 2.35f0 (tracked)\nloss(X, Y) = 0.66f0 (tracked)\ncannot do it\nloss(X, Y) = 0.41f0 (tracked)\n", diagnose.Unknown},
		"four rows of a table":         {"0/299|7.17G| 3.28|\n1/299|7.35G| 3.46|\n2/299|7.19G| 3.84|\n3/299|7.17G| 3.85|\n", diagnose.Healthy},
		"a count that starts anew":     {strings.Repeat("try 1: waited 7 s\ntry 2: waited 8 s\ntry 3: waited 9 s\ntry 4: waited 7 s\n", 3), diagnose.Unknown},
		"the same number three times ": {"loss(X, Y) = 2.35f0 (tracked)\nloss(X, Y) = 2.35f0 (tracked)\nloss(X, Y) = 2.35f0 (tracked)\n", diagnose.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			if r := read(t, "", strings.NewReader(tc.text)); r.Verdict != tc.want {
				t.Errorf("%s, root %+v; want %s", r.Verdict, r.Root, tc.want)
			}
		})
	}
}
