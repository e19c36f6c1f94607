package diagnose

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
func saying(place int, what *signature.Signature, after int) *heard {
	source := evidence.Source{Pod: fmt.Sprintf("w-%03d", place), Container: "c", Rank: place}
	h := &heard{place: int32(place), opened: true, bytesRead: 10, excerpt: Excerpt{Source: source}, track: track{source: source, last: noon, lastNumber: 7}}
	if what != nil {
		said := source
		said.Line = 5
		h.sightings = []evidence.Observation{{Signature: what, Line: "a line", Facts: map[string]string{}, Item: evidence.Item{
			ID: said.LineID(), Kind: evidence.Log, At: noon.Add(time.Duration(after) * time.Second), Clock: h.track.clock(), Source: said, Times: 1,
		}}}
	}
	return h
}

func gangOf(n int) (c Case) {
	for i := range n {
		c.Logs = append(c.Logs, Log{Source: saying(i, nil, 0).track.source})
	}
	return c
}

// Whatever order logs are read in, the same ones are kept.
func TestACrowdDoesNotDependOnTheOrderOfReading(t *testing.T) {
	const logs, apart = 200, 16
	a, b := &signature.Signature{ID: "a", Role: signature.Root}, &signature.Signature{ID: "b", Role: signature.Cascade}
	read := func() (all []*heard) {
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
		crowd := newCrowd(&c, orderOf(&c), scanOptions{Apart: apart})
		all := read()
		rand.New(rand.NewPCG(uint64(round), 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, h := range all {
			crowd.take(h)
		}
		out := crowd.all()
		var got []string
		for _, e := range out.excerpts {
			got = append(got, e.Source.Pod)
		}
		for _, e := range out.echoes {
			got = append(got, fmt.Sprint(e.place, out.voices[e.voice].name, out.voices[e.voice].lead))
		}
		if len(out.excerpts) != apart || len(out.echoes) != logs-apart || out.pods != logs {
			t.Fatalf("%d kept, %d echoes, %d pods", len(out.excerpts), len(out.echoes), out.pods)
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
	crowd := newCrowd(&c, orderOf(&c), scanOptions{Apart: apart})
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
	for _, e := range read.excerpts {
		kept = append(kept, e.Source.Rank)
	}
	if diff := cmp.Diff([]int{151, 293, 294, 295, 296, 297, 298, 299}, kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

// However many ways there are to differ, no more is kept.
func TestACrowdOfStrangersIsBounded(t *testing.T) {
	const logs, apart = 5000, 64
	c := gangOf(logs)
	crowd := newCrowd(&c, orderOf(&c), scanOptions{Apart: apart})
	few := []*signature.Signature{{ID: "a", Role: signature.Root}, {ID: "b", Role: signature.Root}, {ID: "c", Role: signature.Cascade}}
	for i := range logs {
		h := saying(i, few[i%3], i)
		h.sightings[0].Facts["type"] = fmt.Sprint("Error", i)
		crowd.take(h)
	}
	if len(crowd.voices) > apart/2+len(few) {
		t.Errorf("%d voices", len(crowd.voices))
	}
	if read := crowd.all(); len(read.excerpts) != apart || len(read.echoes) != logs-apart {
		t.Errorf("%d kept, %d echoes", len(read.excerpts), len(read.echoes))
	}
}

// Where there is no room even for one log of each voice, nothing is lost but who speaks for it.
func TestMoreVoicesThanRoom(t *testing.T) {
	const logs, voices = 60, 12
	c := gangOf(logs)
	crowd := newCrowd(&c, orderOf(&c), scanOptions{Apart: 2})
	for i := range logs {
		crowd.take(saying(i, &signature.Signature{ID: fmt.Sprint("s", i%voices), Title: "it ended", Role: signature.Cascade}, i))
	}
	read := crowd.all()
	n := len(read.excerpts)
	for _, same := range read.alikes(func(place int32) evidence.Source { return c.Logs[read.order[place]].Source }, func(string) bool { return false }) {
		n += len(same.echoes)
	}
	if n != logs {
		t.Errorf("%d of %d members are left", n, logs)
	}
}

// What is judged of a log survives in its echo.
func TestEcho(t *testing.T) {
	what, then := &signature.Signature{ID: "a", Role: signature.Root}, &signature.Signature{ID: "b", Role: signature.Cascade}
	for name, tc := range map[string]func(*heard){
		"nothing seen":       func(h *heard) { h.sightings = nil },
		"one thing":          func(*heard) {},
		"by the node's time": func(h *heard) { h.track.stamped = true; h.sightings[0].Item.Clock = h.track.source.Clock() },
		"anchored":           func(h *heard) { h.sightings[0].Item.Clock = h.track.source.Clock() },
		"no time":            func(h *heard) { h.sightings[0].Item.At, h.track.last = time.Time{}, time.Time{} },
		"another rank": func(h *heard) {
			s := &h.sightings[0]
			s.Item.Source.Rank, s.Item.Source.Role = 99, ""
		},
		"two things": func(h *heard) {
			s := h.sightings[0]
			s.Signature, s.Over = then, true
			s.Item.Source.Line, s.Item.At = 6, s.Item.At.Add(90*time.Minute+7*time.Millisecond)
			s.Item.ID = s.Item.Source.LineID()
			h.sightings = append(h.sightings, s)
		},
		"steps": func(h *heard) {
			last := progress.Step{Number: 1 << 40, At: noon.Add(-time.Hour), Line: 3, Of: -1, Loss: math.NaN(), Seconds: math.NaN()}
			h.track.first, h.track.ended = noon.Add(-24*time.Hour), true
			h.track.steps = progress.Series{Count: 40, Interval: 1500 * time.Millisecond, Seconds: 0.75, First: last, Last: last, Recent: []progress.Step{last}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := gangOf(1)
			h := saying(0, what, 3)
			tc(h)
			crowd := newCrowd(&c, orderOf(&c), scanOptions{})
			crowd.take(h)
			v := crowd.voiceOf(h)
			e := h.echo(0)
			got := e.track(h.track.source, v)
			if diff := cmp.Diff(h.track, got, cmp.AllowUnexported(track{}), cmpopts.EquateNaNs(), cmpopts.IgnoreTypes(h.track.lines)); diff != "" {
				t.Errorf("track (-log +echo):\n%s", diff)
			}
			if diff := cmp.Diff(h.sightings, e.sightings(&got, v), cmpopts.IgnoreFields(evidence.Observation{}, "Line", "Facts"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("sightings (-log +echo):\n%s", diff)
			}
		})
	}
}

func TestWhatAnEchoSaysOfOtherRanks(t *testing.T) {
	want := timeline.Call{Rank: 3, Group: "dp", Seq: 78, Op: "ALLREDUCE", Size: "1 1", Enqueued: 80, Completed: 77, Line: 12}
	if diff := cmp.Diff(want, echoOf(want, 5).call()); diff != "" {
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
