package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/familiar"
)

// mostApart is how many logs are kept apart from each other.
const mostApart = 1024

// crowd gathers what logs say. Up to a number of logs it keeps what
// was heard of each. Of more, those that speak with one voice make room: the ones that said it first
// stay, and of each of the others an echo is left, whose size does not depend on what it says. A log
// that says what no other one says stays, whoever it is and whenever it is read.
type crowd struct {
	most  int // logs that are kept apart
	logs  []Log
	order []int32 // logs by place
	calls int     // that are kept of an echo

	window chan struct{} // logs that are being read, or wait for one that was begun before them

	mu     sync.Mutex
	next   int            // log to be taken, in the order in which reading began
	ready  map[int]*heard // those after it that were read
	heard  int            // logs
	kept   int            // of them
	read   bits           // places of logs that have text
	voices map[string]*voice
	lost   lostLogs
	broken int32    // the place of the first log that was not read to its end; -1: all were
	out    logsRead // what is only counted or added up, and the echoes
}

// voice is what logs say that the members of a gang are told apart by.
type voice struct {
	name string
	kept []*heard // by when they said it
	echo int      // its index among the voices that have echoes; -1: it has none

	told    []evidence.Observation // without what belongs to one log
	pasted  bool
	attempt int
	ended   bool   // the logs say that they ended well
	lead    string // the place of the member that speaks for the echoes; empty: none was kept
}

// bits are a set of small numbers.
type bits []uint64

func (b bits) set(i int32)      { b[i/64] |= 1 << (i % 64) }
func (b bits) has(i int32) bool { return b[i/64]&(1<<(i%64)) != 0 }

// apart is how many logs are kept apart from each other.
func (o scanOptions) apart() int { return min(cmp.Or(o.Apart, mostApart), math.MaxUint16) }

func newCrowd(c *Case, order []int32, o scanOptions) *crowd {
	return &crowd{
		most: o.apart(), logs: c.Logs, order: order, calls: shareOf(len(c.Logs)).calls,
		window: make(chan struct{}, mostAhead), ready: map[int]*heard{}, read: make(bits, len(order)/64+1), voices: map[string]*voice{}, broken: -1,
	}
}

// mostAhead is how many logs may be read before one that was begun earlier has been.
const mostAhead = 256

// begin waits until another log may be read.
func (c *crowd) begin() { c.window <- struct{}{} }

// add takes what was heard of the log that was the nth to be begun. Logs are taken in that order,
// whichever is read first, so that the same logs give the same answer.
func (c *crowd) add(nth int, h *heard) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ready[nth] = h
	for {
		h, ok := c.ready[c.next]
		if !ok {
			return
		}
		delete(c.ready, c.next)
		c.next++
		<-c.window
		if !h.unread {
			c.take(h)
		}
	}
}

func (c *crowd) take(h *heard) {
	h.told = foremost(h.sightings, mostTold)
	c.heard++
	c.count(h)
	if !h.opened {
		return
	}
	v := c.voiceOf(h)
	at, _ := slices.BinarySearchFunc(v.kept, h, before)
	v.kept = slices.Insert(v.kept, at, h)
	if c.kept++; c.kept > c.most {
		c.fold()
	}
}

// count adds up what nobody has to be told apart for.
func (c *crowd) count(h *heard) {
	c.lost.add(h.place, h.missing)
	if h.broken && (c.broken < 0 || h.place < c.broken) {
		c.broken, c.out.broken = h.place, h.excerpt.Source.Name()
	}
	if h.bytesRead > 0 {
		c.read.set(h.place)
	}
	c.out.bytesRead += h.bytesRead
	c.out.bytesSkipped += h.bytesSkipped
	if h.track.ended {
		c.out.ended++
	}
	if h.advances {
		c.out.advance++
	}
	if h.done {
		c.out.done++
	}
	c.out.lines.Join(h.track.lines)
	c.out.gap = c.out.gap || h.track.gap
	h.missing, h.track.lines = nil, familiar.Lines{}
}

// voiceOf finds the voice that a log speaks with. There are at most half as many as logs are kept:
// where logs differ in more ways, only the signature of the best cause tells the later ones apart.
func (c *crowd) voiceOf(h *heard) *voice {
	name := ""
	for _, s := range h.told {
		name += fmt.Sprintf("%s %q %t %t %t %t %t ", s.Signature.ID, s.Facts["type"], s.Over, s.Mild, s.Explained, s.First, s.Raised)
	}
	s := h.excerpt.Source
	name += fmt.Sprintf("%q %q %d %t %t %t %t %t %t %t %t", s.Role, s.Container, s.Attempt, h.track.pasted, h.track.ended, h.advances, h.done, h.broken,
		h.track.lastNumber > 0, len(h.track.calls) > 0, len(h.idle.Lines) > 0)
	if v := c.voices[name]; v != nil {
		return v
	}
	if c.most < len(c.logs) && len(c.voices) >= c.most/2 {
		name = ""
		if h.told = foremost(h.told, 1); len(h.told) > 0 {
			name = h.told[0].Signature.ID
		}
		if v := c.voices[name]; v != nil {
			return v
		}
	}
	v := &voice{name: name, echo: -1, pasted: h.track.pasted, attempt: s.Attempt, ended: h.track.ended}
	for _, s := range h.told {
		v.told = append(v.told, evidence.Observation{Signature: s.Signature, Over: s.Over, Mild: s.Mild, Explained: s.Explained, First: s.First, Raised: s.Raised})
	}
	c.voices[name] = v
	return v
}

// before orders logs that say the same: the earlier one first, and where no time is known the order
// is that of names.
func before(a, b *heard) int {
	x, y := a.at(), b.at()
	if x.IsZero() || y.IsZero() {
		return cmp.Or(-x.Compare(y), cmp.Compare(a.place, b.place))
	}
	return cmp.Or(x.Compare(y), cmp.Compare(a.place, b.place))
}

// at is when a log first said what it says, or ended; zero: nobody knows.
func (h *heard) at() time.Time {
	if len(h.told) > 0 {
		return h.told[0].Item.At
	}
	return h.track.last
}

// fold makes an echo of the last log of the voice that most speak with.
func (c *crowd) fold() {
	var most *voice
	for _, v := range c.voices {
		if most == nil || len(v.kept) > len(most.kept) || len(v.kept) == len(most.kept) && v.name < most.name {
			most = v
		}
	}
	if most.echo < 0 {
		most.echo = len(c.out.voices)
		c.out.voices = append(c.out.voices, most)
	}
	last := most.kept[len(most.kept)-1]
	most.kept = slices.Delete(most.kept, len(most.kept)-1, len(most.kept))
	c.kept--
	if c.out.echoes == nil {
		c.out.echoes = make([]echo, 0, len(c.logs)-c.most)
	}
	c.out.echoes = append(c.out.echoes, last.echo(most.echo))
	calls := last.track.calls[:min(len(last.track.calls), c.calls)]
	if len(calls) > 0 && c.out.calls == nil {
		c.out.calls = make([]echoCall, 0, len(c.logs)-c.most)
	}
	for _, call := range calls {
		c.out.calls = append(c.out.calls, echoOf(call, last.place))
	}
}

// all is what was heard, in the order of the logs' names.
func (c *crowd) all() logsRead {
	out := c.out
	out.order = c.order
	var kept []*heard
	for _, v := range c.voices {
		if v.echo >= 0 && len(v.kept) > 0 {
			v.lead = v.kept[len(v.kept)-1].excerpt.Source.Place()
		}
		kept = append(kept, v.kept...)
		v.kept = nil
	}
	slices.SortFunc(kept, func(a, b *heard) int { return cmp.Compare(a.place, b.place) })
	out.excerpts, out.tracks = make([]Excerpt, 0, len(kept)), make([]track, 0, len(kept))
	for i, h := range kept {
		out.sightings = append(out.sightings, h.sightings...)
		out.excerpts = append(out.excerpts, h.excerpt)
		out.tracks = append(out.tracks, h.track)
		if len(h.idle.Lines) > 0 {
			out.idle = append(out.idle, h.idle)
		}
		kept[i] = nil
	}
	out.number()
	slices.SortFunc(out.echoes, func(a, b echo) int { return cmp.Compare(a.place, b.place) })
	slices.SortStableFunc(out.calls, func(a, b echoCall) int { return cmp.Compare(a.place, b.place) })
	out.missing = c.lost.sentences()
	pod := ""
	for place, log := range c.order {
		if name := c.logs[log].Source.Pod; name != pod && name != "" && c.read.has(int32(place)) {
			pod = name
			out.pods++
		}
	}
	return out
}

// number numbers the voices of echoes by name.
func (l *logsRead) number() {
	slices.SortFunc(l.voices, func(a, b *voice) int { return strings.Compare(a.name, b.name) })
	numbers := make([]uint16, len(l.voices)) // by the old one
	for i, v := range l.voices {
		numbers[v.echo], v.echo = uint16(i), i
	}
	for i := range l.echoes {
		l.echoes[i].voice = numbers[l.echoes[i].voice]
	}
}

// mostLost bounds how many logs are named that could not be read as they are.
const mostLost = 1000

// lostLogs are sentences about logs that could not be read as they are, those of the first ones.
type lostLogs struct {
	of   []lostLog
	more int
}

type lostLog struct {
	place int32
	says  []string
}

func (l *lostLogs) add(place int32, says []string) {
	if len(says) == 0 {
		return
	}
	l.of = append(l.of, lostLog{place, says})
	if len(l.of) > 2*mostLost {
		l.cut()
	}
}

func (l *lostLogs) cut() {
	slices.SortFunc(l.of, func(a, b lostLog) int { return cmp.Compare(a.place, b.place) })
	if n := len(l.of) - mostLost; n > 0 {
		l.more += n
		clear(l.of[mostLost:])
		l.of = l.of[:mostLost]
	}
}

func (l *lostLogs) sentences() []string {
	l.cut()
	var out []string
	for _, one := range l.of {
		out = append(out, one.says...)
	}
	if l.more > 0 {
		out = append(out, fmt.Sprintf("%d more logs could not be read, or not to their end", l.more))
	}
	return out
}
