package timeline

import (
	"fmt"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// A gang of ten thousand that ended at once asks no more than a few questions for each member.
func TestMarkAsksAFewQuestionsForEachMember(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	told := &signature.Signature{ID: "told", Category: "sigterm-preempted", Role: signature.Root, Depth: signature.Symptom}
	exit := &signature.Signature{ID: "exit", Category: "python-exception-user-code", Role: signature.Root, Depth: signature.Symptom}
	lost := &signature.Signature{ID: "lost", Category: "nccl-timeout", Role: signature.Cascade, Depth: signature.Symptom}
	for name, what := range map[string][]*signature.Signature{
		"all told": {told}, "all ended": {exit}, "all lost": {lost}, "some of each": {told, exit, lost},
	} {
		asked := map[int]int{}
		for _, n := range []int{1_000, 10_000} {
			var members []Member
			var seen []evidence.Observation
			for i := range n {
				s := evidence.Source{Pod: fmt.Sprint("w-", i), Node: fmt.Sprint("n-", i), Rank: i}
				at := noon.Add(time.Duration(i) * time.Millisecond)
				members = append(members, Member{Place: s.Pod, Source: s, Clock: s.Clock(), Ended: at, ExitCode: 1, Failed: true})
				rule, kind := what[i%len(what)], evidence.Exit
				if rule == lost {
					kind = evidence.Log
				}
				seen = append(seen, evidence.Observation{Signature: rule, Item: evidence.Item{ID: evidence.ID(s.Pod), Kind: kind, At: at, Clock: s.Clock(), Source: s}})
			}
			m := newMarker(seen, members, &Clocks{})
			m.mark()
			asked[n] = m.asked
		}
		if most := 4 * mostLeaders * 10_000; asked[10_000] > most || asked[10_000] > 11*asked[1_000]+1_000 {
			t.Errorf("%s: %d questions about 1,000 members and %d about 10,000; want at most %d, and no more for each", name, asked[1_000], asked[10_000], most)
		}
	}
}

// What a category of ours says of other members, a signature of somebody's own says by its field.
func TestASignatureOfOnesOwnIsHeardAsOursAre(t *testing.T) {
	sighted := func(says signature.Says) *evidence.Observation {
		return &evidence.Observation{Signature: &signature.Signature{ID: "own", Category: "python-exception-user-code", Role: signature.Root, Says: says}}
	}
	for says, want := range map[signature.Says][3]bool{
		"":                   {false, false, false},
		signature.Waited:     {true, false, false},
		signature.PeerLost:   {false, true, false},
		signature.ToldToStop: {false, false, true},
	} {
		s := sighted(says)
		if got := [3]bool{OfOthers(s), ofWires(s), toldToStop(s)}; got != want {
			t.Errorf("%q: of others, of wires, told to stop: %v, want %v", says, got, want)
		}
	}
}

// The time of a line above says that a line without one was no earlier: which went first shows by the next time in its
// log, or by the end of its member.
func TestATimeOfALineAboveProvesNoOrder(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	cause := func(id string) *signature.Signature {
		return &signature.Signature{ID: id, Category: "gpu-oom", Role: signature.Root, Depth: signature.Precise}
	}
	for name, tc := range map[string]struct {
		carried  bool
		lastLine time.Duration // of the first member, below its cause; 0: there is none
		ended    time.Duration // of the first member; 0: unknown
		follows  bool
	}{
		"a time of its own":                      {follows: true},
		"a time of a line above":                 {carried: true},
		"and one below, before the other":        {carried: true, lastLine: 20 * time.Second, follows: true},
		"and one below, after the other":         {carried: true, lastLine: 80 * time.Second},
		"and an end, before the other":           {carried: true, ended: 20 * time.Second, follows: true},
		"and an end, at the time of the other's": {carried: true, ended: 60 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			var members []Member
			var seen []evidence.Observation
			for i, at := range []time.Time{noon, noon.Add(time.Minute)} {
				s := evidence.Source{Pod: fmt.Sprint("w-", i), Node: fmt.Sprint("n-", i), Rank: i, Line: 7}
				members = append(members, Member{Place: s.Pod, Source: s, Clock: s.Clock(), Failed: true})
				seen = append(seen, evidence.Observation{
					Signature: cause(fmt.Sprint("cause-", i)),
					Item:      evidence.Item{ID: evidence.ID(s.Pod), Kind: evidence.Log, At: at, Carried: tc.carried && i == 0, Clock: s.Clock(), Source: s},
				})
			}
			if tc.lastLine > 0 {
				members[0].LastLine, members[0].LastNumber = noon.Add(tc.lastLine), 9
			}
			if tc.ended > 0 {
				members[0].Ended = noon.Add(tc.ended)
			}
			newMarker(seen, members, &Clocks{}).mark()
			if seen[1].Follower != tc.follows {
				t.Errorf("the second follows the first: %t, want %t", seen[1].Follower, tc.follows)
			}
		})
	}
}
