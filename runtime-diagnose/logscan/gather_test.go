package logscan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 123_000_000, time.UTC)

// saying is a log whose one line says a thing, so many seconds after noon.
func saying(place int, what *signature.Signature, after int) *Log {
	source := evidence.Source{Pod: fmt.Sprintf("w-%03d", place), Container: "c", Rank: place}
	h := &Log{place: int32(place), Opened: true, bytesRead: 10, Excerpt: evidence.Excerpt{Source: source}, Course: Course{Source: source, last: noon, LastNumber: 7}}
	if what != nil {
		said := source
		said.Line = 5
		h.Sightings = []evidence.Observation{{Signature: what, Line: "a line", Facts: map[string]string{}, Item: evidence.Item{
			ID: said.LineID(), Kind: evidence.Log, At: noon.Add(time.Duration(after) * time.Second), Clock: h.Course.Clock(), Source: said, Times: 1,
		}}}
	}
	return h
}

func gangOf(n int) (c evidence.Bundle) {
	for i := range n {
		c.Logs = append(c.Logs, evidence.ContainerLog{Source: saying(i, nil, 0).Course.Source})
	}
	return c
}

// Whatever order logs are read in, the same ones are kept.
func TestAGangDoesNotDependOnTheOrderOfReading(t *testing.T) {
	const logs, apart = 200, 16
	a, b := &signature.Signature{ID: "a", Role: signature.Root}, &signature.Signature{ID: "b", Role: signature.Cascade}
	read := func() (all []*Log) {
		random := rand.New(rand.NewPCG(1, 2))
		for i := range logs {
			what := []*signature.Signature{a, b, b, b, nil}[random.IntN(5)]
			all = append(all, saying(i, what, random.IntN(50)))
		}
		return all
	}
	c := gangOf(logs)
	var want []string
	for round := range 20 {
		crowd := newGatherer(&c, orderOf(&c), Options{Apart: apart})
		all := read()
		rand.New(rand.NewPCG(uint64(round), 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, h := range all {
			crowd.take(h)
		}
		out := crowd.all()
		var got []string
		for _, e := range out.Excerpts {
			got = append(got, e.Source.Pod)
		}
		for _, e := range out.Summaries {
			got = append(got, fmt.Sprint(e.Place, out.Groups[e.Group].name, out.Groups[e.Group].Exemplar))
		}
		if len(out.Excerpts) != apart || len(out.Summaries) != logs-apart || out.Pods != logs {
			t.Fatalf("%d kept, %d echoes, %d pods", len(out.Excerpts), len(out.Summaries), out.Pods)
		}
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("round %d (-first +this):\n%s", round, diff)
		}
	}
}

// A log that says what no other says is kept, and so are those that say something first.
func TestWhoSaysSomethingElseIsKept(t *testing.T) {
	const logs, apart = 300, 8
	common, rare := &signature.Signature{ID: "common", Role: signature.Cascade}, &signature.Signature{ID: "rare", Role: signature.Root}
	c := gangOf(logs)
	crowd := newGatherer(&c, orderOf(&c), Options{Apart: apart})
	for i := range logs {
		switch i {
		case 151:
			crowd.take(saying(i, rare, 900))
		default:
			crowd.take(saying(i, common, logs-i))
		}
	}
	read := crowd.all()
	var kept []int
	for _, e := range read.Excerpts {
		kept = append(kept, e.Source.Rank)
	}
	if diff := cmp.Diff([]int{151, 293, 294, 295, 296, 297, 298, 299}, kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

// However many ways there are to differ, no more is kept.
func TestAGangWhoseLogsDifferIsBounded(t *testing.T) {
	const logs, apart = 5000, 64
	c := gangOf(logs)
	crowd := newGatherer(&c, orderOf(&c), Options{Apart: apart})
	few := []*signature.Signature{{ID: "a", Role: signature.Root}, {ID: "b", Role: signature.Root}, {ID: "c", Role: signature.Cascade}}
	for i := range logs {
		h := saying(i, few[i%3], i)
		h.Sightings[0].Facts["type"] = fmt.Sprint("Error", i)
		crowd.take(h)
	}
	if len(crowd.groups) > apart/2+len(few) {
		t.Errorf("%d voices", len(crowd.groups))
	}
	if read := crowd.all(); len(read.Excerpts) != apart || len(read.Summaries) != logs-apart {
		t.Errorf("%d kept, %d echoes", len(read.Excerpts), len(read.Summaries))
	}
}

// Where there is no room even for one log of each voice, nothing is lost but who speaks for it.
func TestMoreVoicesThanRoom(t *testing.T) {
	const logs, voices = 60, 12
	c := gangOf(logs)
	crowd := newGatherer(&c, orderOf(&c), Options{Apart: 2})
	for i := range logs {
		crowd.take(saying(i, &signature.Signature{ID: fmt.Sprint("s", i%voices), Title: "it ended", Role: signature.Cascade}, i))
	}
	read := crowd.all()
	n := len(read.Excerpts)
	for _, same := range read.Alike(func(place int32) evidence.Source { return c.Logs[read.Order[place]].Source }, func(string) bool { return false }) {
		n += len(same.Logs)
	}
	if n != logs {
		t.Errorf("%d of %d members are left", n, logs)
	}
}

// What is judged of a log survives in its echo.
func TestSummaryOfARepetition(t *testing.T) {
	what, then := &signature.Signature{ID: "a", Role: signature.Root}, &signature.Signature{ID: "b", Role: signature.Cascade}
	for name, tc := range map[string]func(*Log){
		"nothing seen":       func(h *Log) { h.Sightings = nil },
		"one thing":          func(*Log) {},
		"by the node's time": func(h *Log) { h.Course.stamped = true; h.Sightings[0].Item.Clock = h.Course.Source.Clock() },
		"anchored":           func(h *Log) { h.Sightings[0].Item.Clock = h.Course.Source.Clock() },
		"no time":            func(h *Log) { h.Sightings[0].Item.At, h.Course.last = time.Time{}, time.Time{} },
		"another rank": func(h *Log) {
			s := &h.Sightings[0]
			s.Item.Source.Rank, s.Item.Source.Role = 99, ""
		},
		"two things": func(h *Log) {
			s := h.Sightings[0]
			s.Signature, s.Over = then, true
			s.Item.Source.Line, s.Item.At = 6, s.Item.At.Add(90*time.Minute+7*time.Millisecond)
			s.Item.ID = s.Item.Source.LineID()
			h.Sightings = append(h.Sightings, s)
		},
		"steps": func(h *Log) {
			last := progress.Step{Number: 1 << 40, At: noon.Add(-time.Hour), Line: 3, Of: -1, Loss: math.NaN(), Seconds: math.NaN()}
			h.Course.first, h.Course.Ended = noon.Add(-24*time.Hour), true
			h.Course.Steps = progress.Series{Count: 40, Interval: 1500 * time.Millisecond, Seconds: 0.75, First: last, Last: last, Recent: []progress.Step{last}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := gangOf(1)
			h := saying(0, what, 3)
			tc(h)
			crowd := newGatherer(&c, orderOf(&c), Options{})
			crowd.take(h)
			v := crowd.groupOf(h)
			e := h.summary(0)
			got := e.Course(h.Course.Source, v)
			if diff := cmp.Diff(h.Course, got, cmp.AllowUnexported(Course{}), cmpopts.EquateNaNs(), cmpopts.IgnoreTypes(h.Course.lines)); diff != "" {
				t.Errorf("track (-log +echo):\n%s", diff)
			}
			if diff := cmp.Diff(h.Sightings, e.Sightings(&got, v), cmpopts.IgnoreFields(evidence.Observation{}, "Line", "Facts"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("sightings (-log +echo):\n%s", diff)
			}
		})
	}
}

func TestWhatARepetitionSaysOfOtherRanks(t *testing.T) {
	want := timeline.Call{Rank: 3, Group: "dp", Seq: 78, Op: "ALLREDUCE", Size: "1 1", Enqueued: 80, Completed: 77, Line: 12}
	if diff := cmp.Diff(want, SummaryOf(want, 5).Call()); diff != "" {
		t.Errorf("(-said +echo):\n%s", diff)
	}
}

// Of thousands of logs that cannot be read the first are named, and the others counted.
func TestLostLogsAreNamedOrCounted(t *testing.T) {
	const logs = 5 * mostLost
	var l lostLogs
	for _, i := range rand.Perm(logs) {
		l.add(int32(i), []string{fmt.Sprintf("log %d", i)})
		l.add(int32(i), nil)
	}
	says := l.sentences()
	if len(says) != mostLost+1 || says[0] != "log 0" || says[mostLost-1] != fmt.Sprintf("log %d", mostLost-1) {
		t.Fatalf("%d sentences, the first is %q", len(says), says[0])
	}
	if want := fmt.Sprintf("%d more logs could not be read, or not to their end", logs-mostLost); says[mostLost] != want {
		t.Errorf("%q, want %q", says[mostLost], want)
	}
}
