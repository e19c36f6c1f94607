package diagnose_test

import (
	"strings"
	"testing"
)

// An error of the operating system or of a driver is the same whichever runtime words it.
func TestAFailureInTheWordsOfAnotherRuntime(t *testing.T) {
	cases := map[string]struct{ log, category, line string }{
		"Rust, with a number": {
			"thread 'main' panicked at 'called `Result::unwrap()` on an `Err` value: Os { code: 2, kind: NotFound, message: \"No such file or directory\" }', src/main.rs:59:29\n",
			"file-not-found", "kind: NotFound",
		},
		"Rust, in brackets": {
			"thread 'main' panicked at src/main.rs:59:29:\ncannot write the shard: No space left on device (os error 28)\n", "disk-full", "os error 28",
		},
		"Go, in words": {"panic: open /data/a.bin: permission denied\n\ngoroutine 1 [running]:\n", "permission-denied", "permission denied"},
		"C++, in words": {
			"terminate called after throwing an instance of 'std::system_error'\n  what():  write: Disk quota exceeded\n", "disk-full", "Disk quota exceeded",
		},
		"a number that names no cause": {
			"thread 'main' panicked at 'value: Os { code: 4, kind: Interrupted, message: \"x\" }', src/main.rs:59:29\n", "python-exception-user-code", "code: 4",
		},
		"words that go on": {"panic: rule: permission deniedness is odd\n", "python-exception-user-code", "deniedness"},
		"a line that its program calls an error": {
			`{"severity":"ERROR","message":"fuse: *fuseops.SyncFileOp error: input/output error"}` + "\n", "storage-io", "SyncFileOp",
		},
		"a driver's name at the end of a log": {
			"epoch 60 loss 0.331\n2018-06-27 21:10:37.421165: E tensorflow/stream_executor/cuda/cuda_driver.cc:1110] could not synchronize on CUDA context: CUDA_ERROR_LAUNCH_FAILED :: No stack trace\nAborted (core dumped)\n",
			"gpu-hardware-xid", "CUDA_ERROR_LAUNCH_FAILED",
		},
		"a number of CUDA": {
			"terminate called after throwing an instance of 'thrust::system_error'\n  what():  sync failed: cudaError_t 700\n", "illegal-memory-access", "cudaError_t 700",
		},
		"a number of CUDA that names no cause": {
			"terminate called after throwing an instance of 'thrust::system_error'\n  what():  sync failed: cudaError_t 17\n", "python-exception-user-code", "cudaError_t 17",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := read(t, "", strings.NewReader(tc.log))
			if r.Category != tc.category || r.Root == nil || !strings.Contains(r.Root.Line, tc.line) {
				t.Errorf("category %q, root %+v; want %q and the line with %q", r.Category, r.Root, tc.category, tc.line)
			}
		})
	}
}

// A panic over a thread that is gone follows from that thread's.
func TestAPanicOverAThreadThatIsGone(t *testing.T) {
	const first = "thread '<unnamed>' panicked at src/handle.rs:73:32:\nno handle for tensor 560132\n"
	for name, tc := range map[string]struct{ second, want string }{
		"the other end of a channel": {"thread 'main' panicked at src/checkpoint.rs:94:14:\ncannot send to the checkpointer: SendError { .. }\n", "no handle"},
		"who was waited for":         {"thread 'main' panicked at 'called `Result::unwrap()` on an `Err` value: Any { .. }', src/main.rs:9:5\n", "no handle"},
		"another reason":             {"thread 'main' panicked at src/main.rs:9:5:\nno rows\n", "no rows"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := read(t, "", strings.NewReader(first+tc.second)); r.Root == nil || !strings.Contains(r.Root.Line, tc.want) {
				t.Errorf("root %+v, want the line with %q", r.Root, tc.want)
			}
		})
	}
}
