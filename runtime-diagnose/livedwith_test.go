package diagnose_test

import (
	"strings"
	"testing"
)

// A program may do without what its surroundings do not have; it says so, or goes on. What it does not do without ends
// its log, or has another category.
func TestWhatAProgramDoesWithoutIsNoFailure(t *testing.T) {
	const (
		download  = "OSError: [Errno 2] No such file or directory: '/ckpt/last.pt'\n"
		driver    = "libibverbs: Warning: couldn't open config directory '/etc/libibverbs.d': No such file or directory.\n"
		preload   = "ERROR: ld.so: object 'libtcmalloc.so.4' from LD_PRELOAD cannot be preloaded (cannot open shared object file: No such file or directory): ignored.\n"
		policy    = "cannot open '/etc/trainer/policy.json': No such file or directory\n"
		goesOn    = "vocabulary of 31000\nmodel has 12 layers\n3200 samples in 4 shards\n"
		taken     = "[W socket.cpp:464] [c10d] The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in use).\n"
		stalled   = "[1,0]<stderr>:[2020-02-25 11:13:55.899666: W horovod/common/stall_inspector.cc:105] One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60 seconds.\n"
		optimiser = "2024-05-01 10:11:12.123456: E tensorflow/core/grappler/optimizers/meta_optimizer.cc:828] remapper failed: INVALID_ARGUMENT: Size of values 0 does not match size of permutation 4 @ fanin shape in dropout\n"
		slow      = "/lib/python3.8/site-packages/jax/_src/lib/xla_bridge.py:184: UserWarning: TPU backend initialization is taking more than 60.0 seconds. Did you run your code on all TPU hosts?\n"
		empty     = "Traceback (most recent call last):\n  File \"/lib/python3.7/multiprocessing/queues.py\", line 105, in get\n    raise Empty\n_queue.Empty\n\n"
		cuda      = "2024-05-01 10:11:12.123456: I tensorflow/tsl/cuda/cudart_stub.cc:28] Could not find cuda drivers on your machine, GPU will not be used.\n"
		untold    = "Traceback (most recent call last):\n  File \"/app/train.py\", line 3, in <module>\n    net.head.freeze()\nAttributeError: 'Net' object has no attribute 'head'\n"
		untidy    = "slurmstepd: error: common_file_write_uint32s: write pid 81 to /sys/fs/cgroup/cgroup.procs failed: Device or resource busy\nslurmstepd: error: Unable to move pid 81 to init root cgroup /sys/fs/cgroup\nslurmstepd: error: error unlocking cgroup '/sys/fs/cgroup/system.slice/slurmstepd.scope' : Bad file descriptor\n"
		rule      = "--------------------------------\n"
		nothing   = "mpirun was unable to launch the specified application as it could not\nfind an executable:\n"
		during    = "During handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"/lib/paddle/fluid/dataloader/dataloader_iter.py\", line 632, in _get_data\n    \"pids: {}\".format(len(failed_workers), pids))\n"
	)
	for name, tc := range map[string]struct {
		log  string
		want string
	}{
		"the lines of a frame are of what it says":               {"3 ranks asked for\n" + rule + nothing + "\nProgram: ./solve\nHost: rack-7\n\nat the start of rank 0\n" + rule, "file-not-found"},
		"of a frame that is not closed they may be others":       {"3 ranks asked for\n" + rule + nothing + "\nProgram: ./solve\nHost: rack-7\n\nat the start of rank 0\n", ""},
		"what goes on below a frame goes on":                     {"3 ranks asked for\n" + rule + nothing + "\nProgram: ./solve\n" + rule + goesOn, ""},
		"libraries that were missed long before it ended":        {cuda + many("part %d is on the CPU\n", 30) + untold, "python-exception-user-code"},
		"libraries that were missed right before it ended":       {cuda + goesOn + untold, "no-gpu-visible"},
		"libraries that were missed, and no device":              {cuda + goesOn + strings.Replace(untold, "AttributeError: 'Net' object has no attribute 'head'", "RuntimeError: No CUDA GPUs are available", 1), "no-gpu-visible"},
		"a control group that was not tidied up":                 {"epoch 3 accuracy: 0.91\ntest accuracy: 0.90\n" + untidy, ""},
		"what failed above such a group":                         {"/srv/venv/bin/python3: No module named fit\n" + untidy, "missing-module"},
		"memory that the same daemon tells of":                   {"test accuracy: 0.90\nslurmstepd: error: Detected 1 oom_kill event in StepId=81.batch. Some of the step tasks have been OOM Killed.\n", "host-oom-killed"},
		"what calls itself a warning":                            {driver, ""},
		"the same words without it":                              {strings.Replace(driver, "Warning: ", "", 1), "file-not-found"},
		"work that goes on below":                                {policy + goesOn, ""},
		"a hint of two lines below":                              {policy + "policies are in the handbook\nsee section 3\n", "file-not-found"},
		"a wait below":                                           {policy + strings.Repeat("waiting for the policy\n", 5), "file-not-found"},
		"a stack below":                                          {policy + goesOn + "*** Begin stack trace ***\n", "file-not-found"},
		"a guess, and work that goes on below":                   {optimiser + goesOn, ""},
		"a guess, and a hint of two lines below":                 {optimiser + "see the handbook\nand section 3\n", "shape-mismatch"},
		"a port that is taken":                                   {taken, "port-in-use"},
		"an error that is handed on below":                       {"w:1:2 [0] odd.cc:63 NCCL WARN Odd call failed\nw:1:2 [0] NCCL INFO a.cc:1 -> 2\nw:1:2 [0] NCCL INFO b.cc:2 -> 2\nw:1:2 [0] NCCL INFO c.cc:3 -> 2\n", "python-exception-user-code"},
		"ranks that wait for others":                             {stalled, "hang-no-progress"},
		"a part that something else is used for":                 {"2022-03-02 19:57:19.446524: W tensorflow/stream_executor/gpu/asm_compiler.cc:235] We fallback to the NVIDIA driver for some compilation. The ptxas error was: ptxas fatal   : Value 'sm_86' is not defined for option 'gpu-name'\n", ""},
		"nothing below":                                          {policy, "file-not-found"},
		"another complaint below":                                {policy + "Starting training\nerror: no policy, exit\n", "file-not-found"},
		"the last try":                                           {"curl: (6) Could not resolve host: data.example.org\nretry 5/5\n", "network-dns"},
		"what was raised":                                        {"Traceback (most recent call last):\n  File \"/app/train.py\", line 3, in <module>\n    torch.load(path)\n" + strings.TrimPrefix(download, "OSError: ") + "FileNotFoundError: [Errno 2] No such file or directory: '/ckpt/last.pt'\nstart training from scratch\n", "file-not-found"},
		"an exception's last line, then advice":                  {"[rank0]: ImportError: deepspeed>=0.10.0,<=0.16.9 is required for a normal functioning of this module, but found deepspeed==0.17.2.\n[rank0]: To fix: run `pip install deepspeed>=0.10.0,<=0.16.9`.\n", "import-version-conflict"},
		"memory, whatever is used instead":                       {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. Use expandable segments instead\n", "gpu-oom"},
		"a library that is not preloaded":                        {preload + "Starting training\n", ""},
		"an iterator that has ended":                             {"2024-05-24 10:15:02.410200: W tensorflow/core/framework/local_rendezvous.cc:404] Local rendezvous is aborting with status: OUT_OF_RANGE: End of sequence\n\t [[{{node IteratorGetNext}}]]\n", ""},
		"what an installer calls an error":                       {"ERROR: pip's dependency resolver does not currently take into account all the packages that are installed.\ntorchvision 0.15.2 requires torch==2.0.1, but you have torch 2.1.0 which is incompatible.\nSuccessfully installed torch-2.1.0\n", "healthy"},
		"what was caught":                                        {"A matching Triton is not available, some optimizations will not be enabled.\nError caught was: No module named 'triton'\n", ""},
		"the same, raised":                                       {"ModuleNotFoundError: No module named 'triton'\n", "missing-module"},
		"a host that waits for the others of its slice":          {slow, "rendezvous-timeout"},
		"one that waited":                                        {slow + "  warnings.warn(\nstep 1\n", ""},
		"a mark that a test of training prints as its last":      {"server ready after 140s\nSERVER_TRAIN_OK steps=3\n", "healthy"},
		"a worker that is gone, below a queue without an item":   {empty + during + "RuntimeError: DataLoader 1 workers exit unexpectedly, pids: 462\n", "dataloader-worker-killed"},
		"an exception with words, below which another is raised": {strings.Replace(empty, "_queue.Empty", "ValueError: the queue of worker 3 has been closed", 1) + during + "RuntimeError: DataLoader 1 workers exit unexpectedly, pids: 462\n", "python-exception-user-code"},
		"an iterator that was left":                              {"Epoch 13: early stopping\n2020-06-17 16:46:34.480694: W tensorflow/core/kernels/data/generator_dataset_op.cc:103] Error occurred when finalizing GeneratorDataset iterator: Cancelled: Operation was cancelled\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if r := read(t, "", strings.NewReader(tc.log)); string(r.Category) != tc.want {
				t.Errorf("category is %q, want %q; %s", r.Category, tc.want, r.Verdict)
			}
		})
	}
}
