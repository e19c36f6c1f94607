package keep

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Excerpt is what is kept of one log: its head, windows around the lines that say what went
// wrong, and its tail. Lines are cleaned and masked and keep their numbers.
type Excerpt struct {
	Lines []reduce.Kept
	Hits  []Hit // the lines that the windows are around, as they come
	Read  int   // lines of the log
	Bytes int64 // of the log
}

// Hit is a line that says what went wrong.
type Hit struct {
	First int // number of the first line that belongs to it: the head of its traceback
	Last  int // its own
}

// Budget is how many bytes of text are kept of one log.
const Budget = 32 << 10

// The windows. A traceback is kept to its head, because without the head its end is a line like
// any other.
const (
	headLines   = 20
	tailLines   = 60
	linesBefore = 3
	linesAfter  = 8
	longestFold = 90      // lines of a traceback that are kept whole
	foldHead    = 6       // lines kept of the beginning of a longer one
	longestLine = 2 << 10 // bytes kept of one line
	mostHits    = 48
	mostPerSign = 4 // windows for one signature, and one for its last line
	mostLast    = 8 // of those last lines
	stepsAfter  = 2 // lines that show progress, kept after a hit: they tell that it was survived
	recentLines = 240
)

// tracebackHead begins a traceback; mostHeads is how many are remembered until they end. tidyAt is how many lines may be noted to be
// left out before those are forgotten that nobody would take any more.
const (
	tracebackHead = "Traceback (most recent call last)"
	mostHeads     = 64
	tidyAt        = 2_000
)

// firstFailure is the heading under which torchrun names the rank that failed first.
const firstFailure = "Root Cause (first observed failure)"

// Take reads a log of any size once, in constant memory, and keeps at most budget bytes of
// text; a log that is shorter is kept whole, because what did not go wrong tells, too. The error is
// the reader's; what was read before it is in the excerpt.
func Take(r io.Reader, catalog *signature.Catalog, budget int) (Excerpt, error) {
	t := &taker{
		catalog: catalog, per: map[string]int{}, chosen: map[int]string{}, drop: map[int]bool{}, whole: budget,
		head: budget / 8, window: budget / 2, ends: budget / 8, tail: budget / 4, at: map[string]int{},
	}
	digest, err := reduce.Read(r, reduce.Options{Budget: 1, Head: 1, Tail: 1, Before: 1, After: 1, Visit: t.visit})
	e := Excerpt{Read: digest.LinesRead, Bytes: digest.BytesRead}
	t.takeLast()
	e.Hits = t.hits
	if t.whole >= 0 {
		e.Lines = t.all
		return e, err
	}
	t.takeTail()
	for _, number := range slices.Sorted(maps.Keys(t.chosen)) {
		if t.drop[number] {
			continue
		}
		e.Lines = append(e.Lines, reduce.Kept{Number: number, Text: t.chosen[number]})
	}
	return e, err
}

type taker struct {
	catalog            *signature.Catalog
	per                map[string]int // windows by signature
	at                 map[string]int // number of its last line
	last               []lastHit      // of signatures that got their windows, the latest last
	number             int            // of the line that is read
	ends               int            // bytes left for the last
	hits               []Hit
	chosen             map[int]string
	recent             []reduce.Kept // the last lines, for windows that reach back and for the tail
	head, window, tail int           // bytes left
	keepUntil          int
	steps              int           // lines of progress still wanted
	heads              []reduce.Kept // of tracebacks, the latest last
	drop               map[int]bool  // heads and ends of tracebacks on which nothing depends
	all                []reduce.Kept // every line, as long as they fit
	whole              int           // bytes left for them; below zero: they do not fit
	over               string        // of the line that is read, masked: what says something and was written over, each with a carriage return
}

// lastHit is what a signature that was seen often matched last. What was survived a few times may end a program at last, and
// what is printed when it ends is longer than the tail.
type lastHit struct {
	id string
	Hit
	lines []reduce.Kept
}

// visit sees every line, and of one that carriage returns write over each state. It is kept as it was left, behind those states of it
// that say something.
func (t *taker) visit(l reduce.Line) bool {
	t.number = l.Number
	line := reduce.Kept{Number: l.Number, Text: l.Text} // cut and masked when it is taken
	again := len(t.recent) > 0 && t.recent[len(t.recent)-1].Number == l.Number
	switch {
	case !again:
		t.over = ""
	case t.over != "":
		line.Text = t.over + cutLine(reduce.Mask(l.Text))
	}
	switch {
	case again:
		t.recent[len(t.recent)-1] = line
		t.renew(line)
	case len(t.recent) >= recentLines:
		t.recent = append(append(t.recent[:0], t.recent[recentLines/4:]...), line)
	default:
		t.recent = append(t.recent, line)
	}
	if strings.Contains(l.Text, tracebackHead) {
		t.heads = append(t.heads[max(0, len(t.heads)-mostHeads+1):], line)
	}
	for i := range t.last {
		if h := &t.last[i]; l.Number <= h.Last+linesAfter {
			h.lines = append(h.lines, line)
		}
	}
	if !l.Code {
		t.judge(l)
	}
	if t.whole >= 0 {
		t.gather(line)
	}
	switch {
	case l.Number <= headLines:
		t.take(line, &t.head)
	case l.Number <= t.keepUntil:
		t.take(line, &t.window)
	}
	return false
}

// renew takes the next state of a line of which one was taken, where there is room.
func (t *taker) renew(line reduce.Kept) {
	before, have := t.chosen[line.Number]
	if !have {
		return
	}
	line.Text = cutLine(reduce.Mask(line.Text))
	share := &t.window
	if line.Number <= headLines {
		share = &t.head
	}
	if more := len(line.Text) - len(before); more <= max(*share, 0) {
		*share -= more
		t.chosen[line.Number] = line.Text
	}
}

// gather takes every line until one does not fit.
func (t *taker) gather(line reduce.Kept) {
	line.Text = cutLine(reduce.Mask(line.Text))
	if n := len(t.all); n > 0 && t.all[n-1].Number == line.Number {
		t.whole += len(t.all[n-1].Text) + 1
		t.all = t.all[:n-1]
	}
	if t.whole -= len(line.Text) + 1; t.whole < 0 {
		t.all = nil
		return
	}
	t.all = append(t.all, line)
}

// tidy forgets of the lines to be left out those that are not taken, and will not be: they are too far above.
func (t *taker) tidy() {
	may := map[int]bool{}
	for _, l := range t.last {
		for _, line := range l.lines {
			may[line.Number] = true
		}
	}
	maps.DeleteFunc(t.drop, func(number int, _ bool) bool {
		_, chosen := t.chosen[number]
		return !chosen && !may[number] && number < t.recent[0].Number
	})
}

// judge opens a window where a line says something.
func (t *taker) judge(l reduce.Line) {
	if l.Trace != nil && l.Trace.Ignored {
		// Only the whole traceback shows that it is one of those; its end alone would be an error.
		if len(t.drop) >= tidyAt {
			t.tidy()
		}
		t.drop[l.Trace.First], t.drop[l.Number] = true, true
		return
	}
	body := l.Body()
	if strings.Contains(body, firstFailure) {
		t.open(Hit{l.Number, l.Number})
		return
	}
	trace := l.Trace != nil
	if !trace && (t.catalog == nil || !t.catalog.SuspectsWithout(t.enough, body)) {
		return
	}
	wanted, progress, often := false, false, ""
	if t.catalog != nil {
		for _, m := range t.catalog.MatchWithout(t.enough, reduce.Mask(body), evidence.Log) {
			if m.Signature.Category == signature.HealthyCategory {
				progress = true
				wanted = wanted || m.Signature.DepthOf() == signature.Precise && t.first(m.Signature.ID)
				continue
			}
			wanted = t.first(m.Signature.ID) || wanted
			often = m.Signature.ID
		}
	}
	hit := Hit{l.Number, l.Number}
	if trace {
		hit.First, often = l.Trace.First, "\x00"+l.Trace.Type
	}
	switch {
	case wanted, trace && t.first(often):
		t.open(hit)
	case often != "":
		t.again(often, hit)
	case progress && t.steps > 0:
		t.steps--
		t.take(t.recent[len(t.recent)-1], &t.window)
	}
}

// enough says that a signature gets no more windows, so that it is not looked for: most
// lines of a log are steps of training.
func (t *taker) enough(s *signature.Signature) bool {
	if s.Category == signature.HealthyCategory && s.DepthOf() < signature.Precise {
		return t.steps == 0
	}
	return t.per[s.ID] >= mostPerSign && t.number-t.at[s.ID] <= signature.SaidAbove
}

// first says whether a signature still gets windows, and counts one.
func (t *taker) first(id string) bool {
	t.per[id]++
	t.at[id] = t.number
	return t.per[id] <= mostPerSign
}

// again remembers the last line of a signature that got its windows.
func (t *taker) again(id string, h Hit) {
	t.last = slices.DeleteFunc(t.last, func(l lastHit) bool { return l.id == id })
	if len(t.last) == mostLast {
		t.last = slices.Delete(t.last, 0, 1)
	}
	t.last = append(t.last, lastHit{id, h, t.before(h)})
}

// takeLast takes them, the latest first.
func (t *taker) takeLast() {
	for _, l := range slices.Backward(t.last) {
		at, found := slices.BinarySearchFunc(t.hits, l.Hit, func(a, b Hit) int { return cmp.Compare(a.Last, b.Last) })
		if !found {
			t.hits = slices.Insert(t.hits, at, l.Hit)
		}
		for _, line := range slices.Backward(l.lines) {
			if line.Number <= l.Last {
				t.take(line, &t.ends)
			}
		}
		for _, line := range l.lines {
			t.take(line, &t.ends)
		}
	}
}

// before are the lines of a window up to its hit.
func (t *taker) before(h Hit) []reduce.Kept {
	from := min(h.First, h.Last-linesBefore)
	return slices.DeleteFunc(slices.Clone(t.recent), func(line reduce.Kept) bool {
		return line.Number < from || h.Last-line.Number >= longestFold && line.Number >= from+foldHead
	})
}

// open takes the lines before a hit and asks for those after it.
func (t *taker) open(h Hit) {
	if len(t.hits) >= mostHits {
		return
	}
	t.hits = append(t.hits, h)
	t.over = cutLine(reduce.Mask(t.recent[len(t.recent)-1].Text)) + "\r"
	t.steps = stepsAfter
	t.keepUntil = h.Last + linesAfter
	t.take(t.recent[len(t.recent)-1], &t.window) // the line itself, whatever else finds room
	for _, line := range slices.Backward(t.before(h)) {
		t.take(line, &t.window)
	}
	for _, head := range t.heads { // one that is longer than what is remembered
		if head.Number == h.First {
			t.take(head, &t.window)
		}
	}
}

func (t *taker) take(line reduce.Kept, share *int) {
	if _, have := t.chosen[line.Number]; have {
		return
	}
	line.Text = cutLine(reduce.Mask(line.Text))
	if len(line.Text)+1 > *share {
		return
	}
	*share -= len(line.Text) + 1
	t.chosen[line.Number] = line.Text
}

// takeTail takes the end of the log, and gives it what the head and the windows left.
func (t *taker) takeTail() {
	t.tail += max(0, t.window) + max(0, t.ends) + max(0, t.head)
	last := 0
	if n := len(t.recent); n > 0 {
		last = t.recent[n-1].Number
	}
	for _, line := range slices.Backward(t.recent) {
		if line.Number <= last-tailLines {
			break
		}
		t.take(line, &t.tail)
	}
}

// leftOut stands in a line where its middle was.
const leftOut = " … "

// cutLine keeps the beginning and the end of a long line.
func cutLine(s string) string {
	if len(s) <= longestLine {
		return s
	}
	head, tail := longestLine*3/4, len(s)-longestLine/4+len(leftOut)
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + leftOut + s[tail:]
}

// Within keeps at most budget bytes of the text: first the hits with the heads of their
// tracebacks and the line before, the last and the first of them before the others, then the end of the log, then what is
// around the hits, then what else there is, from the end.
func (e Excerpt) Within(budget int) Excerpt {
	at := map[int]int{} // number → index
	for i, line := range e.Lines {
		at[line.Number] = i
	}
	left, keep := budget, map[int]bool{}
	take := func(number int) {
		i, ok := at[number]
		if ok && !keep[i] && len(e.Lines[i].Text) < left {
			left -= len(e.Lines[i].Text) + 1
			keep[i] = true
		}
	}
	hits := slices.Clone(e.Hits)
	slices.Reverse(hits)
	if n := len(hits); n > 2 {
		hits = slices.Insert(hits[:n-1], 1, hits[n-1])
	}
	for _, h := range hits {
		take(h.Last)
		if h.First < h.Last {
			take(h.First)
			take(h.Last - 2)
			take(h.Last - 1)
		}
	}
	for back := range 6 {
		if i := len(e.Lines) - 1 - back; i >= 0 {
			take(e.Lines[i].Number)
		}
	}
	for _, h := range hits {
		for n := h.Last - linesBefore; n <= h.Last+linesBefore; n++ {
			take(n)
		}
	}
	for _, line := range slices.Backward(e.Lines) {
		take(line.Number)
	}
	out := Excerpt{Hits: e.Hits, Read: e.Read, Bytes: e.Bytes}
	for i, line := range e.Lines {
		if keep[i] {
			out.Lines = append(out.Lines, line)
		}
	}
	return out
}

// text is the excerpt as a log, one line each.
func (e Excerpt) text() []byte {
	var b strings.Builder
	for _, line := range e.Lines {
		b.WriteString(line.Text)
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// spans are the numbers of the lines.
func (e Excerpt) spans() [][2]int {
	lines := make([]int, len(e.Lines))
	for i := range e.Lines {
		lines[i] = e.Lines[i].Number
	}
	return Spans(lines)
}
