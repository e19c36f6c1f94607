package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// stepsFrom are lines of training.
func stepsFrom(from, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "step %d/900000 loss %.4f lr 1e-4\n", from+i, 3-float64(from+i)/900_000)
	}
	return b.String()
}

// A program may be started more often into one file than launches are told apart: the last one counts.
func TestTheLastOfManyLaunchesCounts(t *testing.T) {
	begin := func(i int) string {
		return fmt.Sprintf("Starting run %d of train.py on gpu-7\nLoading data from /data/x%d\n", i, i)
	}
	const failed = "Traceback (most recent call last):\n  File \"/app/train.py\", line 12, in <module>\n    train(batch)\nConnectionError: HTTPSConnectionPool(host='hub', port=443): Max retries exceeded\n"
	for _, times := range []int{1, 200, 255, 256, 257, 300} {
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			var fails, trains strings.Builder
			for i := range times {
				fails.WriteString(begin(i) + failed)
				trains.WriteString(begin(i) + failed + begin(i) + stepsFrom(1, 30))
			}
			if r := read(t, "", strings.NewReader(fails.String()+begin(times)+stepsFrom(1, 3))); r.Verdict != diagnose.Healthy {
				t.Errorf("the last one trains, and it is %s: %s", r.Verdict, r.Error)
			}
			if r := read(t, "", strings.NewReader(trains.String()+begin(times)+failed)); r.Verdict != diagnose.Diagnosed || r.Category != "network-dns" {
				t.Errorf("the last one fails, and it is %s, %s: %s", r.Verdict, r.Category, r.Error)
			}
		})
	}
}

// Agents may give up more often than they are kept: the last one names the rank that ended the run.
func TestTheLastOfManyAgentsNamesTheRank(t *testing.T) {
	agent := func(rank int) string {
		return fmt.Sprintf("train.py FAILED\n------\nFailures:\n  <NO_OTHER_FAILURES>\n------\nRoot Cause (first observed failure):\n[0]:\n  time      : 2026-11-20_10:00:00\n  host      : h\n  rank      : %d (local_rank: 1)\n  exitcode  : 1 (pid: 99)\n  error_file: <N/A>\n", rank)
	}
	raised := func(rank int, what string) string {
		return fmt.Sprintf("[rank%d]: Traceback (most recent call last):\n[rank%d]:   File \"/app/train.py\", line 12, in <module>\n[rank%d]:     train(batch)\n[rank%d]: %s\n", rank, rank, rank, rank, what)
	}
	for _, times := range []int{1, 63, 64, 65, 80} {
		var b strings.Builder
		for i := range times {
			b.WriteString(raised(i%8, "app.Unruly: attempt") + agent(i%8) + stepsFrom(i*40, 40))
		}
		b.WriteString(raised(3, "ConnectionResetError: [Errno 104] Connection reset by peer") + raised(5, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.") + agent(5))
		if r := read(t, "", strings.NewReader(b.String())); r.Category != "gpu-oom" || r.Root.Source.Rank != 5 {
			t.Errorf("%d before: %s: %s", times, r.Category, r.Error)
		}
	}
}

// One log of many ranks has more lines of watchdogs than a gang of eight has, and an elastic run has those of its earlier attempts.
func TestTheRankThatIsBehindIsFoundAmongMany(t *testing.T) {
	waits := func(rank, seq int) string {
		return fmt.Sprintf("[rank%d]:[E ProcessGroupNCCL.cpp:616] [Rank %d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=%d, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600010 milliseconds before timing out.\n", rank, rank, seq)
	}
	all := func(ranks, behind, seq int) string {
		var b strings.Builder
		for rank := range ranks {
			if rank == behind {
				b.WriteString(waits(rank, seq-1))
			} else {
				b.WriteString(waits(rank, seq))
			}
		}
		return b.String()
	}
	for name, tc := range map[string]struct {
		log    string
		behind int
	}{
		"as many as there used to be":    {stepsFrom(1, 40) + all(128, 100, 9), 100},
		"one more":                       {stepsFrom(1, 40) + all(129, 128, 9), 128},
		"a thousand":                     {stepsFrom(1, 40) + all(1000, 900, 9), 900},
		"an earlier attempt had another": {stepsFrom(1, 40) + all(16, 3, 9) + stepsFrom(41, 40) + all(16, 7, 99), 7},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, "", strings.NewReader(tc.log))
			if want := fmt.Sprintf("ank %d", tc.behind); !strings.Contains(diagnose.Text(r), want) {
				t.Errorf("want %q in:\n%s", want, diagnose.Text(r))
			}
		})
	}
	t.Run("more than are compared", func(t *testing.T) {
		r := read(t, "", strings.NewReader(stepsFrom(1, 40)+all(4097, 4096, 9)))
		if want := "1 line of NCCL's watchdog was not compared with the others"; !strings.Contains(strings.Join(r.Coverage.Missing, "\n"), want) {
			t.Errorf("want %q in %q", want, r.Coverage.Missing)
		}
	})
}

// What a program says as its last counts, however long the line is, and whatever is dumped, or drawn, below it.
func TestLongLinesAtTheEndHideNothing(t *testing.T) {
	const failed = "the run failed: worker exited"
	long := " state:" + strings.Repeat(" key=17", 2000)
	for name, end := range map[string]string{
		"alone":                     failed + "\n",
		"in a long line":            failed + long + "\n",
		"at the end of a long line": long + " " + failed + "\n",
		"above a long line":         failed + "\n" + long + "\n",
		"above three":               failed + "\n" + strings.Repeat(long+"\n", 3),
		"above blank lines":         failed + "\n" + strings.Repeat(" \n", 500),
		"above dots":                failed + "\n" + strings.Repeat(".\n", 500),
	} {
		if r := read(t, "", strings.NewReader(stepsFrom(1, 60)+end)); diagnose.HealthyWord(r.Verdict) != "No" {
			t.Errorf("%s: it is %s", name, r.Verdict)
		}
	}
}
