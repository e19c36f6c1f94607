package diagnose_test

import (
	"strings"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// What a log says by the form of its lines, whatever the words: the level that a runtime gives a line, the number of an
// error, what raised the exception that a logger quotes, and which counters move.
func TestTheFormOfALineSaysWhatItIs(t *testing.T) {
	const noDriver = "2018-02-08 18:14:25.438352: E tensorflow/stream_executor/cuda/cuda_driver.cc:406] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n"
	const noLibrary = "2020-07-13 19:17:18.151377: W tensorflow/stream_executor/platform/default/dso_loader.cc:55] Could not load dynamic library 'libnvinfer.so.6'; dlerror: libnvinfer.so.6: cannot open shared object file: No such file or directory\n" +
		"2020-07-13 19:17:18.151914: W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:30] Cannot dlopen some TensorRT libraries. If you would like to use Nvidia GPU with TensorRT, please make sure the missing libraries mentioned above are installed properly.\n" +
		"2020-07-13 19:17:41.865367: W tensorflow/stream_executor/platform/default/dso_loader.cc:55] Could not load dynamic library 'libnvinfer.so.6'; dlerror: libnvinfer.so.6: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /usr/local/cuda/lib64\n"
	const steps = "step 1 loss 2.31\nstep 2 loss 2.25\nstep 3 loss 2.20\n"
	const constructs = "[2021-09-14 10:06:31,355 I 21 21] core_worker.cc:152: Constructing CoreWorkerProcess. pid: 21\n" +
		"[2021-09-14 10:06:31,357 I 21 21] grpc_server.cc:71: driver server started, listening on port 35981.\n" +
		"[2021-09-14 10:06:31,472 I 21 21] io_service_pool.cc:35: IOServicePool is running with 1 io_service.\n" +
		"[2021-09-14 10:06:31,483 I 21 29] actor_manager.cc:139: received notification on actor, state: ALIVE, num_restarts: 0, has creation_task_exception=0\n" +
		"[2021-09-14 10:06:31,484 I 21 29] actor_manager.cc:139: received notification on actor, state: ALIVE, num_restarts: 0, has creation_task_exception=0\n"
	const lost = "(raylet) [2025-10-30 17:08:05,490 E 45 45] (raylet) worker_pool.cc:586: Some workers of the worker process(61) have not registered within the timeout. The process is dead, probably it crashed during start.\n"
	const begins = "[titan] 2026-05-18 16:04:29,084 - root - INFO - Building device mesh\n" +
		"[titan] 2026-05-18 16:04:29,097 - root - INFO - Building the model\n" +
		"[titan] 2026-05-18 16:04:29,117 - root - INFO - Loading tokenizer\n"
	const warned = "/usr/lib/python3/stateful_dataloader.py:379: UserWarning: 'set_vital' is deprecated, you cannot call it\n  torch.set_vital(\"Dataloader\", \"enabled\", \"True\")\n"
	const returned = "nd20-01:91:98 [0] NCCL INFO misc/socket.cc:564 -> 2\nnd20-01:91:98 [0] NCCL INFO misc/socket.cc:615 -> 2\nnd20-01:91:98 [0] NCCL INFO bootstrap.cc:270 -> 2\n" +
		"nd20-01:91:98 [0] NCCL INFO init.cc:1303 -> 2\nnd20-01:91:98 [0] NCCL INFO group.cc:64 -> 2 [Async thread]\nnd20-01:91:91 [0] NCCL INFO group.cc:422 -> 2\n"
	const sample = `{"epoch": 27, "loss": "8.206", "ppl": "132.47", "num_updates": "33700", "lr": "0.00017226"}` + "\n"
	const rows = "     38/89     5.62G   0.02079  0.008967   0.03069    0.4072\n     39/89     5.62G   0.02104  0.008995   0.03019    0.5396\n     40/89     5.62G   0.02097   0.00873   0.03019    0.4373\n"
	for name, tc := range map[string]struct {
		log     string
		verdict diagnose.Verdict
		root    string // the slug of its category, and words of the line; empty: there is none
		line    string
	}{
		"TensorFlow found no device, and trains on":           {noDriver + steps, diagnose.Healthy, "", ""},
		"TensorFlow found no device":                          {noDriver, diagnose.Diagnosed, "no-gpu-visible", "failed call to cuInit"},
		"Ray informs":                                         {constructs + constructs, diagnose.Healthy, "", ""},
		"Ray lost a worker":                                   {lost, diagnose.Diagnosed, "ray-actor-died", "have not registered"},
		"Ray lost a worker, and the run goes on":              {lost + steps, diagnose.Healthy, "", ""},
		"Ray lost a worker in the end":                        {steps + lost, diagnose.Diagnosed, "ray-actor-died", "have not registered"},
		"NeMo informs":                                        {strings.Repeat("[NeMo W 2023-04-19 21:40:25 experimental:27] Module A is not fully supported.\n[NeMo I 2023-04-19 21:40:27 indexed_dataset:454]     reading sizes...\n", 3) + strings.Repeat("[NeMo I 2023-04-19 21:40:27 indexed_dataset:456]     reading pointers...\n", 4), diagnose.Healthy, "", ""},
		"NeMo warns in the end":                               {strings.Repeat("[NeMo I 2023-04-19 21:40:27 indexed_dataset:454]     reading sizes...\n", 7) + "[NeMo W 2023-04-19 21:40:25 experimental:27] odd words\n", diagnose.Unknown, "", ""},
		"Python warns between what a program says":            {begins + warned + begins, diagnose.Healthy, "", ""},
		"a program that has said little":                      {begins, diagnose.Unknown, "", ""},
		"NCCL hands an error on":                              {returned, diagnose.Diagnosed, "nccl-init-network", "misc/socket.cc:564 -> 2"},
		"NCCL hands an error on in the end":                   {"w:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 2 - Init COMPLETE\nw:1:2 [1] NCCL INFO comm 0x2 rank 1 nranks 2 - Init COMPLETE\nw:1:2 [0] NCCL INFO include/net.h:19 -> 2\n", diagnose.Unknown, "", ""},
		"a log that ends where a frame raises":                {steps + "    assert state == ready, state\n", diagnose.Unknown, "", ""},
		"NCCL hands an error on, and the run goes on":         {returned + steps, diagnose.Healthy, "", ""},
		"TensorFlow does without a library, and says no more": {noLibrary, diagnose.Unknown, "", ""},
		"TensorFlow misses a library of CUDA":                 {strings.ReplaceAll(noLibrary, "libnvinfer.so.6", "libcudnn.so.8"), diagnose.Diagnosed, "no-gpu-visible", "libcudnn.so.8"},
		"TensorFlow does without a library in the end":        {steps + noLibrary, diagnose.Healthy, "", ""},
		"NCCL warns of what the same thread goes on without":  {"w0:11007:11098 [0] misc/ibvwrap.cu:63 NCCL WARN Failed to open libibverbs.so[.1]\nw0:11007:11098 [0] NCCL INFO Using internal Network Socket\nw0:11007:11098 [0] NCCL INFO rank 0 nranks 4\n", diagnose.Unknown, "", ""},
		"NCCL warns, and another thread goes on":              {"w0:11007:11098 [0] misc/odd.cc:63 NCCL WARN Odd call failed\nw0:11007:11099 [1] NCCL INFO rank 1 nranks 4\n", diagnose.Diagnosed, "", "Odd call failed"},
		"NCCL hands on what it warned of":                     {"nd20-01:91:98 [0] misc/ibvwrap.cc:280 NCCL WARN Call to ibv_modify_qp failed with error No such device\n" + strings.Replace(returned, "misc/socket.cc:564", "misc/ibvwrap.cc:281", 1), diagnose.Diagnosed, "infiniband-fault", "ibv_modify_qp"},
		"the number of an error that somebody logged":         {"step 1 loss 2.31\nsaving the state failed: [Errno 13] odd words: '/ckpt'\n", diagnose.Diagnosed, "permission-denied", "[Errno 13]"},
		"an exception that hands on the text of a traceback":  {"23/10/17 23:13:08 ERROR PythonRunner: odd words\norg.apache.spark.api.python.PythonException: Traceback (most recent call last):\n  File \"/app/a.py\", line 3, in <module>\n    run()\nValueError: other words\n", diagnose.Diagnosed, "python-exception-user-code", "other words"},
		"one sample, far into a run":                          {sample, diagnose.Healthy, "", ""},
		"one sample of the first step":                        {"step 1 loss 2.31\n", diagnose.Unknown, "", ""},
		"one sample, and a complaint":                         {sample + "odd thing: cannot go on\n", diagnose.Unknown, "", ""},
		"rows that do not":                                    {strings.ReplaceAll(strings.ReplaceAll(rows, "39/89", "39/90"), "40/89", "41/90"), diagnose.Unknown, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, "", strings.NewReader(tc.log))
			if r.Verdict != tc.verdict {
				t.Errorf("verdict %q, root %+v; want %q", r.Verdict, r.Root, tc.verdict)
			}
			switch {
			case tc.root == "":
			case r.Root == nil:
				t.Errorf("no root, want %q", tc.root)
			case r.Category != tc.root || !strings.Contains(r.Root.Line, tc.line):
				t.Errorf("%q by %q, want %q by %q", r.Category, r.Root.Line, tc.root, tc.line)
			}
		})
	}
}
