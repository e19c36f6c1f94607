package diagnose

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Never healthy for lack of evidence: steps that advanced say nothing once the program has
// said that it gives up.
func TestStepsBeforeABadEndAreNoHealth(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	steps := strings.Repeat("step 10 loss 2.31\n", 20)
	for last, want := range map[string]Verdict{
		"step 210 loss 1.98":                    Healthy,
		"Aborting run.":                         Inconclusive,
		"coordinator lost its lease, giving up": Inconclusive,
		"Traceback (most recent call last):\n  File \"train.py\", line 9, in step\n    save()": Inconclusive,
	} {
		var c Case
		c.AddLog("train.log", []byte(steps+last+"\n"))
		if got := Diagnose(t.Context(), c, catalog, Options{}).Verdict; got != want {
			t.Errorf("a log that ends with %q is %s, want %s", last, got, want)
		}
	}
}

// Who is told that nothing decides is told what would.
func TestWhatWouldDecide(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	steps := strings.Repeat("step 10 loss 2.31\n", 20)
	for text, want := range map[string]string{
		"starting on 8 GPUs\n":    "unknown : Nothing that was read shows a failure, and nothing shows that the job is well. A line that counts steps, prints a loss or says that the run ended well would show health; a container that ended, and its exit code, would show a failure.",
		steps + "Aborting run.\n": `inconclusive train.log ends with "Aborting run.": No signature knows the words, and programs that end well do not end with such; the lines above it would decide.`,
		steps + "Traceback (most recent call last):\n  File \"train.py\", line 9, in step\n    save()\n": "inconclusive train.log stops within a traceback: A program that prints one and nothing after it has failed; the last line of it, which names the exception, would decide.",
		"starting\nERR no quorum among the keepers\n":                                                    "unknown : What may be a failure is said, in words that no signature knows [log/train.log#2], and nothing shows what became of it. A line that counts steps, prints a loss or says that the run ended well would show health; a container that ended, and its exit code, would show a failure.",
	} {
		var c Case
		c.AddLog("train.log", []byte(text))
		if got := Diagnose(t.Context(), c, catalog, Options{}); fmt.Sprintf("%s %s: %s", got.Verdict, got.Error, got.Analysis) != want {
			t.Errorf("%q is %s %s: %s; want %s", text, got.Verdict, got.Error, got.Analysis, want)
		}
	}
}

// Programs that begin print much that sounds like trouble. None of it is a failure, and none of it shows
// that training goes on.
func TestWhatProgramsPrintWhenTheyBegin(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"[W1011 10:00:01.811 socket.cpp:755] [c10d] The client socket has failed to connect to [train-master-0]:29500 (errno: 111 - Connection refused).",
		"w-0:91:91 [0] NCCL INFO NET/Plugin: No plugin found (libnccl-net.so), using internal implementation\nw-0:91:140 [0] NCCL INFO NET/IB : No device found.",
		"[WARNING]  async_io requires the dev libaio .so object and headers but these were not found.",
		"INFO:jax._src.xla_bridge:897: Unable to initialize backend 'tpu': INTERNAL: Failed to open libtpu.so: libtpu.so: cannot open shared object file: No such file or directory",
		"E external/local_xla/xla/stream_executor/cuda/cuda_dnn.cc:9261] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered",
		"(pid=112) [2026-01-01 00:00:00,000 W 1 1] core_worker: Failed to push metrics, will retry",
		"WARNING: Running pip as the 'root' user can result in broken permissions",
		"NOTE: The SHMEM allocation limit is set to the default of 64MB.  This may be\n   insufficient for PyTorch.",
		"make: Nothing to be done for 'default'.",
	} {
		var c Case
		c.AddLog("train.log", []byte(text+"\n"))
		if got := Diagnose(t.Context(), c, catalog, Options{}); got.Verdict != Unknown {
			t.Errorf("%q is %s: %s; want unknown", text, got.Verdict, got.Error)
		}
	}
}
