package diagnose_test

import (
	"strings"
	"testing"
)

// Where in native code a message comes from says more than words that no signature knows.
func TestAMessageSpeaksThroughThePlaceInNativeCodeThatItComesFrom(t *testing.T) {
	cases := map[string]struct{ log, category, line string }{
		"an exception whose message names the place": {
			"Traceback (most recent call last):\n  File \"/app/train.py\", line 3, in <module>\n    run()\n" +
				"RuntimeError: odd words: src/sentencepiece_processor.cc(1101) [nothing known]\n", "checkpoint-corrupt-or-mismatch", "odd words",
		},
		"an exception without a traceback": {
			"RuntimeError: [ERROR] odd words in: torch_npu/csrc/distributed/ProcessGroupHCCL.cpp:64\n", "nccl-init-network", "odd words",
		},
		"of several places the first that is known": {
			"RuntimeError: odd words at app/run.cpp:3, from coordination_service_agent.cc:713\n", "rendezvous-timeout", "odd words",
		},
		"a place on Windows": {"RuntimeError: odd words at C:\\src\\xla\\pjrt\\distributed\\client.cc:80\n", "rendezvous-timeout", "odd words"},
		"a line that its program calls fatal, in columns": {
			"step 1\n[r1071:7563:0:7563] rc_verbs_iface.c:63   FATAL: odd words\n", "infiniband-fault", "odd words",
		},
		"a line of UCX without a level": {"[n1:6318:0:6318] ib_mlx5_log.c:139  odd words\n==== backtrace (tid: 6318) ====\n", "infiniband-fault", "odd words"},
		"NCCL before it named itself": {
			"trainer-0:31:31 [0] include/socket.h:344 WARN odd thing failed\n", "nccl-init-network", "odd thing failed",
		},
		"words that a signature knows go before the place": {
			"RuntimeError: CUDA error: an illegal memory access was encountered at src/transport/net_ib.cc:9\n", "illegal-memory-access", "illegal memory access",
		},
		"a place that nobody knows": {"RuntimeError: odd words at app/run.cpp:3\n", "python-exception-user-code", "odd words"},
		"no line of a file":         {"RuntimeError: odd words in sentencepiece_processor.cc\n", "python-exception-user-code", "odd words"},
		"one place too many": {
			"RuntimeError: odd words a.cc:1 b.cc:2 c.cc:3 d.cc:4 coordination_service_agent.cc:713\n", "python-exception-user-code", "odd words",
		},
		"as many places as are read": {
			"RuntimeError: odd words a.cc:1 b.cc:2 c.cc:3 coordination_service_agent.cc:713\n", "rendezvous-timeout", "odd words",
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

// A process that aborts has crashed: where nothing says why, that is what is known.
func TestAnAbortWithoutAReasonIsACrash(t *testing.T) {
	const abort = "*** SIGABRT received by PID 5434 (TID 5434) on cpu 25 from PID 5434; stack trace: ***\nPC: @     0x7fcf5129603b  (unknown)  raise\n"
	for name, tc := range map[string]struct{ log, want string }{
		"alone":         {"loading\n" + abort, "segfault"},
		"with a reason": {"RuntimeError: CUDA error: an illegal memory access was encountered\n" + abort, "illegal-memory-access"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := read(t, "", strings.NewReader(tc.log)); r.Category != tc.want {
				t.Errorf("category %q; want %q", r.Category, tc.want)
			}
		})
	}
}

// What had to hold in native code and did not says as much as an assertion without a message.
func TestAConditionOfNativeCodeSaysWhatWasWrong(t *testing.T) {
	for name, tc := range map[string]struct{ log, want string }{
		"glog and dmlc": {
			"xgboost.core.XGBoostError: [08:46:15] /opt/src/multiclass_obj.cu:120: Check failed: info.labels.Size() == preds.Size() (7 vs. 3) : odd words\n", "shape-mismatch",
		},
		"torch": {
			"RuntimeError: scalar.dtype() == other.dtype() INTERNAL ASSERT FAILED at \"/opt/src/odd.cpp\":12, odd words\n", "dtype-mismatch",
		},
		"Paddle": {
			"paddle.fluid.core.EnforceNotMet: odd words. Expected x->dtype() == y->dtype(), but received x->dtype():5 != y->dtype():6.\n", "dtype-mismatch",
		},
		"a check whose condition says nothing": {"RuntimeError: odd_thing INTERNAL ASSERT FAILED at \"/opt/src/odd.cpp\":12, odd words\n", "python-exception-user-code"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := read(t, "", strings.NewReader(tc.log)); r.Category != tc.want {
				t.Errorf("category %q, root %+v; want %q", r.Category, r.Root, tc.want)
			}
		})
	}
}
