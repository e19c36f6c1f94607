package report

import (
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// TestWhichOfTwoTimesIsMissingIsSaid: an age is no time, and a dated line is not called undated.
func TestWhichOfTwoTimesIsMissingIsSaid(t *testing.T) {
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	dated, aged := timeline.Moment{Clock: "node/a", At: at}, timeline.Moment{Clock: evidence.AgeClock("pods.txt"), At: at}
	for name, tc := range map[string]struct {
		it, next timeline.Moment
		want     string
	}{
		"the others": {dated, timeline.Moment{}, "Nothing that was read dates the others"},
		"it":         {timeline.Moment{}, dated, "Nothing that was read dates it"},
		"an age":     {aged, dated, "Nothing that was read dates it"},
		"two clocks": {dated, timeline.Moment{Clock: evidence.OwnClock("log"), At: at}, "Its time and those of the others are of clocks that nothing compares"},
	} {
		if got := undated(tc.it, tc.next); got != tc.want {
			t.Errorf("%s: %q; want %q", name, got, tc.want)
		}
	}
}

func TestANodeThatIsKnownIsNamed(t *testing.T) {
	for step, want := range map[string]string{
		"Drain the node and reset the GPU.":                 "Drain node g-1 and reset the GPU.",
		"Tell the administrator the node and the message.":  "Tell the administrator node g-1 and the message.",
		"Look for maintenance of the node; start it again.": "Look for maintenance of the node; start it again.",
		"Tell the administrators what the node's log says.": "Tell the administrators what the node's log says.",
	} {
		if got := onTheNode.ReplaceAllString(step, "${1}node g-1"); got != want {
			t.Errorf("%q becomes %q; want %q", step, got, want)
		}
	}
}

func TestTheHostOfALine(t *testing.T) {
	const xid = "NVRM: Xid (PCI:0000:3b:00): 48, pid=2024, Double Bit ECC Error"
	for line, want := range map[string]string{
		"Nov 20 10:00:01 gpu-node-07 kernel: " + xid:                                 "gpu-node-07",
		"<3>Nov  2 10:00:01 gpu-node-07.example.com kernel[0]: " + xid:               "gpu-node-07.example.com",
		"2026-11-20T10:00:01.123456+00:00 gpu-node-07 kernel: " + xid:                "gpu-node-07",
		"2026-11-20T10:00:01+0000 gpu-node-07 kernel: " + xid:                        "gpu-node-07",
		"[rank3] host=gpu-node-07 CUDA error: uncorrectable ECC error encountered":   "gpu-node-07",
		`{"level":"error","node":"gpu-node-07","msg":"uncorrectable ECC error"}`:     "gpu-node-07",
		"[Mon Nov 20 10:00:01 2026] " + xid:                                          "",
		"Nov 20 10:00:01 kernel: " + xid:                                             "",
		"CUDA error: uncorrectable ECC error encountered on the node: reset the GPU": "",
		"Detected 1 ECC error(s) in GPU 0. Drain the GPU and reboot the node.":       "",
		"ghost=a uncorrectable ECC error":                                            "",
	} {
		if got := hostIn(line); got != want {
			t.Errorf("%q: %q; want %q", line, got, want)
		}
	}
}
