package diagnose

import (
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
		"Aborting run.":                         Unknown,
		"coordinator lost its lease, giving up": Unknown,
		"Traceback (most recent call last):\n  File \"train.py\", line 9, in step\n    save()": Unknown,
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
	const neither = "Nothing that was read shows a failure, and nothing shows that the job is well. "
	steps := strings.Repeat("step 10 loss 2.31\n", 20)
	for text, want := range map[string]string{
		"starting on 8 GPUs\n":    "A line that counts steps, prints a loss or says that the run ended well would show health; a container that ended, and its exit code, would show a failure.",
		steps + "Aborting run.\n": `train.log ends with "Aborting run."; the lines above that one would decide.`,
		steps + "Traceback (most recent call last):\n  File \"train.py\", line 9, in step\n    save()\n": "train.log stops within a traceback; the end of that would decide.",
	} {
		var c Case
		c.AddLog("train.log", []byte(text))
		if got := Diagnose(t.Context(), c, catalog, Options{}); got.Verdict != Unknown || got.Analysis != neither+want {
			t.Errorf("%q is %s: %s; want %s", text, got.Verdict, got.Analysis, neither+want)
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
