package logscan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/familiar"
)

// mostApart is how many logs are kept apart from each other.
const mostApart = 1024

// gatherer gathers what logs say. Up to a number of logs it keeps what
// was read of each. Of more, those that print the same make room: the ones that printed it first, the exemplars,
// stay, and of each of the others a summary is left, whose size does not depend on what it says. A log
// that says what no other one says stays, whichever it is and whenever it is read.
type gatherer struct {
	most  int // logs that are kept apart
	logs  []evidence.ContainerLog
	order []int32 // logs by place
	calls int     // that are kept of a summary

	window chan struct{} // logs that are being read, or wait for one that was begun before them

	mu     sync.Mutex
	next   int          // log to be taken, in the order in which reading began
	ready  map[int]*Log // those after it that were read
	heard  int          // logs
	kept   int          // of them
	read   bits         // places of logs that have text
	groups map[string]*Group
	lost   lostLogs
	left   int   // lines of watchdogs that are not kept
	broken int32 // the place of the first log that was not read to its end; -1: all were
	out    Logs  // what is only counted or added up, and the summaries
}

// Group is logs that print the same, as far as the members of a gang are told apart by it.
type Group struct {
	name  string
	kept  []*Log // by when they said it
	index int    // its index among the groups that have summaries; -1: it has none

	Told     []evidence.Observation // without what belongs to one log
	pasted   bool
	attempt  int
	ended    bool   // the logs say that they ended well
	Exemplar string // the place of the member that stands for the summaries; empty: none was kept
}

// bits are a set of small numbers.
type bits []uint64

func (b bits) set(i int32)      { b[i/64] |= 1 << (i % 64) }
func (b bits) has(i int32) bool { return b[i/64]&(1<<(i%64)) != 0 }

// apart is how many logs are kept apart from each other.
func (o Options) apart() int { return min(cmp.Or(o.Apart, mostApart), math.MaxUint16) }

func newGatherer(c *evidence.Bundle, order []int32, o Options) *gatherer {
	return &gatherer{
		most: o.apart(), logs: c.Logs, order: order, calls: shareOf(len(c.Logs)).calls,
		window: make(chan struct{}, mostAhead), ready: map[int]*Log{}, read: make(bits, len(order)/64+1), groups: map[string]*Group{}, broken: -1,
	}
}

// mostAhead is how many logs may be read before one that was begun earlier has been.
const mostAhead = 256

// begin waits until another log may be read.
func (c *gatherer) begin() { c.window <- struct{}{} }

// add takes what was read of the log that was the nth to be begun. Logs are taken in that order,
// whichever is read first, so that the same logs give the same answer.
func (c *gatherer) add(nth int, h *Log) {
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

func (c *gatherer) take(h *Log) {
	h.told = foremost(h.Sightings, mostTold)
	c.heard++
	c.count(h)
	if !h.Opened {
		return
	}
	v := c.groupOf(h)
	at, _ := slices.BinarySearchFunc(v.kept, h, before)
	v.kept = slices.Insert(v.kept, at, h)
	if c.kept++; c.kept > c.most {
		c.fold()
	}
}

// count adds up what does not tell logs apart.
func (c *gatherer) count(h *Log) {
	c.lost.add(h.place, h.missing)
	if h.broken && (c.broken < 0 || h.place < c.broken) {
		c.broken, c.out.Broken = h.place, h.Excerpt.Source.Name()
	}
	if h.bytesRead > 0 {
		c.read.set(h.place)
	}
	c.out.BytesRead += h.bytesRead
	c.out.BytesSkipped += h.bytesSkipped
	c.left += h.callsLeft
	if h.Course.Ended {
		c.out.Ended++
	}
	if h.advances {
		c.out.Advance++
	}
	if h.done {
		c.out.Done++
	}
	c.out.Lines.Join(h.Course.lines)
	c.out.Gap = c.out.Gap || h.Course.gap
	h.missing, h.Course.lines = nil, familiar.Lines{}
}

// groupOf finds the group of a log. There are at most half as many as logs are kept:
// where logs differ in more ways, only the signature of the best cause tells the later ones apart.
func (c *gatherer) groupOf(h *Log) *Group {
	name := ""
	for _, s := range h.told {
		name += fmt.Sprintf("%s %q %t %t %t %t %t ", s.Signature.ID, s.Facts["type"], s.Over, s.Mild, s.Explained, s.First, s.Raised)
	}
	s := h.Excerpt.Source
	name += fmt.Sprintf("%q %q %d %t %t %t %t %t %t %t %t", s.Role, s.Container, s.Attempt, h.Course.Pasted, h.Course.Ended, h.advances, h.done, h.broken,
		h.Course.LastNumber > 0, len(h.Course.calls) > 0, len(h.idle.Lines) > 0)
	if v := c.groups[name]; v != nil {
		return v
	}
	if c.most < len(c.logs) && len(c.groups) >= c.most/2 {
		name = ""
		if h.told = foremost(h.told, 1); len(h.told) > 0 {
			name = h.told[0].Signature.ID
		}
		if v := c.groups[name]; v != nil {
			return v
		}
	}
	v := &Group{name: name, index: -1, pasted: h.Course.Pasted, attempt: s.Attempt, ended: h.Course.Ended}
	for _, s := range h.told {
		v.Told = append(v.Told, evidence.Observation{Signature: s.Signature, Over: s.Over, Mild: s.Mild, Explained: s.Explained, First: s.First, Raised: s.Raised})
	}
	c.groups[name] = v
	return v
}

// before orders logs that say the same: the earlier one first, and where no time is known the order
// is that of names.
func before(a, b *Log) int {
	x, y := a.at(), b.at()
	if x.IsZero() || y.IsZero() {
		return cmp.Or(-x.Compare(y), cmp.Compare(a.place, b.place))
	}
	return cmp.Or(x.Compare(y), cmp.Compare(a.place, b.place))
}

// at is when a log first said what it says, or ended; zero: unknown.
func (h *Log) at() time.Time {
	if len(h.told) > 0 {
		return h.told[0].Item.At
	}
	return h.Course.last
}

// fold makes a summary of the last log of the largest group.
func (c *gatherer) fold() {
	var most *Group
	for _, v := range c.groups {
		if most == nil || len(v.kept) > len(most.kept) || len(v.kept) == len(most.kept) && v.name < most.name {
			most = v
		}
	}
	if most.index < 0 {
		most.index = len(c.out.Groups)
		c.out.Groups = append(c.out.Groups, most)
	}
	last := most.kept[len(most.kept)-1]
	most.kept = slices.Delete(most.kept, len(most.kept)-1, len(most.kept))
	c.kept--
	if c.out.Summaries == nil {
		c.out.Summaries = make([]Summary, 0, len(c.logs)-c.most)
	}
	c.out.Summaries = append(c.out.Summaries, last.summary(most.index))
	calls := last.Course.calls[:min(len(last.Course.calls), c.calls)]
	c.left += len(last.Course.calls) - len(calls)
	if len(calls) > 0 && c.out.Calls == nil {
		c.out.Calls = make([]CallSummary, 0, len(c.logs)-c.most)
	}
	for _, call := range calls {
		c.out.Calls = append(c.out.Calls, SummaryOf(call, last.place))
	}
}

// all is what was read, in the order of the logs' names.
func (c *gatherer) all() Logs {
	out := c.out
	out.Order = c.order
	var kept []*Log
	for _, v := range c.groups {
		if v.index >= 0 && len(v.kept) > 0 {
			v.Exemplar = v.kept[len(v.kept)-1].Excerpt.Source.Place()
		}
		kept = append(kept, v.kept...)
		v.kept = nil
	}
	slices.SortFunc(kept, func(a, b *Log) int { return cmp.Compare(a.place, b.place) })
	out.Excerpts, out.Courses = make([]evidence.Excerpt, 0, len(kept)), make([]Course, 0, len(kept))
	for i, h := range kept {
		out.Sightings = append(out.Sightings, h.Sightings...)
		out.Excerpts = append(out.Excerpts, h.Excerpt)
		out.Courses = append(out.Courses, h.Course)
		if len(h.idle.Lines) > 0 {
			out.Idle = append(out.Idle, h.idle)
		}
		kept[i] = nil
	}
	out.number()
	slices.SortFunc(out.Summaries, func(a, b Summary) int { return cmp.Compare(a.Place, b.Place) })
	slices.SortStableFunc(out.Calls, func(a, b CallSummary) int { return cmp.Compare(a.Place, b.Place) })
	out.Missing = c.lost.sentences()
	if c.left > 0 {
		out.Missing = append(out.Missing, fmt.Sprintf("%s of NCCL's watchdog %s not compared with the others", words.Count(c.left, "line", "lines"), words.Was(c.left)))
	}
	pod := ""
	for place, log := range c.order {
		if name := c.logs[log].Source.Pod; name != pod && name != "" && c.read.has(int32(place)) {
			pod = name
			out.Pods++
		}
	}
	return out
}

// number numbers the groups of summaries by name.
func (l *Logs) number() {
	slices.SortFunc(l.Groups, func(a, b *Group) int { return strings.Compare(a.name, b.name) })
	numbers := make([]uint16, len(l.Groups)) // by the old one
	for i, v := range l.Groups {
		numbers[v.index], v.index = uint16(i), i
	}
	for i := range l.Summaries {
		l.Summaries[i].Group = numbers[l.Summaries[i].Group]
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
