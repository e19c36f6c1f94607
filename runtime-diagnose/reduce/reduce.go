// Package reduce turns a log of any size into a bounded Digest: cleaned lines with their
// numbers, Python tracebacks recognised, secrets masked before anything is kept. It reads
// a stream once and keeps a constant amount in memory.
//
// It is no parser of log formats and judges nothing: what a line means is for package
// signature. Start reading at Read.
package reduce

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// Options bounds what is kept. Zero values mean the defaults in parentheses.
type Options struct {
	Budget int // bytes of kept text in all (32 KiB)
	Head   int // lines kept from the start (20)
	Tail   int // lines kept from the end (40)
	Before int // lines kept before a line that Visit wants (3)
	After  int // lines kept after it (6)
	// Numbers are those of the lines in the log they were kept of; nil: they count from 1.
	// Lines beyond the last go on counting from it.
	Numbers []int
	Now     time.Time // by which the year of stamps without one is told, as klog's and syslog's; zero: such stamps are unknown
	// Watch sees every line, in order, before anything else; nil: not called. It has to be
	// cheap. The line's time is set where its prefix has one.
	Watch func(*Line)
	// Suspect is a cheap question asked of every line; nil: every line is suspect.
	Suspect func(text string) bool
	// Search adds what a text holds that Suspect asks about, and Found is Suspect of a text that was searched. With both, a log
	// is read ahead by a second goroutine from AheadFrom bytes on (256 KiB): what depends on one line alone is done there.
	// Search is called by it, and what it finds has to depend on the text alone.
	Search    func(found []int32, text string) []int32
	Found     func(text string, found []int32) bool
	AheadFrom int64
	// Visit sees suspect lines and the ends of tracebacks, in order, and says whether a line
	// matters. The text is not masked. Of a line on which several ranks wrote, it sees what
	// each of them did, under the line's number; and of one that was written over, what stood there
	// before.
	Visit func(Line) (matters bool)
}

func (o Options) withDefaults() Options {
	o.Budget = cmp.Or(o.Budget, 32<<10)
	o.Head = cmp.Or(o.Head, 20)
	o.Tail = cmp.Or(o.Tail, 40)
	o.Before = cmp.Or(o.Before, 3)
	o.After = cmp.Or(o.After, 6)
	o.AheadFrom = cmp.Or(o.AheadFrom, 256<<10)
	if o.Suspect == nil {
		o.Suspect = func(string) bool { return true }
	}
	if o.Watch == nil {
		o.Watch = func(*Line) {}
	}
	if o.Visit == nil {
		o.Visit = func(Line) bool { return false }
	}
	return o
}

// Digest is what is left of a log.
type Digest struct {
	Lines        []Kept // by number
	LinesRead    int
	LinesCut     int       // longer than LongestLine; their middle was dropped
	Unfollowed   int       // tracebacks that began where as many as are followed were open: their lines are read one by one
	BytesRead    int64     // as they came
	BytesSkipped int64     // read, but in no kept line
	Last         Line      // the last line with text
	Now          time.Time // by which the years of stamps without one are told: Options.Now, or one near the text's own years
	InTraceback  bool      // the text ends while a traceback is being printed
}

// Kept is one line of a digest, masked.
type Kept struct {
	Number int
	Text   string
	Again  int // how many lines below it, of which nothing was kept, say as little
}

// Meets says that nothing that was said between a line and the one of a number below it was left out.
func (k Kept) Meets(number int) bool { return k.Number+k.Again+1 >= number }

// Read reduces a log. The error is the reader's; what was read before it is in the digest.
func Read(r io.Reader, o Options) (Digest, error) {
	o = o.withDefaults()
	k := newKeeper(o)
	var d Digest
	lines := newScanner(r, o.Numbers)
	defer lines.close()
	tracebacks := newFolder()
	clock := clock{now: o.Now}
	last := &Line{}
	for lines.next() {
		matters, first := false, true
		for segment := range lines.overwritten() {
			var l Line
			text, has := lines.cleaned(segment, redact.Look(segment))
			lines.tell(&l, text, has)
			if l.Overwritten = true; first { // where a bar that writes over itself began to count
				o.Watch(&l)
				first = false
			}
			if tracebacks.fold(&l); l.Trace != nil || o.Suspect(l.Text) {
				clock.stamp(&l)
				matters = o.Visit(l) || matters
			}
		}
		parts := lines.line()
		number, text, stays := parts[0].Number, parts[0].Text, false
		parts = lines.perRank(parts)
		for i := range parts { // by place: a copy that others may keep would be one on the heap, for every line
			l := &parts[i]
			clock.note(l)
			o.Watch(l)
			tracebacks.fold(l)
			if l.Trace != nil || lines.suspect(l.Text, &o) {
				clock.stamp(l)
				matters = o.Visit(*l) || matters
			}
			if l.Body() != "" {
				last, stays = l, true
			}
		}
		lines.done(parts, stays)
		k.see(number, text, matters)
		if o.Search != nil && o.Found != nil && lines.prefetcher == nil && lines.bytes >= o.AheadFrom {
			lines.readAhead(o.Search)
		}
	}
	d.Last = *last
	d.Lines, d.InTraceback = k.kept(), tracebacks.within(d.Last.Number)
	d.Now = clock.now
	d.LinesRead, d.LinesCut, d.BytesRead, d.Unfollowed = lines.number, lines.cut, lines.bytes, tracebacks.unfollowed
	d.BytesSkipped = max(0, d.BytesRead-k.bytesKept())
	d.Last.Text, d.Last.Lane = strings.Clone(Mask(d.Last.Text)), strings.Clone(d.Last.Lane)
	d.Last.body, d.Last.collected = min(d.Last.body, len(d.Last.Text)), min(d.Last.collected, len(d.Last.Text))
	return d, lines.err
}

// keeper chooses lines: the head, windows around what matters, the tail. Each of the
// three has its own share of the budget, so that none can starve the others.
type keeper struct {
	o               Options
	chosen          []Kept
	head, window    int    // bytes left
	recent          []Kept // candidates for the tail and for the lines before a hit
	room            []Kept // where they lie
	recentBytes     int
	tail            int // bytes the tail may use
	seen, keepUntil int // line numbers
}

func newKeeper(o Options) *keeper {
	return &keeper{o: o, head: o.Budget / 4, window: o.Budget / 2, tail: o.Budget / 4}
}

func (k *keeper) see(number int, text string, matters bool) {
	k.seen = number
	kept := Kept{Number: number, Text: text}
	if matters {
		k.takeBefore()
		k.keepUntil = max(k.keepUntil, number+k.o.After)
	}
	switch {
	case number <= k.o.Head && k.take(kept, &k.head):
	case (matters || number <= k.keepUntil) && k.take(kept, &k.window):
	default:
		k.remember(kept)
	}
}

// take masks a line and keeps it if its share of the budget allows.
func (k *keeper) take(line Kept, share *int) bool {
	if len(line.Text) > *share && len(redact.Masked) > *share { // masked or not
		return false
	}
	line.Text = Mask(line.Text)
	if len(line.Text) > *share {
		return false
	}
	*share -= len(line.Text)
	line.Text = strings.Clone(line.Text)
	k.chosen = append(k.chosen, line)
	return true
}

func (k *keeper) takeBefore() {
	from := max(0, len(k.recent)-k.o.Before)
	var rest []Kept
	for _, line := range k.recent[from:] {
		if line.Number >= k.seen-k.o.Before && k.take(line, &k.window) {
			k.recentBytes -= k.weight(line)
			continue
		}
		rest = append(rest, line)
	}
	k.recent = append(k.recent[:from], rest...)
}

func (k *keeper) remember(line Kept) {
	if n := len(k.recent); n > 0 && empty(line.Text) && (line.Text == k.recent[n-1].Text || blank(line.Text) && blank(k.recent[n-1].Text)) {
		k.recent[n-1].Again++ // one of them stands for all: they would fill the tail
		return
	}
	if n := len(k.recent); n == cap(k.recent) && 2*n < cap(k.room) { // slid to the end of the room: back to its beginning
		k.recent = append(k.room[:0], k.recent...)
	}
	k.recent = append(k.recent, line)
	if cap(k.recent) > cap(k.room) {
		k.room = k.recent
	}
	k.recentBytes += k.weight(line)
	for len(k.recent) > max(k.o.Tail, k.o.Before) || (k.recentBytes > k.tail && len(k.recent) > 0) {
		k.recentBytes -= k.weight(k.recent[0])
		k.recent = k.recent[1:]
	}
}

func (k *keeper) kept() []Kept {
	left, tail := k.tail, k.recent[max(0, len(k.recent)-k.o.Tail):]
	for _, long := range []bool{false, true} { // a dump of settings is to leave room for what stands above it
		for _, line := range slices.Backward(tail) {
			if long == (len(line.Text) > k.weight(line)) {
				k.take(line, &left)
			}
		}
	}
	slices.SortFunc(k.chosen, func(a, b Kept) int { return cmp.Compare(a.Number, b.Number) })
	return k.chosen
}

// weight is how much of the tail's room a line is counted for before it is known which lines are the tail.
func (k *keeper) weight(line Kept) int { return min(len(line.Text), k.tail/8) }

// empty says that nothing is said in a text.
func empty(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) })
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

func (k *keeper) bytesKept() int64 {
	var n int64
	for _, l := range k.chosen {
		n += int64(len(l.Text)) + 1
	}
	return n
}
