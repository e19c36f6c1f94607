package ground

import "testing"

// A denial contradicts what shares its subject, and that something is well contradicts a finding about it; who tells of a member of its evidence may name
// the one that the rules found beside it.
func TestWhoseDenialItIs(t *testing.T) {
	job := gang("run-2: the GPU ran out of memory (asked 2.00 GiB)\ngpu-oom\nCUDA out of memory", "2/t#2", "0/t#3",
		"2/t#2 CUDA out of memory. Tried to allocate 2.00 GiB. If reserved but unallocated memory is large set the option to avoid fragmentation.", "0/t#3 RuntimeError: Connection closed by peer, last enqueued work: 79",
		"2/t#4 OSError: No space left on device: '/ckpt/last.pt', two minutes later", "0/t#5 started at step 4, strict: false, max_steps 90", "2/t/exit container t ended: exit code 143", "1/t#6 step 4 served by the worker with task:1",
		"2/t#7 0/3 nodes are available: 2 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint", "1/t#8 Sending process 20120 closing signal SIGHUP")
	for so, not := range map[string]string{
		"The memory is full [pod/run-2/t#2].":                                                 "The memory did not run out on run-2 [pod/run-2/t#2].",
		"run-0 stopped after it had started at step 4 [pod/run-0/t#5].":                       "run-0 was stopped at step 77 [pod/run-0/t#5].",
		"run-2 was asked to stop and did not crash [pod/run-2/t/exit].":                       "run-2 did not run out of memory [pod/run-2/t#2].",
		"The credentials are fine, as nothing in the message speaks of them [pod/run-2/t#2].": "The memory is fine, as nothing in the message speaks of it [pod/run-2/t#2].",
		"run-0 lost the connection that run-2 could not keep any longer [pod/run-0/t#3].":     "run-2 lost its connection [pod/run-0/t#3].",
		"With strict: false nobody compared the keys on run-0 [pod/run-0/t#5].":               "strict was set on run-0 [pod/run-0/t#5].",
		"Two of the three nodes are short of GPUs [pod/run-2/t#7].":                           "All three nodes are short of GPUs [pod/run-2/t#7].",
		"launcher 无法读取密钥 [pod/run-2/t#4]。":                                                    "请发送密钥 [pod/run-2/t#4]。",
		"子进程 20120 收到了 SIGHUP [pod/run-1/t#8]。":                                               "子进程 20121 收到了 SIGHUP [pod/run-1/t#8]。",
	} {
		if k := Keep(Answer{Analysis: so}, job); outcomeOf(k) == dropped {
			t.Errorf("%s: is left out: %s", so, k.LeftOut())
		}
		if k := Keep(Answer{Analysis: not}, job); outcomeOf(k) != dropped {
			t.Errorf("%s: is shown: %s%v", not, k.Analysis, k.Unsupported)
		}
	}
	if miscalculated("The exit code of run-1 = 128 + 15") || !miscalculated("137 = 128 + 15") {
		t.Error("the number of a name is none of a calculation")
	}
}
