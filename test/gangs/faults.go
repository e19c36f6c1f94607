package main

import (
	"slices"
	"time"
)

// fault is one gang and what is done to one of its members.
type fault struct {
	name     string
	program  string // a file of this folder
	pods     int
	victim   int    // the pod it happens to; -1: all of them, or none
	inject   string // FAULT of the victim
	env      []string
	ownEnv   []string // of the victim alone
	disk     bool     // the victim's /ckpt has 256 KiB
	shm      bool     // the victim's /dev/shm has 1 MiB
	memory   int64    // the victim's limit, in bytes
	signal   string   // sent to the victim's process from outside, when it works
	cut      bool     // the victim's link goes down then
	absent   bool     // the victim is never started
	category string
	also     []string
	key      []string
	anybody  bool                  // nothing shows who it was
	running  bool                  // it is looked at while it runs
	master   bool                  // the victim is the first pod
	launch   []string              // what python is given before the address where torchrun's agents meet
	more     map[int][]string      // of other members, by pod: what happens to them besides
	skew     map[int]time.Duration // by pod: how far its node's clock is ahead
	stopAll  bool                  // the signal is sent to all members
	stopRest bool                  // the others are told to stop when the victim has ended, as an operator does
	headLost int                   // so many lines of the victim's log were rotated away
	tailCut  int                   // so many bytes at the end of the victim's log were not written
	tags     bool                  // mpirun says in front of every line whose it is
}

const (
	tooFew  = "There are not enough slots available"
	lost    = `Timed out waiting|timed out|Connection (reset|closed)|Socket Timeout`
	killed9 = "signal 9"
)

// faults are the gangs that are run, in this order.
var faults = slices.Concat(older, newer)

// older are gangs of trainer.py, mpi.py and boost.py.
var older = []fault{
	{name: "index-out-of-range", inject: "index", category: "python-exception-user-code", also: []string{"dataset-error"}, key: []string{"^IndexError: list index out of range"}},
	{name: "unknown-label", inject: "key", pods: 6, category: "dataset-error", also: []string{"python-exception-user-code", "argument-or-config-error"}, key: []string{"^KeyError: 'mixed'"}},
	{name: "none-has-no-shape", inject: "none", env: []string{"STYLE=json"}, category: "python-exception-user-code", key: []string{"^AttributeError: 'NoneType'"}},
	{name: "loss-not-finite", inject: "nan", category: "nan-loss", key: []string{"^AssertionError: loss is not finite"}},
	{name: "matrices-do-not-fit", inject: "shape", env: []string{"STYLE=bare"}, category: "shape-mismatch", key: []string{"mat1 and mat2 shapes"}},
	{name: "targets-of-wrong-type", inject: "dtype", category: "dtype-mismatch", key: []string{"expected scalar type Long but found Int"}},
	{name: "token-beyond-table", inject: "embedding", category: "dataset-error", also: []string{"python-exception-user-code"}, key: []string{"^IndexError: index out of range in self"}},
	{name: "class-beyond-table", inject: "target", category: "dataset-error", also: []string{"python-exception-user-code"}, key: []string{"^IndexError: Target 3 is out of bounds"}},
	{name: "segmentation-fault", inject: "segfault", category: "segfault", key: []string{}},
	{name: "segmentation-fault-with-stack", inject: "segfault", ownEnv: []string{"PYTHONFAULTHANDLER=1"}, category: "segfault", key: []string{"Fatal Python error: Segmentation fault"}},
	{name: "native-abort", inject: "abort", ownEnv: []string{"PYTHONFAULTHANDLER=1"}, category: "segfault", key: []string{"Fatal Python error: Aborted"}},
	{name: "memory-limit", inject: "memory", memory: 400 << 20, category: "host-oom-killed", key: []string{}},
	{name: "memory-limit-at-first-step", inject: "memory", memory: 400 << 20, env: []string{"FAULT_STEP=1"}, pods: 3, category: "host-oom-killed", key: []string{}},
	{name: "array-too-large", inject: "array", category: "host-oom-killed", key: []string{"Unable to allocate"}},
	{name: "checkpoint-volume-full", inject: "disk", disk: true, category: "disk-full", key: []string{`\[Errno 28\]`}},
	{name: "checkpoint-volume-full-in-library", inject: "torch-disk", disk: true, category: "disk-full", key: []string{"No space left|PytorchStreamWriter failed|unexpected pos|enforce fail"}},
	{name: "checkpoint-cut", inject: "checkpoint-cut", category: "checkpoint-corrupt-or-mismatch", key: []string{"PytorchStreamReader failed"}},
	{name: "checkpoint-of-another-model", inject: "checkpoint-keys", category: "checkpoint-corrupt-or-mismatch", key: []string{`Error\(s\) in loading state_dict|Missing key`}},
	{name: "output-read-only", inject: "read-only", category: "storage-io", also: []string{"permission-denied"}, key: []string{"Read-only file system"}},
	{name: "input-output-error", inject: "eio", category: "storage-io", also: []string{"dataset-error"}, key: []string{`\[Errno 5\] Input/output error`}},
	{name: "shard-missing", inject: "shard-missing", category: "file-not-found", also: []string{"dataset-error"}, key: []string{"^FileNotFoundError"}},
	{name: "module-missing", inject: "missing-module", category: "missing-module", key: []string{"^ModuleNotFoundError"}},
	{name: "file-does-not-parse", inject: "syntax", category: "python-syntax-error", key: []string{"^SyntaxError"}},
	{name: "setting-missing", inject: "setting-missing", category: "argument-or-config-error", also: []string{"python-exception-user-code"}, key: []string{"^KeyError: 'warmup_steps'"}},
	{name: "setting-unknown", inject: "config-value", category: "argument-or-config-error", also: []string{"python-exception-user-code"}, key: []string{"^ValueError: unknown optimizer"}},
	{name: "port-is-no-number", inject: "port-text", category: "argument-or-config-error", also: []string{"python-exception-user-code"}, key: []string{"^ValueError: invalid literal"}},
	{name: "numpy-too-new", inject: "numpy-alias", category: "import-version-conflict", also: []string{"python-exception-user-code"}, key: []string{"module 'numpy' has no attribute 'int'"}},
	{name: "torch-without-cuda", inject: "no-cuda", category: "no-gpu-visible", also: []string{"import-version-conflict", "cuda-driver-mismatch"}, key: []string{"Torch not compiled with CUDA|Found no NVIDIA driver"}},
	{name: "too-many-open-files", inject: "ulimit", category: "storage-io", also: []string{"argument-or-config-error", "python-exception-user-code"}, key: []string{`\[Errno 24\]`}},
	{name: "recursion-without-end", inject: "recursion", category: "python-exception-user-code", key: []string{"^RecursionError"}},
	{name: "exit-code-without-words", inject: "exit-3", category: "python-exception-user-code", also: []string{"argument-or-config-error"}, key: []string{}},
	{name: "loader-worker-raises", inject: "loader", category: "dataset-error", also: []string{"python-exception-user-code"}, key: []string{"^ValueError: record 9"}},
	{name: "loader-worker-killed", inject: "loader-kill", category: "dataloader-worker-killed", also: []string{"host-oom-killed"}, key: []string{`DataLoader worker \(pid`}},
	{name: "shared-memory-small", inject: "shm", shm: true, category: "shm-exhausted", also: []string{"dataloader-worker-killed"}, key: []string{`shared memory|No space left|DataLoader worker`}},
	{name: "other-model-on-one", inject: "wider-model", category: "shape-mismatch", also: []string{"python-exception-user-code", "argument-or-config-error", "nccl-timeout"}, key: []string{"params|parameters|shape|size|Connection"}, anybody: true},
	{name: "batch-over-members", victim: -1, env: []string{"GLOBAL_BATCH=30"}, category: "wrong-world-size", also: []string{"argument-or-config-error"}, key: []string{"^AssertionError: global batch 30"}, anybody: true},
	{name: "process-killed", signal: "KILL", env: []string{"STEPS=600"}, pods: 5, category: "host-oom-killed", also: []string{"sigterm-preempted", "node-lost"}, key: []string{}},
	{name: "pod-stopped", signal: "TERM", env: []string{"STEPS=600"}, category: "sigterm-preempted", also: []string{"host-oom-killed", "node-lost"}, key: []string{}},
	{name: "pod-stopped-and-says-so", signal: "TERM", env: []string{"HANDLE_TERM=1", "STEPS=600"}, category: "sigterm-preempted", key: []string{"received signal 15"}},
	{name: "pod-interrupted", signal: "INT", env: []string{"STEPS=600"}, category: "sigterm-preempted", key: []string{"KeyboardInterrupt"}},
	{name: "master-killed", victim: 0, signal: "KILL", env: []string{"STEPS=600"}, category: "host-oom-killed", also: []string{"sigterm-preempted", "node-lost"}, key: []string{}},
	{name: "one-hangs", inject: "hang", category: "nccl-timeout", also: []string{"hang-no-progress"}, key: []string{"waiting for data|" + lost}},
	{name: "one-leaves-early", inject: "leave", category: "dataset-error", also: []string{"nccl-timeout", "python-exception-user-code"}, key: []string{"no more data, leaving|" + lost}},
	{name: "one-collective-more", inject: "extra-collective", category: "nccl-timeout", also: []string{"hang-no-progress", "python-exception-user-code"}, key: []string{"evaluating on rank|op.preamble.length|" + lost}},
	{name: "link-goes-down", cut: true, env: []string{"STEPS=600"}, category: "nccl-timeout", also: []string{"nccl-init-network", "node-lost", "hang-no-progress"}, key: []string{lost}, anybody: true},
	{name: "one-never-starts", absent: true, category: "rendezvous-timeout", also: []string{"nccl-timeout", "wrong-world-size"}, key: []string{lost}, anybody: true},
	{name: "master-name-unknown", ownEnv: []string{"MASTER_ADDR=lm-mastr-0"}, category: "network-dns", key: []string{`gai error|Name or service not known|name resolution|failed to connect`}},
	{name: "two-of-one-rank", ownEnv: []string{"RANK=1"}, victim: 2, category: "wrong-world-size", also: []string{"rendezvous-timeout", "nccl-timeout", "nccl-init-network", "argument-or-config-error"}, key: []string{lost + "|Connection|connect"}, anybody: true},
	{name: "late-division-of-eight", inject: "zero", pods: 8, victim: 5, env: []string{"FAULT_STEP=27"}, category: "python-exception-user-code", key: []string{"^ZeroDivisionError: float division by zero"}},
	{name: "record-cut-at-first-step", inject: "record-cut", pods: 5, env: []string{"FAULT_STEP=1", "STYLE=bare"}, category: "dataset-error", also: []string{"python-exception-user-code"}, key: []string{"JSONDecodeError: Unterminated string"}},
	{name: "matrix-not-positive", inject: "cholesky", pods: 3, victim: 1, env: []string{"FAULT_STEP=20"}, category: "python-exception-user-code", also: []string{"nan-loss"}, key: []string{"linalg.cholesky"}},
	{name: "backward-twice", inject: "backward-twice", env: []string{"STYLE=json"}, category: "python-exception-user-code", key: []string{"Trying to backward through the graph a second time"}},
	{name: "checkpoint-folder-of-another", inject: "not-allowed", pods: 6, victim: 3, category: "permission-denied", key: []string{`\[Errno 13\] Permission denied`}},
	{name: "mapped-file-shrinks", inject: "bus", victim: 1, category: "segfault", also: []string{"storage-io", "shm-exhausted"}, key: []string{}},
	{name: "nothing-to-read", inject: "nothing-to-read", pods: 5, category: "dataset-error", also: []string{"file-not-found", "python-exception-user-code"}, key: []string{"^no training files under"}},
	{name: "vocabulary-not-utf8", inject: "vocabulary", pods: 3, victim: 1, category: "dataset-error", also: []string{"python-exception-user-code"}, key: []string{"^UnicodeDecodeError"}},
	{name: "index-is-empty", inject: "cache-cut", category: "dataset-error", also: []string{"checkpoint-corrupt-or-mismatch", "python-exception-user-code"}, key: []string{"^EOFError: Ran out of input"}},
	{name: "memory-limit-of-eight-late", inject: "memory", memory: 400 << 20, pods: 8, victim: 2, env: []string{"FAULT_STEP=26"}, category: "host-oom-killed", key: []string{}},
	{name: "one-dials-another-port", ownEnv: []string{"MASTER_PORT=29511"}, victim: 1, category: "rendezvous-timeout", also: []string{"nccl-init-network", "network-dns", "argument-or-config-error"}, key: []string{lost + "|refused|connect"}},
	{name: "first-of-six-stopped", pods: 6, victim: 1, signal: "TERM", env: []string{"STEPS=600", "STYLE=log"}, category: "sigterm-preempted", also: []string{"host-oom-killed", "node-lost"}, key: []string{}},
	{name: "healthy", victim: -1, category: "healthy"},
	{name: "healthy-compact-lines", victim: -1, env: []string{"STYLE=bare", "STEPS=60"}, category: "healthy"},
	{name: "healthy-json-lines", victim: -1, env: []string{"STYLE=json"}, pods: 6, category: "healthy"},
	{name: "healthy-caught-exception", inject: "caught", category: "healthy"},
	{name: "healthy-one-is-slow", inject: "slow", category: "healthy"},
	{name: "healthy-running", victim: -1, env: []string{"STEPS=100000"}, running: true, category: "healthy"},
	{name: "mpi-rank-raises", program: "mpi.py", inject: "raise", category: "python-exception-user-code", also: []string{"dataset-error"}, key: []string{"ValueError: partition"}},
	{name: "mpi-rank-segfaults", program: "mpi.py", inject: "segfault", category: "segfault", key: []string{"signal 11|Segmentation fault"}},
	{name: "mpi-rank-killed", program: "mpi.py", inject: "kill", category: "host-oom-killed", also: []string{"sigterm-preempted", "mpi-failure"}, key: []string{killed9}},
	{name: "mpi-rank-aborts", program: "mpi.py", inject: "abort", category: "dataset-error", also: []string{"python-exception-user-code", "mpi-failure"}, key: []string{"unexpected record type 7|MPI_ABORT was invoked"}},
	{name: "mpi-too-few-slots", program: "mpi.py", victim: -1, env: []string{"NP=40"}, category: "mpi-failure", also: []string{"wrong-world-size", "argument-or-config-error"}, key: []string{tooFew}},
	{name: "mpi-message-truncated", program: "mpi.py", pods: 6, victim: 2, inject: "truncate", env: []string{"FAULT_STEP=3"}, category: "mpi-failure", also: []string{"python-exception-user-code", "shape-mismatch"}, key: []string{"MPI_ERR_TRUNCATE"}},
	{name: "mpi-bin-without-samples", program: "mpi.py", pods: 5, victim: 0, inject: "divide", env: []string{"FAULT_STEP=28"}, category: "python-exception-user-code", also: []string{"dataset-error"}, key: []string{"ZeroDivisionError: rank"}},
	{name: "healthy-mpi", program: "mpi.py", victim: -1, category: "healthy"},
	{name: "boost-label-outside", program: "boost.py", inject: "label", category: "dataset-error", also: []string{"python-exception-user-code"}, key: []string{`label must be in \[0,1\]`}},
	{name: "boost-fold-missing", program: "boost.py", inject: "file", category: "file-not-found", also: []string{"dataset-error"}, key: []string{"^FileNotFoundError"}},
	{name: "boost-worker-killed", program: "boost.py", signal: "KILL", env: []string{"STEPS=600"}, category: "host-oom-killed", also: []string{"sigterm-preempted", "node-lost"}, key: []string{}},
	{name: "boost-callback-raises", program: "boost.py", inject: "raise", category: "python-exception-user-code", also: []string{"argument-or-config-error"}, key: []string{"^KeyError: 'valid'"}},
	{name: "boost-label-not-a-number", program: "boost.py", pods: 3, inject: "nan-label", victim: 2, category: "dataset-error", also: []string{"python-exception-user-code", "nan-loss"}, key: []string{"[Ll]abel contains NaN|nan"}},
	{name: "boost-memory-limit", program: "boost.py", pods: 3, victim: 1, inject: "memory", memory: 400 << 20, category: "host-oom-killed", key: []string{}},
	{name: "healthy-boost", program: "boost.py", victim: -1, category: "healthy"},
	{name: "archive-cannot-be-unpacked", inject: "archive-missing", pods: 5, victim: 1, category: "file-not-found", also: []string{"dataset-error", "python-exception-user-code"}, key: []string{"^tar: .*Cannot open: No such file", "^subprocess.CalledProcessError"}},
	{name: "artifact-host-unknown", inject: "bucket-name", pods: 3, victim: 2, category: "network-dns", also: []string{"tokenizer-or-model-download-auth"}, key: []string{"name resolution|Name or service not known"}},
	{name: "weights-are-refused", inject: "refused-token", pods: 6, victim: 4, category: "tokenizer-or-model-download-auth", also: []string{"permission-denied"}, key: []string{"HTTP Error 403"}},
	{name: "cache-of-a-renamed-class", inject: "class-renamed", category: "python-exception-user-code", also: []string{"import-version-conflict", "checkpoint-corrupt-or-mismatch", "dataset-error"}, key: []string{"^AttributeError: Can't get attribute"}},
	{name: "shard-tried-thrice", inject: "tries-thrice", pods: 5, victim: 3, category: "file-not-found", also: []string{"dataset-error", "python-exception-user-code", "storage-io"}, key: []string{"^RuntimeError: shard 3 could not be opened", `attempt \d of 3: \[Errno 2\]`}},
	{name: "thread-dies-and-the-program-waits", inject: "prefetch-thread", pods: 4, victim: 1, category: "python-exception-user-code", also: []string{"hang-no-progress", "dataset-error"}, key: []string{"^KeyError: 'token_ids'"}},
	{name: "error-logged-and-left", inject: "logged-and-left", pods: 7, victim: 6, env: []string{"FAULT_STEP=18"}, category: "python-exception-user-code", also: []string{"dataset-error", "argument-or-config-error"}, key: []string{"KeyError: 'valid'", "evaluation failed"}},
	{name: "checkpoint-takes-longer-than-peers-wait", inject: "slow-save", victim: 1, env: []string{"GLOO_TIMEOUT=5"}, category: "nccl-timeout", also: []string{"hang-no-progress", "storage-io"}, key: []string{"saving checkpoint|" + lost}},
	{name: "array-on-a-full-volume", inject: "array-on-disk", disk: true, pods: 6, victim: 2, env: []string{"STYLE=json"}, category: "disk-full", key: []string{`requested and \d+ written|No space left`}},
	{name: "memory-freed-twice", inject: "double-free", pods: 3, victim: 1, env: []string{"FAULT_STEP=7"}, category: "segfault", key: []string{"double free"}},
	{name: "gradient-is-nan", inject: "gradient-nan", pods: 5, victim: 4, category: "nan-loss", key: []string{"returned nan values"}},
	{name: "one-of-four-has-fewer-steps", ownEnv: []string{"STEPS=22"}, victim: 2, category: "nccl-timeout", also: []string{"hang-no-progress", "dataset-error", "python-exception-user-code"}, key: []string{"step 20/22|op.preamble.length|training finished|" + lost}},
	{name: "last-of-seven-hung-up", pods: 7, victim: 6, signal: "HUP", env: []string{"STEPS=600"}, category: "sigterm-preempted", also: []string{"host-oom-killed", "node-lost"}, key: []string{}},
	{name: "stopped-by-a-user-signal", pods: 4, victim: 3, signal: "USR1", env: []string{"STEPS=600"}, category: "sigterm-preempted", also: []string{"host-oom-killed", "node-lost", "segfault"}, key: []string{}},
	{name: "memory-limit-of-the-last-of-six", inject: "memory", memory: 400 << 20, pods: 6, victim: 5, env: []string{"FAULT_STEP=21", "STYLE=json"}, category: "host-oom-killed", key: []string{}},
	{name: "others-recover-and-one-raises", inject: "index", env: []string{"FAULT=recovers", "FAULT_STEP=9"}, pods: 5, victim: 2, category: "python-exception-user-code", also: []string{"dataset-error"}, key: []string{"^IndexError: list index out of range"}},
	{name: "mpi-rank-leaves", program: "mpi.py", pods: 5, victim: 2, inject: "leave", env: []string{"FAULT_STEP=17"}, category: "python-exception-user-code", also: []string{"mpi-failure", "argument-or-config-error"}, key: []string{"exited with|non-zero|exit(ed)? (code|status)"}},
	{name: "mpi-cells-missing", program: "mpi.py", pods: 6, victim: 3, inject: "missing", env: []string{"FAULT_STEP=2"}, category: "file-not-found", also: []string{"dataset-error"}, key: []string{"FileNotFoundError"}},
	{name: "mpi-rank-aborts-natively", program: "mpi.py", pods: 4, victim: 1, inject: "assertion", env: []string{"FAULT_STEP=22"}, category: "segfault", key: []string{"signal 6|Aborted"}},
	{name: "boost-objective-unknown", program: "boost.py", pods: 5, inject: "objective", victim: 3, category: "argument-or-config-error", also: []string{"python-exception-user-code"}, key: []string{"Unknown objective"}},
	{name: "boost-stopped", program: "boost.py", pods: 4, victim: 1, signal: "TERM", env: []string{"STEPS=600"}, category: "sigterm-preempted", also: []string{"host-oom-killed", "node-lost"}, key: []string{}},
	{name: "healthy-recovered-reads", inject: "recovers", pods: 5, victim: 3, category: "healthy"},
	{name: "healthy-boost-running", program: "boost.py", victim: -1, pods: 3, env: []string{"STEPS=100000"}, running: true, category: "healthy"},
	{name: "file-closed-before-it-is-read", inject: "closed-file", pods: 9, victim: 7, env: []string{"FAULT_STEP=11"}, category: "python-exception-user-code", also: []string{"dataset-error", "storage-io"}, key: []string{"^ValueError: I/O operation on closed file"}},
	{name: "settings-of-the-master-are-no-json", inject: "settings-cut", pods: 3, victim: 0, category: "argument-or-config-error", also: []string{"python-exception-user-code", "dataset-error"}, key: []string{"JSONDecodeError"}},
	{name: "metrics-port-taken", inject: "metrics-port", pods: 6, victim: 2, category: "port-in-use", key: []string{"Address already in use"}},
	{name: "variable-unset-in-one-of-two", inject: "shards-unset", pods: 2, victim: 1, category: "argument-or-config-error", also: []string{"python-exception-user-code"}, key: []string{"^KeyError: 'SHARDS_PER_NODE'"}},
	{name: "name-is-gone-from-a-library", inject: "name-gone", pods: 7, victim: 5, category: "import-version-conflict", also: []string{"missing-module"}, key: []string{"^ImportError: cannot import name 'cached_download'"}},
	{name: "checkpoint-is-a-page", inject: "page-for-a-checkpoint", pods: 4, victim: 1, category: "checkpoint-corrupt-or-mismatch", key: []string{"UnpicklingError|invalid load key|[Ww]eights.only"}},
	{name: "tracking-service-away", inject: "service-away", pods: 5, victim: 2, category: "network-dns", also: []string{"tokenizer-or-model-download-auth", "nccl-init-network"}, key: []string{"Connection refused"}},
	{name: "optimizer-without-parameters", inject: "no-parameters", pods: 3, victim: 2, category: "python-exception-user-code", also: []string{"argument-or-config-error"}, key: []string{"optimizer got an empty parameter list"}},
	{name: "view-of-ten", inject: "view", pods: 10, victim: 9, env: []string{"FAULT_STEP=16", "STYLE=json"}, category: "shape-mismatch", also: []string{"python-exception-user-code"}, key: []string{"view size is not compatible"}},
	{name: "batch-is-short", inject: "short-batch", pods: 5, victim: 1, env: []string{"STYLE=bare"}, category: "dataset-error", also: []string{"python-exception-user-code", "argument-or-config-error"}, key: []string{"^AssertionError: batch has 3 samples"}},
	{name: "native-code-terminates", inject: "terminate", pods: 5, victim: 3, env: []string{"FAULT_STEP=8"}, category: "segfault", key: []string{"terminate called"}},
	{name: "one-waits-for-its-own-lock", inject: "deadlock", pods: 5, victim: 4, category: "nccl-timeout", also: []string{"hang-no-progress"}, key: []string{lost}},
	{name: "one-leaves-without-a-word", inject: "leave-silently", pods: 6, victim: 1, category: "nccl-timeout", also: []string{"dataset-error", "python-exception-user-code", "hang-no-progress", "nccl-init-network"}, key: []string{lost}},
	{name: "fifth-of-nine-killed", pods: 9, victim: 4, signal: "KILL", env: []string{"STEPS=600"}, category: "host-oom-killed", also: []string{"sigterm-preempted", "node-lost"}, key: []string{}},
	{name: "memory-limit-of-the-master-of-two", inject: "memory", memory: 400 << 20, pods: 2, victim: 0, category: "host-oom-killed", key: []string{}},
	{name: "mpi-array-too-large", program: "mpi.py", pods: 7, victim: 4, inject: "array", env: []string{"FAULT_STEP=6"}, category: "host-oom-killed", also: []string{"python-exception-user-code"}, key: []string{"Unable to allocate"}},
	{name: "mpi-rank-terminated", program: "mpi.py", pods: 4, victim: 1, inject: "term", category: "sigterm-preempted", also: []string{"mpi-failure"}, key: []string{"signal 15|Terminated"}},
	{name: "boost-depth-below-bound", program: "boost.py", pods: 6, victim: 4, inject: "depth", category: "argument-or-config-error", also: []string{"python-exception-user-code"}, key: []string{"max_depth"}},
	{name: "boost-tracker-pod-raises", program: "boost.py", pods: 5, victim: 0, inject: "no-early-stop", category: "python-exception-user-code", also: []string{"argument-or-config-error"}, key: []string{"best_iteration"}},
	{name: "boost-other-width", program: "boost.py", pods: 4, victim: 2, inject: "columns", category: "shape-mismatch", also: []string{"hang-no-progress", "nccl-timeout", "dataset-error", "argument-or-config-error"}, key: []string{}, anybody: true},
	{name: "healthy-two", victim: -1, pods: 2, env: []string{"STYLE=json", "STEPS=60"}, category: "healthy"},
	{name: "healthy-mpi-seven", program: "mpi.py", victim: -1, pods: 7, category: "healthy"},
}
