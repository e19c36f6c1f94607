package diagnose

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
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
		crowd := newCrowd(&c, orderOf(&c), Options{Apart: apart})
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
	crowd := newCrowd(&c, orderOf(&c), Options{Apart: apart})
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
	crowd := newCrowd(&c, orderOf(&c), Options{Apart: apart})
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
	crowd := newCrowd(&c, orderOf(&c), Options{Apart: 2})
	for i := range logs {
		crowd.take(saying(i, &signature.Signature{ID: fmt.Sprint("s", i%voices), Title: "it ended", Role: signature.Cascade}, i))
	}
	d := &diagnosis{Case: c, logs: crowd.all(), at: map[string]int{}}
	n := len(d.logs.excerpts)
	for _, c := range d.choruses() {
		n += len(c.echoes)
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
			crowd := newCrowd(&c, orderOf(&c), Options{})
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

// An echo's pod is judged by how it ended and by what its log says; the cause is found in it where it
// is there, with its words.
func TestTheCauseMayBeAnEcho(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	const logs = 40
	var c Case
	for i := range logs {
		text := fmt.Sprintf("step 1 loss 2.0\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate %d.00 GiB.\n", i)
		c.Logs = append(c.Logs, Log{
			Source: evidence.Source{Pod: fmt.Sprintf("w-%02d", i), Container: "c", Rank: i},
			Open:   func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil },
		})
	}
	pods := []control.Pod{}
	for i := range logs {
		pods = append(pods, control.Pod{Name: fmt.Sprintf("w-%02d", i), Source: evidence.Source{Pod: fmt.Sprintf("w-%02d", i), Node: "n"}})
	}
	read := readLogs(t.Context(), c, catalog, pods, Options{Apart: 4})
	read.answer(c.Logs, pods)
	if len(read.echoes) != 0 || len(read.tracks) != logs || len(read.sightings) != logs {
		t.Fatalf("%d echoes are left, %d tracks, %d sightings", len(read.echoes), len(read.tracks), len(read.sightings))
	}
	last := read.sightings[logs-1]
	d := &diagnosis{Case: c, catalog: catalog, logs: read, options: Options{Apart: 4}}
	d.root = &last
	d.rereadRoot(t.Context())
	if !strings.Contains(last.Line, "CUDA out of memory") || last.Item.Text != last.Line || len(last.Facts) == 0 {
		t.Errorf("the words of the cause are lost: %+v", last)
	}
	if e := read.excerpts[len(read.excerpts)-1]; e.Source.Pod == last.Item.Source.Pod {
		t.Error("its excerpt is there before it was read again")
	}
	if e := d.logs.excerpts[len(d.logs.excerpts)-1]; !e.Of(last.Item.Source) || len(e.Lines) == 0 {
		t.Errorf("what stands around it is lost: %+v", e)
	}
}

// From logs alone, a gang of which most logs are only counted reads like one of which all are kept.
func TestALargeGangReadsTheSame(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	const logs, odd = 60, 37
	waits := func(rank, seq int) string {
		return fmt.Sprintf("[rank%d]:[E ProcessGroupNCCL.cpp:616] [Rank %d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=%d, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=60000) ran for 60001 milliseconds before timing out.", rank, rank, seq)
	}
	for name, tc := range map[string]struct {
		says string
		at   int // seconds to noon; the others wait at -30
		want []string
	}{
		"one runs out of memory": {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", -90, []string{"w-37", "the other 59", "59 × a collective did not finish"}},
		"one is behind":          {waits(odd, 39), -90, []string{"w-37", "last handed over #39, while 59 others wait in #40", "SeqNum=39"}},
		"one says so late":       {waits(odd, 39), -10, []string{"w-37", "last handed over #39, while 59 others wait in #40", "SeqNum=39"}},
		"one says nothing":       {"", -90, []string{"w-37", "59"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := Case{Now: noon}
			at := func(seconds int) string {
				return noon.Add(time.Duration(seconds) * time.Second).Format(time.RFC3339Nano)
			}
			for i := range logs {
				var text strings.Builder
				for step := range 20 {
					fmt.Fprintf(&text, "%s step %d | loss: %.3f\n", at(step-120), step, 2.0)
				}
				if i == odd {
					fmt.Fprintf(&text, "%s %s\n", at(tc.at), tc.says)
				} else {
					fmt.Fprintf(&text, "%s %s\n", at(-30), waits(i, 40))
				}
				c.Logs = append(c.Logs, Log{
					Source: evidence.Source{Pod: fmt.Sprintf("w-%02d", i), Container: "c", Rank: i},
					Open:   func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text.String())), nil },
				})
			}
			whole, counted := Diagnose(t.Context(), c, catalog, Options{}), Diagnose(t.Context(), c, catalog, Options{Apart: 8})
			if len(counted.Members) > 9 || len(whole.Members) != logs {
				t.Fatalf("%d members are kept, of all %d", len(counted.Members), len(whole.Members))
			}
			for _, want := range tc.want {
				if !strings.Contains(Text(whole), want) {
					t.Errorf("the text lacks %q:\n%s", want, Text(whole))
				}
			}
			if diff := cmp.Diff(Text(whole), Text(counted)); diff != "" {
				t.Errorf("text (-all kept +counted):\n%s", diff)
			}
			if diff := cmp.Diff(Timeline(whole, Picture{}), Timeline(counted, Picture{})); diff != "" {
				t.Errorf("timeline (-all kept +counted):\n%s", diff)
			}
		})
	}
}

// Where an echo would stand for what follows from the cause, a log speaks whose words are kept.
func TestAnEchoGivesWayToWords(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	source := evidence.Source{Pod: "w", Container: "c", Rank: -1}
	oom, at := catalog.ByID("gpu-oom-torch"), source
	at.Line = 1
	lone := evidence.Item{ID: at.LineID(), Kind: evidence.Log, Source: at}
	echo, kept := evidence.Item{ID: "echo", Kind: evidence.Log}, evidence.Item{ID: "kept", Kind: evidence.Log, Text: "a peer went away"}
	d := &diagnosis{catalog: catalog}
	const line = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
	d.Logs = []Log{{Source: source, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(line)), nil }}}
	d.answer.Effects = []evidence.Observation{
		{Item: echo, Also: []evidence.Item{echo, kept}}, {Item: kept, Line: "x"}, {Item: echo, Signature: oom}, {Item: lone, Signature: oom},
	}
	d.giveWords(t.Context())
	last := d.answer.Effects[len(d.answer.Effects)-1]
	if last.Line != line || last.Item.Text != line || len(last.Facts) == 0 {
		t.Errorf("read again, its log says %+v", last)
	}
	d.answer.Effects = d.answer.Effects[:len(d.answer.Effects)-1]
	want := []evidence.Observation{{Item: kept, Line: kept.Text, Also: []evidence.Item{echo, echo}}, {Item: kept, Line: "x"}}
	if diff := cmp.Diff(want, d.answer.Effects); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A member that is known by one log keeps its place when another one, an echo, turns out to matter.
func TestAnEchoOfAMemberThatIsKnown(t *testing.T) {
	said := timeline.Call{Rank: 8, Seq: 39, Line: 3}
	d := &diagnosis{all: []timeline.Member{{Place: "w"}}, at: map[string]int{"w": 0}}
	d.Logs = []Log{{Source: evidence.Source{Pod: "w", Container: "a"}}, {Source: evidence.Source{Pod: "w", Container: "b"}}}
	d.logs.order, d.logs.calls = []int32{0, 1}, []echoCall{echoOf(said, 1)}
	m := d.memberThatSaid(8, map[int]*timeline.Member{})
	if diff := cmp.Diff([]timeline.Member{{Place: "w", Calls: []timeline.Call{said}}}, d.all); diff != "" || m != &d.all[0] {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The log that the cause is found in may be gone when it is read for its words: the answer stands.
func TestTheWordsOfAnEchoMayBeGone(t *testing.T) {
	s := evidence.Observation{Signature: &signature.Signature{ID: "x", Title: "it broke", Role: signature.Root}, Item: evidence.Item{ID: "pod/w/c#1", Kind: evidence.Log, Times: 1, Source: evidence.Source{Pod: "w", Container: "c", Line: 1}}}
	d := &diagnosis{catalog: &signature.Catalog{}, options: Options{Evidence: 40}, at: map[string]int{}, time: &timeline.Clocks{}}
	d.Logs = []Log{{Source: evidence.Source{Pod: "w", Container: "c"}, Open: func() (io.ReadCloser, error) { return nil, io.ErrUnexpectedEOF }}}
	d.decided(attribute.Answer{Cause: &attribute.Candidate{Observation: s}})
	d.rereadRoot(t.Context())
	r := d.result(t.Context())
	if r.Root == nil || len(r.Root.Cites) != 1 || !strings.Contains(Text(r), "it broke") {
		t.Errorf("%+v\n%s", r.Root, Text(r))
	}
}
