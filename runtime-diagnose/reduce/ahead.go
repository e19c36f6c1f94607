package reduce

import (
	"iter"
	"sync"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// A long log is taken apart into lines while those before are judged: to read one costs a fifth of what it takes to
// say what it means. What fits in one batch is read where it is judged.
const (
	batchLines   = 128      // that a batch holds at most
	batchBytes   = 64 << 10 // of text, beyond which nothing is added to it: lines may be very long
	batchesAhead = 2        // that wait to be judged
)

// batch are lines of a log, in their order.
type batch struct {
	lines []line
	n     int     // of them
	marks []int32 // of all lines, one after the other
}

// line is one line of a log, or what a carriage return put other text of it over.
type line struct {
	parts []Line // several, if several ranks wrote on it
	first bool   // of what other text was put over
	whole bool   // it is the line itself, which comes behind all of that
	// Of the line itself: its number, and all of its text.
	number int
	text   string
}

// batches are used again: of thousands of short logs they would be most of what reading allocates.
var batches = sync.Pool{New: func() any { return &batch{lines: make([]line, batchLines)} }}

// release gives the batch back; nothing of it may be used any more.
func (b *batch) release() {
	for i := range b.lines[:b.n] {
		l := &b.lines[i]
		clear(l.parts) // they hold on to the text of the log
		*l = line{parts: l.parts[:0]}
	}
	b.n = 0
	batches.Put(b)
}

// fill reads the next lines; more: there may be others behind them.
func (s *scanner) fill(b *batch) (more bool) {
	b.n, b.marks = 0, b.marks[:0]
	for bytes := 0; b.n < len(b.lines) && bytes < batchBytes; b.n++ {
		if !s.within && !s.next() {
			return false
		}
		l := &b.lines[b.n]
		if segment, ok := s.overwritten(); ok {
			l.first, s.within = !s.within, true
			l.parts = append(l.parts[:0], Line{})
			s.read(&l.parts[0], segment, redact.Look(segment))
			l.parts[0].Overwritten = true
		} else {
			l.whole, s.within = true, false
			l.parts = s.line(l.parts[:0])
			l.number, l.text = l.parts[0].Number, l.parts[0].Text
			l.parts = perRankOf(l.parts)
		}
		for i := range l.parts {
			part := &l.parts[i]
			if bytes += len(part.Text); s.mark != nil {
				from := len(b.marks)
				b.marks = s.mark(part.Text, b.marks) // where it grows, those before stay where they were
				part.Marks = b.marks[from:len(b.marks):len(b.marks)]
			}
		}
	}
	return true
}

// all are the lines of the log in batches. Each is good until the next one is asked for.
func (s *scanner) all() iter.Seq[*batch] {
	return func(yield func(*batch) bool) {
		first := batches.Get().(*batch)
		more := s.fill(first)
		going := yield(first)
		first.release()
		if more && going {
			s.ahead(yield)
		}
	}
}

// ahead reads while what was read is judged. Who wants no more leaves a reader behind, which ends with the batch that it
// is at.
func (s *scanner) ahead(yield func(*batch) bool) {
	filled, enough := make(chan *batch, batchesAhead), make(chan struct{})
	var failure any
	go func() {
		defer close(filled)
		defer func() { failure = recover() }() // it belongs to who called
		for more := true; more; {
			b := batches.Get().(*batch)
			more = s.fill(b)
			select {
			case filled <- b:
			case <-enough:
				return
			}
		}
	}()
	defer close(enough)
	for b := range filled {
		if !yield(b) {
			return
		}
		b.release()
	}
	if failure != nil {
		panic(failure)
	}
}
