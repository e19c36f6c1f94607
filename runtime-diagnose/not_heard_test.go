package diagnose_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// Three of four ranks wait for a collective until their watchdogs give up; of the fourth nothing was read.
func TestWhoWasNotHeardIsNamedWhereTheOthersWaited(t *testing.T) {
	story := func(heard int) diagnose.Case {
		c := diagnose.Case{Now: noon, State: kinds.State{Phase: kinds.Failed}}
		for i := range 4 {
			pod := fmt.Sprintf("w-%d", i)
			if i >= 3 {
				c.Pods = append(c.Pods, running(pod, "gpu-1"))
			} else {
				c.Pods = append(c.Pods, ended(pod, "gpu-1", 134, "Error", noon))
			}
			if i >= heard {
				continue
			}
			text := fmt.Sprintf("[rank%d]:[E ProcessGroupNCCL.cpp:616] [Rank %d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600010 milliseconds before timing out.\n", i, i)
			if i == 3 {
				text = "step 6 loss 2.0\n"
			}
			c.Logs = append(c.Logs, diagnose.Log{
				Source: evidence.Source{Pod: pod, Container: "c", Rank: -1},
				Open:   func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil },
			})
		}
		return c
	}
	const open = "w-3 may be who the others waited for: nothing that it printed was read; that would decide."
	for heard, want := range map[int]bool{3: true, 4: false, 1: false} {
		r := diagnose.Diagnose(t.Context(), story(heard), catalog(t), diagnose.Options{})
		if got := strings.Contains(r.Analysis, open); got != want {
			t.Errorf("%d of 4 logs were read: %s", heard, r.Analysis)
		}
	}
}
