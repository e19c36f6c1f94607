package diagnose

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/logscan"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// An echo's pod is judged by how it ended and by what its log says; the cause is found in it where it
// is there, with its words.
func TestTheCauseMayBeARepetition(t *testing.T) {
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
	read := logscan.Read(t.Context(), c, catalog, pods, logscan.Options{Apart: 4})
	read.Restore(c.Logs, pods)
	if len(read.Summaries) != 0 || len(read.Courses) != logs || len(read.Sightings) != logs {
		t.Fatalf("%d echoes are left, %d tracks, %d sightings", len(read.Summaries), len(read.Courses), len(read.Sightings))
	}
	last := read.Sightings[logs-1]
	d := &diagnosis{Case: c, catalog: catalog, logs: read, options: Options{Apart: 4}}
	d.root = &last
	d.rereadRoot(t.Context())
	if !strings.Contains(last.Line, "CUDA out of memory") || last.Item.Text != last.Line || len(last.Facts) == 0 {
		t.Errorf("the words of the cause are lost: %+v", last)
	}
	if e := read.Excerpts[len(read.Excerpts)-1]; e.Source.Pod == last.Item.Source.Pod {
		t.Error("its excerpt is there before it was read again")
	}
	if e := d.logs.Excerpts[len(d.logs.Excerpts)-1]; !e.Of(last.Item.Source) || len(e.Lines) == 0 {
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
			c := Case{Now: atNoon}
			at := func(seconds int) string {
				return atNoon.Add(time.Duration(seconds) * time.Second).Format(time.RFC3339Nano)
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
func TestARepetitionGivesWayToWords(t *testing.T) {
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

// Of what follows from the cause so many logs are read again for their words, and those that have none then are counted.
func TestLogsThatAreReadAgainForTheirWordsAreCounted(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	const line = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
	for n, want := range map[int][]string{
		4: nil, 5: {"the words of 1 log that say what followed were not kept"}, 60: {"the words of 56 logs that say what followed were not kept"},
	} {
		d := &diagnosis{catalog: catalog}
		opened := 0
		for i := range n {
			source := evidence.Source{Pod: fmt.Sprintf("w-%d", i), Container: "c", Rank: -1}
			d.Logs = append(d.Logs, Log{Source: source, Open: func() (io.ReadCloser, error) { opened++; return io.NopCloser(strings.NewReader(line)), nil }})
			source.Line = 1
			d.answer.Effects = append(d.answer.Effects, evidence.Observation{Signature: catalog.ByID("gpu-oom-torch"), Item: evidence.Item{ID: source.LineID(), Kind: evidence.Log, Source: source}})
		}
		d.giveWords(t.Context())
		if diff := cmp.Diff(want, d.logs.Missing); diff != "" || opened != 4 || len(d.answer.Effects) != 4 {
			t.Errorf("of %d %d are read and %d told (-want +got):\n%s", n, opened, len(d.answer.Effects), diff)
		}
	}
}

// A member that is known by one log keeps its place when another one, an echo, turns out to matter.
func TestARepetitionOfAMemberThatIsKnown(t *testing.T) {
	said := timeline.Call{Rank: 8, Seq: 39, Line: 3}
	d := &diagnosis{all: []timeline.Member{{Place: "w"}}, at: map[string]int{"w": 0}}
	d.Logs = []Log{{Source: evidence.Source{Pod: "w", Container: "a"}}, {Source: evidence.Source{Pod: "w", Container: "b"}}}
	d.logs.Order, d.logs.Calls = []int32{0, 1}, []logscan.CallSummary{logscan.SummaryOf(said, 1)}
	m := d.memberThatSaid(8, map[int]*timeline.Member{})
	if diff := cmp.Diff([]timeline.Member{{Place: "w", Calls: []timeline.Call{said}}}, d.all); diff != "" || m != &d.all[0] {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The log that the cause is found in may be gone when it is read for its words: the answer stands.
func TestTheWordsOfARepetitionMayBeGone(t *testing.T) {
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

var atNoon = time.Date(2026, 11, 20, 12, 0, 0, 123_000_000, time.UTC)

// Of the log that the cause is found in, everything is said that is said of it in a small gang.
func TestInALargeGangTheDecisiveLineIsWhole(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	const ranks = 3000
	long := strings.Repeat("a detail of it, ", 40)
	c := Case{}
	for i := range ranks {
		log := "step 1 loss 2.0\nstep 2 loss 1.9\n" + strings.Repeat("loading shard\n", 40)
		if i == 1234 {
			log += "the line before\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. " + long + "END\nthe line behind\n"
		}
		c.Logs = append(c.Logs, Log{
			Source: evidence.Source{Pod: fmt.Sprintf("w-%d", i), Container: "c", Rank: i},
			Open:   func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(log)), nil },
		})
	}
	r := Diagnose(t.Context(), c, catalog, Options{})
	if r.Root == nil || r.Root.Source.Pod != "w-1234" || !strings.HasSuffix(r.Root.Line, "END") {
		t.Fatalf("the cause is %+v", r.Root)
	}
	for _, want := range []string{"the line before", "the line behind"} {
		if !strings.Contains(Text(r), want) {
			t.Errorf("the text lacks %q:\n%s", want, Text(r))
		}
	}
	size := 0
	for _, e := range r.Excerpts {
		for _, l := range e.Lines {
			size += len(l.Text) + 40 // what keeping a line costs besides
		}
	}
	if size > 3<<20+32<<10 {
		t.Errorf("excerpts have %d bytes", size)
	}
}

// Once the time is over no further log is opened to see what other members print.
func TestWhatOthersPrintIsNotReadWhenTheTimeIsOver(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	d := &diagnosis{}
	opened := 0
	for i := range 5 {
		d.logs.Order = append(d.logs.Order, int32(i))
		d.Logs = append(d.Logs, Log{Source: evidence.Source{Pod: fmt.Sprint("w-", i)}, Open: func() (io.ReadCloser, error) {
			if opened++; opened == 2 {
				cancel()
			}
			return io.NopCloser(strings.NewReader("a line\n")), nil
		}})
	}
	d.othersPrinted(ctx, "w-9")
	if opened != 2 {
		t.Errorf("%d logs were opened, want 2", opened)
	}
}
