package timeline_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// noon has a fraction of a second: it is known to the nanosecond.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 1, time.UTC)

func at(clock string, after time.Duration) timeline.Moment {
	return timeline.Moment{Clock: clock, At: noon.Add(after)}
}

func TestClocksOrder(t *testing.T) {
	second := func(m timeline.Moment) timeline.Moment {
		return timeline.Moment{Clock: m.Clock, At: m.At.Truncate(time.Second)}
	}
	cases := map[string]struct {
		note func(*timeline.Clocks)
		a, b timeline.Moment
		want int
	}{
		"on one clock a millisecond is an order":                {nil, at("a", 0), at("a", time.Millisecond), -1},
		"on two clocks a second is none":                        {nil, at("a", 0), at("b", time.Second), 0},
		"on two clocks three seconds are one":                   {nil, at("a", 0), at("b", 3*time.Second), -1},
		"the other way round":                                   {nil, at("a", 3*time.Second), at("b", 0), 1},
		"a time cut to the second is a second wide":             {nil, second(at("a", 0)), at("a", 900*time.Millisecond), 0},
		"an unknown time is never ordered":                      {nil, timeline.Moment{Clock: "a"}, at("b", time.Hour), 0},
		"a program's own stamps are of a zone that nobody says": {nil, at(evidence.OwnClock("p"), 0), at("b", time.Hour), 0},
		"two programs' own stamps are of one zone":              {nil, at(evidence.OwnClock("p"), 0), at(evidence.OwnClock("q"), time.Hour), -1},
		"a node that accepted a pod before it was bound is behind": {
			func(c *timeline.Clocks) { c.Follows("a", noon.Add(-30*time.Second), noon) },
			at("a", 0), at("b", 10*time.Second), 1, // a's noon is 12:00:26 or later
		},
		"a node that reported an end before it happened is ahead": {
			func(c *timeline.Clocks) { c.Precedes("a", noon.Add(30*time.Second), noon) },
			at("a", 40*time.Second), at("b", 20*time.Second), -1, // a's 12:00:40 is 12:00:11 or earlier
		},
		"a slow report makes no clock suspicious": {
			func(c *timeline.Clocks) { c.Precedes("a", noon.Add(-40*time.Second), noon) },
			at("a", 0), at("b", 3*time.Second), -1,
		},
		"steps that all take together show a clock that is off": {
			func(c *timeline.Clocks) {
				for i, off := range map[string]time.Duration{"a": 50 * time.Second, "b": 0, "c": 0, "d": time.Millisecond} {
					c.Meets("step 7", at(i, off))
					c.Meets("step 8", at(i, off+time.Second))
				}
				c.Settle(time.Second)
			},
			at("a", 20*time.Second), at("b", 10*time.Second), -1, // a's 12:00:20 is 11:59:30
		},
		"times that two saw of different things are no meeting": {
			func(c *timeline.Clocks) {
				c.Meets("step 7", at("a", 50*time.Second))
				c.Meets("step 7", at("b", 0))
				c.Settle(time.Second)
			},
			at("a", 20*time.Second), at("b", 10*time.Second), 1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var c timeline.Clocks
			if tc.note != nil {
				tc.note(&c)
			}
			if got := c.Order(tc.a, tc.b); got != tc.want {
				t.Errorf("Order = %d, want %d (a is %v ahead, b %v)", got, tc.want, c.Ahead(tc.a.Clock), c.Ahead(tc.b.Clock))
			}
			if got := c.Order(tc.b, tc.a); got != -tc.want {
				t.Errorf("Order turned round = %d, want %d", got, -tc.want)
			}
		})
	}
}

var (
	oom      = &signature.Signature{ID: "oom", Category: "gpu-oom", Role: signature.Root}
	disk     = &signature.Signature{ID: "disk", Category: "disk-full", Role: signature.Root}
	general  = &signature.Signature{ID: "exception", Category: "python-exception-user-code", Role: signature.Root}
	reset    = &signature.Signature{ID: "reset", Category: "nccl-timeout", Role: signature.Cascade}
	exited   = &signature.Signature{ID: "exit-1", Category: "python-exception-user-code", Role: signature.Root, Depth: signature.Symptom}
	sigterm  = &signature.Signature{ID: "exit-143", Category: "sigterm-preempted", Role: signature.Root, Depth: signature.Symptom}
	crashed  = &signature.Signature{ID: "exit-139", Category: "segfault", Role: signature.Root, Depth: signature.Symptom}
	wire     = &signature.Signature{ID: "wire", Category: "nccl-init-network", Role: signature.Root}
	absent   = &signature.Signature{ID: "absent", Category: "rendezvous-timeout", Role: signature.Root}
	nodeLost = &signature.Signature{ID: "node", Category: "node-lost", Role: signature.Root}
)

func line(s *signature.Signature, pod string, after time.Duration) evidence.Observation {
	return evidence.Observation{Signature: s, Item: evidence.Item{
		ID: evidence.ID(pod + "/" + s.ID), Kind: evidence.Log, At: noon.Add(after), Clock: "node-" + pod,
		Source: evidence.Source{Pod: pod, Node: "node-" + pod, Line: 5, Rank: -1},
	}}
}

func end(s *signature.Signature, pod string, after time.Duration) evidence.Observation {
	out := line(s, pod, after)
	out.Item.Kind, out.Item.Source.Line = evidence.Exit, 0
	return out
}

func ended(pod string, code int32, after time.Duration, read bool) timeline.Member {
	return timeline.Member{Place: pod, Clock: "node-" + pod, Ended: noon.Add(after), ExitCode: code, Failed: true, Read: read}
}

func TestMark(t *testing.T) {
	cases := map[string]struct {
		members []timeline.Member
		seen    []evidence.Observation
		want    []string // what is marked: "id explained" or "id follows"
	}{
		"an end says less than the line before it": {
			[]timeline.Member{ended("a", 1, 0, true)},
			[]evidence.Observation{line(oom, "a", -time.Second), end(exited, "a", 0)},
			[]string{"a/exit-1 explained"},
		},
		"a line of ten minutes before does not explain an end": {
			[]timeline.Member{ended("a", 1, 0, true)},
			[]evidence.Observation{line(reset, "a", -10*time.Minute), end(exited, "a", 0)},
			nil,
		},
		"who lost a connection went after who crashed without a word": {
			[]timeline.Member{ended("a", 139, 0, true), ended("b", 1, 0, true)},
			[]evidence.Observation{end(crashed, "a", 0), line(reset, "b", 0), end(exited, "b", 0)},
			[]string{"b/reset follows", "b/exit-1 explained"},
		},
		"who was told to stop went after who ended by itself": {
			[]timeline.Member{ended("a", 1, time.Second, true), ended("b", 143, 0, true)},
			[]evidence.Observation{end(exited, "a", time.Second), end(sigterm, "b", 0)},
			[]string{"b/exit-143 explained", "b/exit-143 follows"},
		},
		"unless it surely was the first": {
			[]timeline.Member{ended("a", 1, time.Minute, true), ended("b", 143, 0, true)},
			[]evidence.Observation{end(exited, "a", time.Minute), end(sigterm, "b", 0)},
			nil,
		},
		"all were told to stop: nobody follows": {
			[]timeline.Member{ended("a", 143, 0, true), ended("b", 143, 0, true)},
			[]evidence.Observation{end(sigterm, "a", 0), end(sigterm, "b", 0)},
			nil,
		},
		"a deeper cause that came a minute later follows": {
			[]timeline.Member{ended("a", 1, 0, true), ended("b", 1, time.Minute, true)},
			[]evidence.Observation{line(general, "a", -time.Second), line(disk, "b", time.Minute)},
			[]string{"b/disk follows"},
		},
		"one that came within what clocks may differ does not": {
			[]timeline.Member{ended("a", 1, 0, true), ended("b", 1, time.Second, true)},
			[]evidence.Observation{line(general, "a", 0), line(disk, "b", time.Second)},
			nil,
		},
		"the same error later is the same event": {
			[]timeline.Member{ended("a", 1, 0, true), ended("b", 1, time.Minute, true)},
			[]evidence.Observation{line(oom, "a", 0), line(oom, "b", time.Minute)},
			nil,
		},
		"who first said that another was gone leads nobody": {
			[]timeline.Member{ended("a", 1, 0, true), ended("b", 1, time.Minute, true)},
			[]evidence.Observation{line(reset, "a", -2*time.Second), line(general, "a", -time.Second), line(disk, "b", time.Minute)},
			nil,
		},
		"a lost node is reported late": {
			[]timeline.Member{ended("a", 1, 0, true), ended("b", 1, time.Minute, true)},
			[]evidence.Observation{line(general, "a", 0), line(nodeLost, "b", time.Minute)},
			nil,
		},
		"unless it surely ended first": {
			[]timeline.Member{ended("a", 1, -time.Minute, false), ended("b", 1, 0, true)},
			[]evidence.Observation{end(exited, "a", -time.Minute), line(reset, "b", 0), end(exited, "b", 0)},
			[]string{"b/reset follows", "b/exit-1 explained"},
		},
		"a wire that fails where somebody was gone follows who went in another way": {
			[]timeline.Member{ended("a", 139, 0, true), ended("b", 1, 0, true)},
			[]evidence.Observation{end(crashed, "a", 0), line(reset, "b", 0), line(wire, "b", 0)},
			[]string{"b/reset follows", "b/wire follows"},
		},
		"a wire that fails where nobody was gone is a cause": {
			[]timeline.Member{ended("a", 1, 0, true), ended("b", 1, 0, true)},
			[]evidence.Observation{line(wire, "a", 0), line(reset, "b", 0)},
			[]string{"b/reset follows"},
		},
		"who waited for the others at the start follows who had failed by then": {
			[]timeline.Member{ended("a", 1, 0, true), ended("b", 1, 15*time.Minute, true)},
			[]evidence.Observation{end(exited, "a", 0), line(absent, "b", 15*time.Minute)},
			[]string{"b/absent follows"},
		},
		"who was told to stop after another had lost somebody follows": {
			[]timeline.Member{ended("a", 143, 15*time.Second, true), ended("b", 1, 0, true)},
			[]evidence.Observation{end(sigterm, "a", 15*time.Second), line(reset, "b", 0), end(exited, "b", 0)},
			[]string{"a/exit-143 explained", "a/exit-143 follows", "b/exit-1 explained"},
		},
		"what fails in a clean-up, a minute after another was gone, follows who failed first": {
			[]timeline.Member{ended("a", 1, 0, true), ended("b", 1, time.Minute, true)},
			[]evidence.Observation{line(general, "a", 0), line(reset, "b", time.Second), line(disk, "b", time.Minute)},
			[]string{"b/reset follows", "b/disk follows"},
		},
		"or ended in another way": {
			[]timeline.Member{ended("a", 139, 0, false), ended("b", 1, 0, true)},
			[]evidence.Observation{end(crashed, "a", 0), line(reset, "b", 0), end(exited, "b", 0)},
			[]string{"b/reset follows", "b/exit-1 explained"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			seen, _ := timeline.Mark(tc.seen, tc.members, &timeline.Clocks{})
			var got []string
			for _, s := range seen {
				if s.Explained {
					got = append(got, string(s.Item.ID)+" explained")
				}
				if s.Follower {
					got = append(got, string(s.Item.ID)+" follows")
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("marked (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadCall(t *testing.T) {
	cases := map[string]struct {
		text string
		want timeline.Call
	}{
		"the timeout": {
			"[rank3]:[E808 04:21:41.161005534 ProcessGroupNCCL.cpp:655] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5, OpType=ALLREDUCE, NumelIn=1, NumelOut=8, Timeout(ms)=600000) ran for 600001 milliseconds before timing out.",
			timeline.Call{Rank: 3, Seq: 5, Op: "ALLREDUCE", Size: "1→8", Enqueued: -1, Completed: -1},
		},
		"the state of the group, 2.7": {
			"[PG ID 0 PG GUID 0(default_pg) Rank 368]  failure detected by watchdog at work sequence id: 5 PG status: last enqueued work: 7, last completed work: 4",
			timeline.Call{Rank: 368, Seq: 5, Enqueued: 7, Completed: 4},
		},
		"the state of another group, 2.5": {
			"[PG ID 1 PG GUID 1(TENSOR_MODEL_PARALLEL_GROUP) Rank 2] Exception (either an error or timeout) detected by watchdog at work: 31, last enqueued NCCL work: 58, last completed NCCL work: 30.",
			timeline.Call{Rank: 2, Group: "TENSOR_MODEL_PARALLEL_GROUP", Seq: 31, Enqueued: 58, Completed: 30},
		},
		"memory that nobody set, 2.3": {
			"[PG 0 Rank 7] Timeout at NCCL work: 1, last enqueued NCCL work: 1, last completed NCCL work: 3452013982.",
			timeline.Call{Rank: 7, Seq: 1, Enqueued: 1, Completed: -1},
		},
		"a rank that was asked to dump": {
			"[PG ID 0 PG GUID 0(default_pg) Rank 0] Received a dump signal due to a collective timeout from rank 1 and we will try our best to dump the debug info. Last enqueued NCCL work: 77, last completed NCCL work: 77.",
			timeline.Call{Rank: 0, Seq: -1, Enqueued: 77, Completed: 77},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := timeline.ReadCall(tc.text)
			if diff := cmp.Diff(tc.want, got); diff != "" || !ok {
				t.Errorf("ok %v (-want +got):\n%s", ok, diff)
			}
		})
	}
	if _, ok := timeline.ReadCall("NCCL INFO Channel 00/16 : 0 1 2 3"); ok {
		t.Error("a line of NCCL's own was read as one of the watchdog")
	}
}

func TestCompare(t *testing.T) {
	waits := func(rank int, seq int64, op string) timeline.Call {
		return timeline.Call{Rank: rank, Seq: seq, Op: op, Size: "1→1", Enqueued: -1, Completed: -1}
	}
	dumps := func(rank int, enqueued int64) timeline.Call {
		return timeline.Call{Rank: rank, Seq: -1, Enqueued: enqueued, Completed: enqueued}
	}
	cases := map[string]struct {
		calls  []timeline.Call
		behind []int
		desync bool
	}{
		"one rank handed over less":          {[]timeline.Call{waits(0, 78, "BROADCAST"), waits(1, 78, "BROADCAST"), dumps(2, 77)}, []int{2}, false},
		"two did, one of them less":          {[]timeline.Call{waits(0, 78, "BROADCAST"), waits(1, 78, "BROADCAST"), dumps(2, 77), dumps(3, 70)}, []int{3}, false},
		"one runs another operation there":   {[]timeline.Call{waits(0, 78, "ALLREDUCE"), waits(1, 78, "ALLREDUCE"), waits(2, 78, "ALLGATHER")}, []int{2}, true},
		"half and half: nobody is odd":       {[]timeline.Call{waits(0, 78, "ALLREDUCE"), waits(1, 78, "ALLGATHER")}, nil, true},
		"one waits further on":               {[]timeline.Call{waits(0, 78, "ALLREDUCE"), waits(1, 78, "ALLREDUCE"), waits(2, 79, "ALLREDUCE")}, []int{2}, false},
		"all are there":                      {[]timeline.Call{waits(0, 78, "ALLREDUCE"), waits(1, 78, "ALLREDUCE")}, nil, false},
		"a small group does not outvote all": {[]timeline.Call{waits(0, 78, "ALLREDUCE"), waits(1, 78, "ALLREDUCE"), {Rank: 5, Group: "TP", Seq: 3, Op: "ALLGATHER"}}, nil, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, ok := timeline.Compare(slices.Values(tc.calls))
			if !ok {
				t.Fatal("nothing compared")
			}
			if diff := cmp.Diff(tc.behind, w.Behind); diff != "" || w.Desync != tc.desync {
				t.Errorf("desync %v, why %q, behind (-want +got):\n%s", w.Desync, w.Why, diff)
			}
		})
	}
	if _, ok := timeline.Compare(slices.Values[[]timeline.Call](nil)); ok {
		t.Error("nothing was compared with nothing")
	}
}

func TestElasticReader(t *testing.T) {
	var r timeline.ElasticReader
	for i, text := range []string{
		"torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
		"Failures:", "[1]:", "  time      : 2026-06-08_19:04:46", "  rank      : 2 (local_rank: 2)", "  exitcode  : -15 (pid: 102932)",
		"------------------------------------------------------------",
		"Root Cause (first observed failure):", "[0]:",
		"  time      : 2026-06-08_19:04:45", "  host      : c561-007", "  rank      : 11 (local_rank: 3)", "  exitcode  : -9 (pid: 102930)",
		"  error_file: <N/A>", "  traceback : Signal 9 (SIGKILL) received by PID 102930",
		"============================================================",
	} {
		r.See(i+1, text)
	}
	want := []timeline.Elastic{{Rank: 11, ExitCode: -9, At: time.Date(2026, 6, 8, 19, 4, 45, 0, time.UTC), Line: 8}}
	if diff := cmp.Diff(want, r.Found); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRulesAreComplete(t *testing.T) {
	for _, r := range timeline.Rules() {
		if _, ok := signature.CategoryOf(r.Category); !ok || r.Title == "" || r.Proves == "" || r.DoesNotProve == "" || len(r.Steps()) == 0 {
			t.Errorf("rule %s lacks a text or a category", r.ID)
		}
	}
}

func FuzzReadCall(f *testing.F) {
	f.Add("[PG 0 Rank 7] Timeout at NCCL work: 1, last enqueued NCCL work: 1, last completed NCCL work: 99999999999999999999.")
	f.Add("[Rank 3] WorkNCCL(SeqNum=5, OpType=ALLREDUCE, NumelIn=1")
	f.Fuzz(func(t *testing.T, text string) {
		c, ok := timeline.ReadCall(text)
		if ok && c.Completed > max(c.Enqueued, c.Seq) {
			t.Fatalf("%q: completed %d of %d", text, c.Completed, c.Enqueued)
		}
		timeline.Compare(slices.Values([]timeline.Call{c, c}))
	})
}

// What is known only by an age was before now; how long before, the text does not say.
func TestAnAgeOrdersWithinItsTextAndIsABoundBesideOthers(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	age := func(file string, ago time.Duration) timeline.Moment {
		return timeline.Moment{Clock: evidence.AgeClock(file), At: at.Add(-ago)}
	}
	dated := func(ago time.Duration) timeline.Moment { return timeline.Moment{At: at.Add(-ago)} }
	var clocks timeline.Clocks
	for name, tc := range map[string]struct {
		a, b timeline.Moment
		want int
	}{
		"two rows of one table":                     {age("a", 42*time.Second), age("a", 34*time.Second), -1},
		"rows of two tables":                        {age("a", time.Hour), age("b", time.Minute), 0},
		"an age before a time that is later":        {age("a", time.Hour), dated(time.Minute), -1},
		"a time before an age that may be older":    {dated(time.Hour), age("a", time.Minute), 0},
		"an age that is earlier, and a later bound": {age("a", time.Minute), dated(time.Hour), 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := clocks.Order(tc.a, tc.b); got != tc.want {
				t.Errorf("order %d, want %d", got, tc.want)
			}
			if got := clocks.Order(tc.b, tc.a); got != -tc.want {
				t.Errorf("the other way round %d, want %d", got, -tc.want)
			}
			if _, _, known := clocks.Between(tc.a, tc.b); known != (tc.a.Clock == tc.b.Clock) {
				t.Errorf("how far they are apart is known: %v", known)
			}
		})
	}
}
