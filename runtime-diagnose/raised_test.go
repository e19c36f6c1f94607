package diagnose_test

import (
	"strings"
	"testing"
)

// What raised an exception says more than words that no signature knows.
func TestAnExceptionSpeaksThroughWhoRaisedIt(t *testing.T) {
	trace := func(frame, source, last string) string {
		return "step 1\nTraceback (most recent call last):\n  File \"/app/train.py\", line 3, in main\n    run()\n  File " + frame + "\n    " + source + "\n" + last + "\n"
	}
	cases := map[string]struct{ log, category, line string }{
		"an assertion without a message, about shapes": {
			trace(`"/app/load.py", line 8, in copy`, "assert mine.shape == theirs.shape", "AssertionError"), "shape-mismatch", "AssertionError",
		},
		"an assertion without a message, about nothing we know": {
			trace(`"/app/load.py", line 8, in copy`, "assert self.open", "AssertionError"), "python-exception-user-code", "AssertionError",
		},
		"a function that checks arguments": {
			trace(`"/opt/lib/arguments.py", line 90, in validate_args`, "raise ValueError(text)", "ValueError: four is more than three"), "argument-or-config-error", "ValueError: four is more than three",
		},
		"the words of the exception go before its place": {
			trace(`"/opt/lib/arguments.py", line 90, in validate_args`, "raise ValueError(text)", "FileNotFoundError: [Errno 2] No such file or directory: '/data/a'"),
			"file-not-found", "FileNotFoundError: [Errno 2] No such file or directory: '/data/a'",
		},
		"the original of an exception that a worker handed on": {
			trace(`"/usr/lib/torch/_utils.py", line 7, in reraise`, "raise exception", "IndexError: Caught IndexError in DataLoader worker process 2.") +
				"Original Traceback (most recent call last):\n  File \"/app/data.py\", line 5, in __getitem__\n    return parts[1]\nIndexError: list index out of range\n",
			"python-exception-user-code", "IndexError: list index out of range",
		},
		"an exception that a worker handed on, cut after it": {
			trace(`"/usr/lib/torch/_utils.py", line 7, in reraise`, "raise exception", "IndexError: Caught IndexError in DataLoader worker process 2."),
			"python-exception-user-code", "IndexError: Caught IndexError in DataLoader worker process 2.",
		},
		"a text that nobody known gave to the parser": {
			trace(`"/app/load.py", line 8, in items`, "return json.loads(text)", `  File "/opt/lib/python3.11/json/decoder.py", line 355, in raw_decode`+"\njson.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"),
			"dataset-error", "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
		},
		"what a compiler's backend raised": {
			trace(`"/usr/lib/torch/_dynamo/output_graph.py", line 7, in call_user_compiler`, "raise x", "torch._dynamo.exc.BackendCompilerFailed: backend='mine' raised:") + "TypeError: 'int' object is not iterable\n",
			"python-exception-user-code", "TypeError: 'int' object is not iterable",
		},
		"a key, by the statement that asked for it": {
			trace(`"/app/train.py", line 8, in restore_all`, "optimizer.load_state_dict(saved['optimizer'])", "KeyError: 'optimizer'"), "checkpoint-corrupt-or-mismatch", "KeyError: 'optimizer'",
		},
		"a key of what is called a checkpoint": {
			trace(`"/app/train.py", line 8, in begin`, `first = checkpoint["epoch"] + 1`, "KeyError: 'epoch'"), "checkpoint-corrupt-or-mismatch", "KeyError: 'epoch'",
		},
		"a key of something else": {
			trace(`"/app/train.py", line 8, in begin`, `rate = group["lr"]`, "KeyError: 'lr'"), "python-exception-user-code", "KeyError: 'lr'",
		},
		"a variable that the environment misses": {
			trace(`"/app/train.py", line 8, in begin`, `corpus = os.environ["CORPUS_DIR"]`, `  File "/opt/lib/python3.9/os.py", line 679, in __getitem__`+"\n    raise KeyError(key) from None\nKeyError: 'CORPUS_DIR'"),
			"argument-or-config-error", "KeyError: 'CORPUS_DIR'",
		},
		"the same of a later Python, whose os has no source to print": {
			trace(`"/app/train.py", line 8, in begin`, `corpus = os.environ["CORPUS_DIR"]`, `  File "<frozen os>", line 685, in __getitem__`+"\nKeyError: 'CORPUS_DIR'"),
			"argument-or-config-error", "KeyError: 'CORPUS_DIR'",
		},
		"a checkpoint's folder that is there already": {
			trace(`"/app/train.py", line 8, in begin`, "os.makedirs(folder)", "FileExistsError: [Errno 17] File exists: 'out/checkpoints/second'"),
			"python-exception-user-code", "FileExistsError: [Errno 17] File exists: 'out/checkpoints/second'",
		},
		"a defect in a handler of signals": {
			trace(`"/opt/lib/python3.8/site-packages/deepspeed/launcher/runner.py", line 548, in sigkill_handler`, "result_kill = subprocess.Popen(kill_cmd, env=env)", "NameError: free variable 'kill_cmd' referenced before assignment in enclosing scope"),
			"sigterm-preempted", "NameError: free variable 'kill_cmd' referenced before assignment in enclosing scope",
		},
		"an assertion without a message, about an argument": {
			trace(`"/app/trainer.py", line 8, in __init__`, "assert self.args.kind in kinds", "AssertionError"), "argument-or-config-error", "AssertionError",
		},
		"a message that native code logged before its binding raised it": {
			"I1124 05:00:00.000001 12 distributed.py:106] Starting JAX distributed service on 0.0.0.0:8476\n" +
				"E1124 05:05:00.000001 13 coordination_service_agent.cc:713] Coordination agent is set to ERROR: DEADLINE_EXCEEDED: Barrier timed out. Id: PjRT_Client_Connect::0. # of tasks that reached the barrier: 3/4.\n" +
				"jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out.\n",
			"rendezvous-timeout", "E1124 05:05:00.000001 13 coordination_service_agent.cc:713] Coordination agent is set to ERROR: DEADLINE_EXCEEDED: Barrier timed out. Id: PjRT_Client_Connect::0. # of tasks that reached the barrier: 3/4.",
		},
		"a line of its own below the exception": {
			trace(`"/opt/lib/arguments.py", line 90, in validate_args`, "raise RuntimeError(text)", "ValueError: four is more than three") + "2026-01-02 10:00:00,000 - comm - ERROR - hccl fftsplus task timeout occurred during task execution, stream_id:5\n",
			"argument-or-config-error", "ValueError: four is more than three",
		},
		"what a handler raised instead": {
			trace(`"/app/load.py", line 8, in latest`, "return runs[-1]", "IndexError: list index out of range") + "\nDuring handling of the above exception, another exception occurred:\n\n" + trace(`"/app/load.py", line 10, in latest`, `raise ValueError(f"no runs in {path}")`, "ValueError: no runs in /out"),
			"python-exception-user-code", "ValueError: no runs in /out",
		},
		"a warning of Python's, and another matter": {
			"/opt/lib/torch/cuda/__init__.py:141: UserWarning: CUDA initialization: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver.\n" + trace(`"/app/net.py", line 8, in forward`, "return a @ b", "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 9x4)"),
			"shape-mismatch", "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 9x4)",
		},
		"a message that was logged before it is thrown": {
			"[E ProcessGroupNCCL.cpp:821] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=2, OpType=_ALLGATHER_BASE, Timeout(ms)=60000) ran for 60096 milliseconds before timing out.\nterminate called after throwing an instance of 'std::runtime_error'\n  what():  [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=2, OpType=_ALLGATHER_BASE, Timeout(ms)=60000) ran for 60096 milliseconds before timing out.\n",
			"nccl-timeout", "[E ProcessGroupNCCL.cpp:821] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=2, OpType=_ALLGATHER_BASE, Timeout(ms)=60000) ran for 60096 milliseconds before timing out.",
		},
		"what failed first, not who says that it failed": {
			trace(`"/app/load.py", line 8, in copy`, "assert self.open", "AssertionError") + "\n" + trace(`"/app/all.py", line 2, in run_case`, "raise RuntimeError(mode)", "RuntimeError: case 3 failed"),
			"python-exception-user-code", "AssertionError",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := read(t, "", strings.NewReader(tc.log))
			if r.Root == nil || r.Category != tc.category || r.Root.Line != tc.line {
				t.Errorf("category %s, root %+v; want %s and the line %q", r.Category, r.Root, tc.category, tc.line)
			}
		})
	}
}
