package reduce

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// LongestLine is how much of one line is read, in bytes. Of a longer one the beginning and the last
// LongestEnd bytes are, with a gap between them, and the line is counted as cut. A progress bar that
// writes over itself for hours is one line, and what it was followed by stands at the end of it.
const (
	LongestLine = 64 << 10
	LongestEnd  = 16 << 10
)

// longestName is more than what names a secret has: "--azure-storage-account-key".
const longestName = 64

// gap stands for what was not read of a line.
const gap = " […] "

// Line is one line of a log.
type Line struct {
	Number int    // from 1
	Text   string // without colours, control bytes and overwritten progress bars
	Lane   string // the prefix that tells interleaved processes apart
	Rank   int    // -1: the line does not say
	At     time.Time
	// Carried says that At is that of a line above: it was no earlier.
	Carried bool
	// Trace is set on the last line of a traceback: the one that names the exception.
	Trace *Trace
	// Code says that the line is a frame of a traceback or the source text under one: it
	// quotes messages that were not printed.
	Code bool
	// Overwritten says that a carriage return put other text of the line over this one.
	Overwritten bool
	// body is where the message starts; collected is where what the program wrote starts,
	// behind the time that its collector put before it.
	body, collected int
	// has is what stands in the text, and maybe more.
	has redact.Bytes
}

// Clone is a line that holds on to nothing but itself.
func (l Line) Clone() Line {
	l.Text, l.Lane = strings.Clone(l.Text), strings.Clone(l.Lane)
	return l
}

// Has says that one of some kinds of bytes may be in the text.
func (l *Line) Has(kinds redact.Bytes) bool { return l.has.Has(kinds) }

// Body is the text behind time stamps and rank prefixes.
func (l Line) Body() string { return l.Text[l.body:] }

// Written is the line as the program wrote it, without the time that its collector put
// before it.
func (l Line) Written() string { return l.Text[l.collected:] }

// mostPerLine is how many ranks one line is taken apart for.
const mostPerLine = 64

// perRank takes the line that was read last apart, where several ranks wrote on it because one of them was overtaken
// before it had written its end: "[rank0]: Traceback[rank1]: Traceback".
func (s *scanner) perRank(parts []Line) []Line {
	l := &parts[0]
	if at := behindBar(l.Text, l.has); at > 0 {
		rest := Line{Number: l.Number, Text: l.Text[at:], Rank: l.Rank, Lane: l.Lane, At: l.At, has: l.has}
		l.Text = l.Text[:at]
		l.body, l.collected = min(l.body, at), min(l.collected, at)
		rest.readPrefixes()
		parts = append(parts, rest)
		l = &parts[1]
	}
	if l.Rank < 0 || !strings.Contains(l.Lane, "[rank") || !strings.Contains(l.Body(), "[rank") {
		return parts
	}
	return perRank(parts[:len(parts)-1], *l)
}

func perRank(parts []Line, l Line) []Line {
	for start, at := 0, l.body; ; {
		next := strings.Index(l.Text[at:], "[rank")
		if len(parts) == mostPerLine-1 {
			next = -1
		}
		if next >= 0 {
			at += next
			if (&Line{}).readRank(l.Text[at:]) == 0 {
				at += len("[rank")
				continue
			}
		} else {
			at = len(l.Text)
		}
		part := Line{Number: l.Number, Text: l.Text[start:at], Rank: -1, has: l.has}
		part.readPrefixes()
		if part.At.IsZero() {
			part.At = l.At
		}
		parts = append(parts, part)
		if next < 0 {
			return parts
		}
		start, at = at, at+len("[rank")
	}
}

// behindBar is where a line goes on behind one of tqdm's bars; 0: it does not. A bar leaves its line open, so what is
// written next, by the shell that saw its program die as by the program, stands there and begins as a line does.
func behindBar(text string, has redact.Bytes) int {
	if !has.Has(redact.Percent) {
		return 0
	}
	at := strings.Index(text, "%|")
	if at < 0 {
		return 0
	}
	open := strings.IndexByte(text[at:], '[')
	if open < 0 {
		return 0
	}
	for at += open; ; {
		end := strings.IndexByte(text[at:], ']')
		if at += end + 1; end < 0 || at == len(text) {
			return 0
		}
		if c := text[at]; isWord(c) || c == '[' || c == '/' || c == '.' {
			return at
		}
	}
}

// Body is Line.Body of a text alone.
func Body(text string) string {
	l := Line{Text: text}
	l.readPrefixes()
	return l.Body()
}

// Written is Line.Written of a text alone.
func Written(text string) string {
	l := Line{Text: text}
	l.readPrefixes()
	return l.Written()
}

// scanner splits a stream into cleaned lines in constant memory.
type scanner struct {
	r      *bufio.Reader
	text   []byte   // of the line read last; it lies in r's buffer or in one of the next two
	long   longLine // one that is longer than r's buffer
	pieces longLine // one that the runtime wrote in pieces
	pieced int      // how many lines of the file the line read last is
	back   []byte   // a line of the file that was read and is no piece of the one before
	isBack bool
	room   strings.Builder // where the texts of short lines lie
	has    redact.Bytes    // what stands in text
	number int
	parts  [2][]Line // of the line read last, and of the last one with text
	turn   int       // which of them is that of the line read last
	given  []int     // numbers of the lines still to come, where they do not count from 1
	cut    int
	bytes  int64
	hidden redact.Lines
	err    error

	prefetcher *prefetcher // reads the rest; nil: the scanner itself does
	batch      *batch      // of it that is being taken
	at         int         // the line in it that comes next
	prefetched *readLine   // the line read last, if it need not be read again
}

// buffers are used again: of thousands of short logs they would be most of what reading allocates.
var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, LongestLine) }}

func newScanner(r io.Reader, numbers []int) *scanner {
	buffer := buffers.Get().(*bufio.Reader)
	buffer.Reset(r)
	return &scanner{r: buffer, given: numbers}
}

// close gives the buffer back; nothing of the scanner may be used any more.
func (s *scanner) close() {
	if s.prefetcher != nil {
		s.prefetcher.close()
	}
	s.r.Reset(nil)
	buffers.Put(s.r)
	s.r = nil
}

// next reads one line; false at the end or on an error, which is in err unless it is EOF.
func (s *scanner) next() bool {
	if s.prefetcher != nil {
		return s.nextAhead()
	}
	if !s.nextOfFile() {
		return false
	}
	s.pieced = 1
	s.join()
	s.has = redact.Look(s.text)
	s.count(s.pieced)
	return true
}

// nextOfFile reads one line of the file.
func (s *scanner) nextOfFile() bool {
	if s.isBack {
		s.text, s.isBack = s.back, false
		return true
	}
	part, err := s.r.ReadSlice('\n')
	s.bytes += int64(len(part))
	s.text = bytes.TrimSuffix(part, []byte("\n"))
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		if err = s.nextLong(part); err != nil && !errors.Is(err, io.EOF) {
			s.err = err
		}
	case err != nil:
		if !errors.Is(err, io.EOF) {
			s.err = err
		}
		if len(part) == 0 {
			return false
		}
	}
	return true
}

// count numbers the line that was read last, which is so many of the file.
func (s *scanner) count(lines int) {
	for range lines {
		s.number++
		if len(s.given) > 0 {
			s.number, s.given = s.given[0], s.given[1:]
		}
	}
}

// nextLong reads the rest of a line that did not fit the reader's buffer, of which part is all; it takes
// constant memory.
func (s *scanner) nextLong(part []byte) error {
	s.long.begins(part)
	for {
		part, err := s.r.ReadSlice('\n')
		s.bytes += int64(len(part))
		s.long.add(bytes.TrimSuffix(part, []byte("\n")))
		if !errors.Is(err, bufio.ErrBufferFull) {
			s.text = s.whole(&s.long)
			return err
		}
	}
}

// whole is a long line as far as it is kept, counted if it is cut.
func (s *scanner) whole(l *longLine) []byte {
	text, cut := l.text()
	if cut {
		s.cut++
	}
	return text
}

// longLine is the beginning and the end of a line, in constant memory.
type longLine struct {
	begin, end []byte // end: the last LongestEnd bytes behind the beginning, and more
	dropped    bool   // there was more between them
}

// begins takes the first bytes of another line.
func (l *longLine) begins(part []byte) {
	*l = longLine{begin: l.begin[:0], end: l.end[:0]}
	l.add(part)
}

func (l *longLine) add(part []byte) {
	n := min(len(part), LongestLine-LongestEnd-len(l.begin))
	l.begin, l.end = append(l.begin, part[:n]...), append(l.end, part[n:]...)
	if len(l.end) > 2*LongestEnd { // twice, so that bytes are rarely moved
		l.dropped = true
		l.end = l.end[:copy(l.end, l.end[len(l.end)-LongestEnd:])]
	}
}

// text is both, and cut says that there was more between them. What a carriage return in the end has wiped off
// the screen is not missed.
func (l *longLine) text() (text []byte, cut bool) {
	end := bytes.TrimRight(l.end, "\r")
	if !l.dropped && len(end) <= LongestEnd {
		return append(l.begin, end...), false
	}
	end = end[max(0, len(end)-LongestEnd):]
	if bytes.IndexByte(bytes.TrimRight(end, " \t\r"), '\r') >= 0 {
		return end, false
	}
	// Half a word is dropped, and if it may be the name of a secret, what it names.
	half, rest, ok := bytes.Cut(end, []byte(" "))
	if ok {
		end = rest
	}
	if _, rest, ok = bytes.Cut(end, []byte(" ")); ok && len(half) < longestName {
		end = rest
	}
	return append(append(l.begin, gap...), end...), true
}

// line is the line that was read last, in parts if several ranks wrote on it. They are good until the next line is
// read, or for longer; see done.
func (s *scanner) line() []Line {
	parts := append(s.parts[s.turn][:0], Line{})
	l := &parts[0]
	var at time.Time
	if p := s.prefetched; p != nil {
		at = p.at
		if *l = p.line; s.hidden.Idle() {
			l.Number = s.number
		} else {
			s.tell(l, l.Text, l.has)
		}
	} else {
		var text string
		var has redact.Bytes
		text, has, at = s.plain()
		s.tell(l, text, has)
	}
	if l.At.IsZero() {
		l.At = at
	}
	return parts
}

// plain is the text of the line that was read last, what stands in it, and when docker took it.
func (s *scanner) plain() (text string, has redact.Bytes, at time.Time) {
	b, at := unwrapped(s.text)
	if has = s.has; len(b) != len(s.text) {
		has = redact.Look(b)
	}
	text, has = s.cleaned(b, has)
	return text, has, at
}

// done takes the parts of the line that was read last back; they are still read if they stay.
func (s *scanner) done(parts []Line, stay bool) {
	if s.parts[s.turn] = parts; stay {
		s.turn = 1 - s.turn
	}
}

// overwritten are the segments of a line that carriage returns put another one over. A terminal shows
// them for a moment, and a program that never ends its lines otherwise says everything so.
func (s *scanner) overwritten() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if !s.has.Has(redact.Return) {
			return
		}
		text, _ := unwrapped(s.text)
		rest := bytes.TrimRight(text, "\r \t")
		for {
			segment, behind, more := bytes.Cut(rest, []byte("\r"))
			if !more || len(bytes.TrimSpace(segment)) > 0 && !yield(segment) {
				return // the last one is the line
			}
			rest = behind
		}
	}
}

// tell makes a line of its text, and hides what those above it say.
func (s *scanner) tell(l *Line, text string, has redact.Bytes) {
	*l = Line{Number: s.number, Text: s.hidden.NextOf(text, has), Rank: -1, has: has}
	l.readPrefixes()
}

// cleaned is the text of a line, and what stands in it.
func (s *scanner) cleaned(b []byte, has redact.Bytes) (string, redact.Bytes) {
	if has.Has(redact.Control | redact.Beyond) {
		text := s.clean(b, has)
		return text, redact.Look(text)
	}
	return s.copy(b), has
}

// clean removes what a terminal would not show.
func (s *scanner) clean(b []byte, has redact.Bytes) string {
	if has.Has(redact.Return) {
		b = bytes.TrimRight(b, "\r")
		if bytes.IndexByte(b, '\r') >= 0 {
			b = lastSegment(b)
		}
		has = redact.Look(b)
	}
	if has.Has(redact.Control) {
		b = redact.Escapes(b)
	}
	if has.Has(redact.Beyond) {
		return redact.Visible(string(b))
	}
	return s.copy(b)
}

// So many bytes of lines share one allocation: the more, the longer the log. A line holds on to the whole of it,
// so one that is kept for longer than a log takes to read is copied.
const (
	roomOf   = 4 << 10
	mostRoom = 32 << 10
)

// copy makes a string: of its own where it is long, else in the room that short lines share.
func (s *scanner) copy(b []byte) string {
	if len(b) > roomOf/4 {
		return string(b)
	}
	if len(b) > s.room.Cap()-s.room.Len() {
		next := min(max(roomOf, 2*s.room.Cap()), mostRoom)
		s.room.Reset() // the strings made of the old one keep it
		s.room.Grow(next)
	}
	from := s.room.Len()
	s.room.Write(b)
	return s.room.String()[from:]
}

// lastSegment is what is left on the screen after carriage returns: the last segment that
// is not blank.
func lastSegment(b []byte) []byte {
	for len(b) > 0 {
		i := bytes.LastIndexByte(b, '\r')
		if len(bytes.TrimSpace(b[i+1:])) > 0 {
			return b[i+1:]
		}
		if i < 0 {
			return nil
		}
		b = b[:i]
	}
	return b
}
