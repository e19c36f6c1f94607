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

// In one text of all ranks the one that waits in another collective says so itself: it is the one to look at.
// One that only answers a request to dump is not cited.
func TestTheRankInAnotherCollectiveIsNamedInOneText(t *testing.T) {
	waits := func(rank, seq int, op string) string {
		return fmt.Sprintf("[rank%d]:[E ProcessGroupNCCL.cpp:616] [Rank %d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=%d, OpType=%s, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600010 milliseconds before timing out.\n", rank, rank, seq, op)
	}
	cases := map[string]struct {
		behind string
		line   int
	}{
		"it waits itself":   {waits(2, 6, "ALLGATHER"), 3},
		"it is with them":   {waits(2, 7, "ALLREDUCE"), 1},
		"it answers a dump": {"[rank2]:[E ProcessGroupNCCL.cpp:1858] [PG 0 Rank 2] Received a dump signal due to a collective timeout from rank 0. Last enqueued NCCL work: 6, last completed NCCL work: 5.\n", 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text := waits(0, 7, "ALLREDUCE") + waits(1, 7, "ALLREDUCE") + tc.behind
			c := diagnose.Case{Now: noon, Logs: []diagnose.Log{{
				Source: evidence.Source{File: "all.log", Rank: -1},
				Open:   func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil },
			}}}
			r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{})
			if r.Root == nil || r.Root.Source.Line != tc.line {
				t.Errorf("the cause is %+v; want line %d", r.Root, tc.line)
			}
		})
	}
}
