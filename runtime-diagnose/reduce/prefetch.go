package reduce

import (
	"slices"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// So many batches of lines are on their way, of so many lines each, or a few more bytes of text than so many: with 200 bytes
// a line besides its text, half a megabyte in all.
const (
	batches      = 3
	linesOfBatch = 512
	bytesOfBatch = 64 << 10
)

// prefetcher reads a log ahead of the scanner, with a goroutine of its own: it does what depends on one line alone, and
// hands the lines over in their order.
type prefetcher struct {
	lines  *scanner // of the goroutine
	search func(found []int32, text string) []int32
	free   chan *batch
	full   chan *batch
	stop   chan struct{}
	done   sync.WaitGroup
}

// batch is lines in a row.
type batch struct {
	lines []readLine
	found []int32 // of all of them
	raw   []byte  // of those that have to be read again
	bytes int64   // as they came
	cut   int
	err   error // by which reading ended behind them
}

// readLine is a line that was read ahead.
type readLine struct {
	line  Line      // but for its number, and the time that follows
	at    time.Time // when docker took it
	has   redact.Bytes
	found int // where in its batch what was found in the line ends
	again bool
	lines int // of the file
	raw   int // where in its batch the line ends, if it has to be read again: what it says depends on those above it
}

// readAhead hands what is still to come of a log to a goroutine.
func (s *scanner) readAhead(search func(found []int32, text string) []int32) {
	a := &prefetcher{
		lines: &scanner{r: s.r, back: s.back, isBack: s.isBack}, search: search,
		free: make(chan *batch, batches), full: make(chan *batch, batches), stop: make(chan struct{}),
	}
	for range batches {
		a.free <- &batch{}
	}
	s.prefetcher = a
	a.done.Go(a.run)
}

func (a *prefetcher) run() {
	defer close(a.full)
	for more := true; more; {
		var b *batch
		select {
		case b = <-a.free:
		case <-a.stop:
			return
		}
		more = a.fill(b)
		select {
		case a.full <- b:
		case <-a.stop:
			return
		}
	}
}

// fill reads a batch, and says that there may be another one.
func (a *prefetcher) fill(b *batch) (more bool) {
	s := a.lines
	*b = batch{lines: b.lines[:0], found: b.found[:0], raw: b.raw[:0]}
	bytes, cut := s.bytes, s.cut
	for size := 0; len(b.lines) < linesOfBatch && size < bytesOfBatch; size += len(s.text) {
		if more = s.next(); !more {
			break
		}
		a.add(b)
	}
	b.bytes, b.cut, b.err = s.bytes-bytes, s.cut-cut, s.err
	return more
}

// add reads the line that the scanner is at.
func (a *prefetcher) add(b *batch) {
	s := a.lines
	b.lines = slices.Grow(b.lines, 1)[:len(b.lines)+1]
	l := &b.lines[len(b.lines)-1]
	*l = readLine{has: s.has, lines: s.pieced}
	if l.again = !a.read(l); l.again {
		b.raw = append(b.raw, s.text...)
	} else {
		b.found = a.search(b.found, l.line.Text)
	}
	l.found, l.raw = len(b.found), len(b.raw)
}

// read reads a line by itself; ok is false where it says several things, or something of those below it.
func (a *prefetcher) read(l *readLine) (ok bool) {
	s := a.lines
	if s.has.Has(redact.Return) {
		return false
	}
	text, has, at := s.plain()
	var hidden redact.Lines
	if hidden.NextOf(text, has) != text || !hidden.Idle() {
		return false
	}
	l.line, l.at = Line{Text: text, Rank: -1, has: has}, at
	l.line.readPrefixes()
	return true
}

// nextAhead takes the next line that was read ahead.
func (s *scanner) nextAhead() bool {
	a := s.prefetcher
	for s.batch == nil || s.at == len(s.batch.lines) {
		if s.batch != nil {
			a.free <- s.batch
		}
		s.batch, s.at = <-a.full, 0
		if s.batch == nil {
			return false
		}
		s.bytes, s.cut, s.err = s.bytes+s.batch.bytes, s.cut+s.batch.cut, s.batch.err
	}
	l := &s.batch.lines[s.at]
	s.prefetched = nil
	if s.has = l.has; l.again {
		from := 0
		if s.at > 0 {
			from = s.batch.lines[s.at-1].raw
		}
		s.text = s.batch.raw[from:l.raw]
	} else {
		s.prefetched = l
	}
	s.at++
	s.count(l.lines)
	return true
}

// suspect asks about a text of the line that was read last.
func (s *scanner) suspect(text string, o *Options) bool {
	if found, ok := s.searched(text); ok {
		return o.Found(text, found)
	}
	return o.Suspect(text)
}

// searched is what was found in the line that was read last, if it was read ahead as it stands.
func (s *scanner) searched(text string) (found []int32, ok bool) {
	l := s.prefetched
	if l == nil || text != l.line.Text {
		return nil, false
	}
	from := 0
	if s.at > 1 {
		from = s.batch.lines[s.at-2].found
	}
	return s.batch.found[from:l.found], true
}

// close ends the goroutine, and waits for it: it may be reading.
func (a *prefetcher) close() {
	close(a.stop)
	a.done.Wait()
}
