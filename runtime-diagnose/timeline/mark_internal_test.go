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
