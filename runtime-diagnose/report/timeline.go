package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// Picture is how a timeline is drawn. The zero value draws 80 columns without colour.
type Picture struct {
	Width int // columns; 0: 80
	// ASCII draws without characters that an old terminal lacks.
	ASCII bool
	// Paint colours a text like "error", "warning" or "allowed"; nil: nobody does.
	Paint func(like, text string) string
}

// What the picture is made of.
const (
	cellSteps = '━' // trains
	cellLives = '─' // lives, and no step was read
	cellWaits = '┄' // has not started
	cellEdge  = '‹' // began before the picture
	cellSign  = '!' // first sign of trouble
	cellFirst = '◆' // the first cause
	cellFail  = '✗'
	cellWell  = '●'
	cellRuns  = '▶'
	cellTaken = '◇' // taken from its node
	cellSkew  = '░' // where clocks do not order
)

// narrowest is the smallest picture, leastBar its smallest bar; mostBars bounds its rows.
const (
	narrowest = 60
	leastBar  = 30
	mostBars  = 14
)

// bar is one row: a member, or several that look alike.
type bar struct {
	name              string
	n                 int
	nodes             []string
	start, step, sign time.Time
	end               time.Time // zero: it waits
	mark              rune      // at its end
	says              string
	first             bool
	after             bool // sign was no earlier, and nobody says how much later
	again             bool // it waits again, after a life that ended with the bar
	group             int  // of members that look alike
}

// Timeline draws what became of every member: when it began, its last step, its first sign of
// trouble and its end, by the API server's clock, in seconds from the first cause where one is
// known. Members that look alike are one row; pods that wait have one, too. It is empty where
// nothing that was read carries a time.
func Timeline(r Report, p Picture) string {
	if p.Width == 0 {
		p.Width = 80
	}
	if p.Paint == nil {
		p.Paint = func(_, text string) string { return text }
	}
	p.Width = max(p.Width, narrowest)
	bars, waiting := barsOf(r)
	if len(bars) == 0 {
		return ""
	}
	s := scaleOf(bars, p.Width)
	bars = append(fold(bars, s), foldBy(waiting, func(bar) string { return "" })...)
	l := layoutOf(bars, p.Width)
	s.columns = l.bar
	var b strings.Builder
	first := slices.IndexFunc(bars, func(b bar) bool { return b.first })
	b.WriteString(head(r, bars, first, s, l))
	drawn := map[rune]bool{}
	for _, one := range bars {
		name, node := one.label(), one.node()
		if utf8.RuneCountInString(name) > l.name || utf8.RuneCountInString(node) > l.node { // above its bar
			b.WriteString(strings.Join(linesOf(strings.TrimSpace(name+" "+node), p.Width), "\n") + "\n")
			name, node = "", ""
		}
		line := pad(name, l.name) + " " + pad(node, l.node) + " " + one.draw(s, p, drawn)
		if !l.below {
			line += " " + one.says
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		if l.below && one.says != "" {
			for _, part := range linesOf(one.says, p.Width-4) {
				b.WriteString("    " + part + "\n")
			}
		}
	}
	if again := func(b bar) bool { return b.again }; r.Waiting != "" && (len(waiting) > 0 || slices.ContainsFunc(bars, again)) {
		for i, part := range linesOf("waits for: "+r.Waiting, p.Width-4) {
			b.WriteString(strings.Repeat(" ", min(4, 4*i)) + part + "\n")
		}
	}
	b.WriteString(legend(drawn))
	if p.ASCII {
		return ascii.Replace(b.String())
	}
	return b.String()
}

// ascii is what stands for each character of the picture where only ASCII can be shown.
var ascii = strings.NewReplacer("━", "=", "─", "-", "┄", ".", "‹", "<", "◆", "#", "✗", "x", "●", "o", "▶", ">", "◇", "%", "░", ":", "…", "~", "±", "+-", "−", "-", "·", "-")

// barsOf are the members that have times, and those that have not started.
func barsOf(r Report) (bars, waiting []bar) {
	for i := range r.Members {
		b, ok := barOf(&r.Members[i], r.Observed)
		switch {
		case ok:
			bars = append(bars, b)
		case r.Members[i].Waits() && !r.Members[i].Before.Ended.IsZero():
			bars = append(bars, takenBar(&r.Members[i], b))
		case r.Members[i].Waits():
			b.says, b.mark = "has not started", cellWaits
			waiting = append(waiting, b)
		}
	}
	return bars, waiting
}

// takenBar is the row of a member that waits again: what the pod before it had, until it was taken from its node.
func takenBar(m *timeline.Member, b bar) bar {
	b.start, b.end, b.sign, b.step = m.Before.Began, m.Before.Ended, time.Time{}, time.Time{}
	b.mark, b.again, b.says = cellTaken, true, m.Before.How+", waits again"
	if m.Before.Node != "" {
		b.nodes = []string{m.Before.Node}
	}
	return b
}

// layout is how the columns of a picture are shared out.
type layout struct {
	name, node, bar int
	below           bool // what members say stands below their bars
}

func layoutOf(bars []bar, width int) layout {
	var l layout
	says, mostName, mostNode := 0, width*3/10, width*2/10
	for _, b := range bars {
		name, node := utf8.RuneCountInString(b.label()), utf8.RuneCountInString(b.node())
		if name <= mostName && node <= mostNode {
			l.name, l.node = max(l.name, name), max(l.node, node)
		}
		says = max(says, utf8.RuneCountInString(b.says))
	}
	l.bar = width - l.name - l.node - 2
	if beside := l.bar - says - 1; beside >= leastBar {
		l.bar = beside
	} else {
		l.below = true
	}
	return l
}

func barOf(m *timeline.Member, now time.Time) (bar, bool) {
	b := bar{name: m.Place, n: 1 + m.Alike, says: m.Says, first: m.First, after: m.Carried, mark: cellFail}
	if m.Source.Node != "" {
		b.nodes = []string{m.Source.Node}
	}
	real := func(t time.Time) time.Time {
		if t.IsZero() {
			return t
		}
		return t.Add(-m.Ahead)
	}
	// A container's log begins with it: lines that carry an earlier time carry somebody else's, say of a former life.
	begun := m.Started
	if begun.IsZero() {
		begun = m.FirstLine
	}
	b.start, b.step, b.sign = real(begun), real(m.Stepped), real(m.Sign)
	switch {
	case m.Failed && !m.Ended.IsZero():
		b.end = real(m.Ended)
	case !m.Done.IsZero():
		b.end, b.mark = real(m.Done), cellWell
	case m.Running && begun.IsZero() && m.Stepped.IsZero() && m.Sign.IsZero():
		return b, false // that it runs now is no time of its own
	case m.Running:
		b.end, b.mark = now, cellRuns
	default:
		b.end, b.mark = real(m.LastLine), cellLives
	}
	if b.end.IsZero() {
		return b, false
	}
	if b.start.IsZero() || b.start.After(b.end) {
		b.start = earliest(b.sign, b.end)
	}
	return b, true
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// scale is the time that the picture shows, from and to, on so many columns.
type scale struct {
	from, to time.Time
	columns  int
}

// shownBefore is how much of the picture lies before the first trouble: the rest is what
// people look for.
const shownBefore = 0.3

// scaleOf shows the trouble, and what of the run before and after it fits: hours of training would
// squeeze ten seconds of dying into one column.
func scaleOf(bars []bar, columns int) scale {
	s := scale{columns: columns}
	var trouble, last time.Time
	for _, b := range bars {
		if begun := cmp.Or(b.start, b.end); s.from.IsZero() || begun.Before(s.from) {
			s.from = begun
		}
		if b.end.After(s.to) {
			s.to = b.end
		}
		at := b.sign
		if at.IsZero() && (b.mark == cellFail || b.mark == cellTaken) {
			at = b.end
		}
		trouble = earliest(trouble, at)
		if b.first {
			trouble = earliest(trouble, b.step)
		}
		if b.sign.After(last) {
			last = b.sign
		}
		if b.mark != cellRuns && b.end.After(last) {
			last = b.end
		}
	}
	if trouble.IsZero() {
		return s
	}
	after := max(last.Sub(trouble), 10*time.Second)
	if to := last.Add(after / 4); to.Before(s.to) {
		s.to = to
	}
	if from := trouble.Add(-time.Duration(float64(after) * shownBefore / (1 - shownBefore))); from.After(s.from) {
		s.from = from
	}
	return s
}

// at is the column of a time; times outside are at the edges.
func (s scale) at(t time.Time) int {
	span := s.to.Sub(s.from)
	if span <= 0 {
		return s.columns - 1
	}
	c := int(float64(t.Sub(s.from)) / float64(span) * float64(s.columns-1))
	return min(max(c, 0), s.columns-1)
}

// alikeWithin is the part of the picture within which members that say the same ended together.
const alikeWithin = 20

// fold makes one row of those that look alike; where that leaves too many, of those that say
// the same. The first one stands for all.
func fold(bars []bar, s scale) []bar {
	kind := func(b bar) string { return fmt.Sprint(b.first, b.mark, b.says) }
	slices.SortStableFunc(bars, func(a, b bar) int { return cmp.Or(strings.Compare(kind(a), kind(b)), a.end.Compare(b.end)) })
	from := 0 // of the members that are alike
	for i := range bars {
		if kind(bars[i]) != kind(bars[from]) || bars[i].end.Sub(bars[from].end) > s.to.Sub(s.from)/alikeWithin {
			from = i
		}
		bars[i].group = from
	}
	out := foldBy(bars, func(b bar) string { return fmt.Sprint(b.group) })
	if len(out) > mostBars {
		out = foldBy(bars, kind)
	}
	slices.SortStableFunc(out, func(a, b bar) int {
		if a.first != b.first {
			if a.first {
				return -1
			}
			return 1
		}
		return cmp.Or(orderAt(a, s)-orderAt(b, s), -cmp.Compare(a.n, b.n))
	})
	return out
}

func orderAt(b bar, s scale) int {
	if !b.sign.IsZero() {
		return s.at(b.sign)
	}
	return s.at(b.end)
}

func foldBy(bars []bar, key func(bar) string) []bar {
	at := map[string]int{}
	var out []bar
	for _, b := range bars {
		k, ok := at[key(b)]
		if !ok {
			at[key(b)] = len(out)
			out = append(out, b)
			continue
		}
		o := &out[k]
		o.n += b.n
		o.nodes = append(o.nodes, b.nodes...)
		o.start, o.sign = earliest(o.start, b.start), earliest(o.sign, b.sign)
		if b.step.After(o.step) {
			o.step = b.step
		}
		if b.end.After(o.end) {
			o.end = b.end
		}
	}
	return out
}

// label is who the row is about: a member, or how many.
func (b bar) label() string {
	if b.n == 1 {
		return b.name
	}
	return fmt.Sprintf("%d pods", b.n)
}

// node is where the members of a row are.
func (b bar) node() string {
	nodes := slices.Compact(slices.Sorted(slices.Values(b.nodes)))
	switch len(nodes) {
	case 0:
		return ""
	case 1:
		return nodes[0]
	}
	return fmt.Sprintf("%d nodes", len(nodes))
}

// draw is the row's bar, coloured cell by cell; drawn remembers which marks it has.
func (b bar) draw(s scale, p Picture, drawn map[rune]bool) string {
	cells := slices.Repeat([]rune{' '}, s.columns)
	if b.end.IsZero() {
		cells = slices.Repeat([]rune{cellWaits}, s.columns)
	} else {
		b.fill(cells, s)
	}
	var out strings.Builder
	for _, c := range cells {
		drawn[c] = true
		switch c {
		case cellFirst, cellFail, cellTaken:
			out.WriteString(p.Paint("error", string(c)))
		case cellSign:
			out.WriteString(p.Paint("warning", string(c)))
		case cellWell, cellRuns:
			out.WriteString(p.Paint("allowed", string(c)))
		default:
			out.WriteRune(c)
		}
	}
	return out.String()
}

// fill draws a bar with a beginning and an end.
func (b bar) fill(cells []rune, s scale) {
	end := s.at(b.end)
	for c := end + 1; b.again && c < len(cells); c++ {
		cells[c] = cellWaits
	}
	for c := s.at(b.start); c <= end; c++ {
		cells[c] = cellLives
		if !b.step.IsZero() && c <= s.at(b.step) {
			cells[c] = cellSteps
		}
	}
	if b.start.Before(s.from) {
		cells[0] = cellEdge
	}
	if !b.sign.IsZero() && !b.sign.Before(s.from) {
		cells[s.at(b.sign)] = cellSign
	}
	if b.mark != cellLives {
		cells[end] = b.mark // an end says more than the sign of trouble that came with it
	}
	if b.first {
		cells[s.at(b.trouble())] = cellFirst
	}
}

// trouble is when a member showed that something is wrong with it.
func (b bar) trouble() time.Time {
	if b.sign.IsZero() {
		return b.end
	}
	return b.sign
}

// head says when the first cause was and how wrong that may be, and above the bars the seconds
// from it; without a first cause it is the clock at both ends.
func head(r Report, bars []bar, first int, s scale, l layout) string {
	const clock = "15:04:05"
	axis := slices.Repeat([]rune{' '}, s.columns)
	put := func(at int, text string) {
		n := utf8.RuneCountInString(text)
		at = min(max(at, 0), len(axis)-n)
		for c := max(0, at-1); c < min(len(axis), at+n+1); c++ {
			if axis[c] != ' ' {
				return
			}
		}
		copy(axis[at:], []rune(text))
	}
	margin := strings.Repeat(" ", l.name+l.node+2)
	if first < 0 {
		put(0, s.from.UTC().Format(clock))
		put(s.columns-len(clock), s.to.UTC().Format(clock))
		return s.from.UTC().Format("2006-01-02") + " UTC\n" + margin + strings.TrimRight(string(axis), " ") + "\n"
	}
	at := bars[first].trouble()
	title := "first cause " + After(bars[first].after) + at.UTC().Format("2006-01-02 "+clock) + " UTC"
	if ago := r.Observed.Sub(at); !r.Observed.IsZero() && ago > 0 {
		title += " (" + duration.HumanDuration(ago) + " before)"
	}
	band := ""
	if r.Order != nil && r.Order.Skew > 0 {
		give := r.Order.Skew / 2
		title += " · clocks ±" + words.Short(give)
		if from, to := s.at(at.Add(-give)), s.at(at.Add(give)); from != to {
			band = margin + strings.Repeat(" ", from) + strings.Repeat(string(cellSkew), to-from+1) + "\n"
		}
	}
	put(s.at(at), "0")
	put(0, secondsFrom(at, s.from))
	ends := slices.Clone(bars)
	slices.SortStableFunc(ends, func(a, b bar) int { return a.end.Compare(b.end) })
	for _, b := range ends {
		if text := secondsFrom(at, b.end); !b.end.IsZero() && !b.end.After(s.to) && b.end.After(at) {
			put(s.at(b.end)-utf8.RuneCountInString(text)/2, text)
		}
	}
	return title + "\n" + margin + strings.TrimRight(string(axis), " ") + "\n" + band
}

// secondsFrom is "+4s" or "−12s".
func secondsFrom(zero, at time.Time) string {
	if d := at.Sub(zero); d < 0 {
		return "−" + duration.HumanDuration((-d).Round(time.Second))
	}
	return "+" + duration.HumanDuration(at.Sub(zero).Round(time.Second))
}

// legend names the marks that were drawn.
func legend(drawn map[rune]bool) string {
	var parts []string
	for _, m := range []struct {
		cell rune
		text string
	}{
		{cellFirst, "first"},
		{cellSteps, "trains"},
		{cellLives, "no step"},
		{cellWaits, "waits"},
		{cellSign, "trouble"},
		{cellFail, "failed"},
		{cellTaken, "taken from its node"},
		{cellWell, "ended well"},
		{cellRuns, "runs"},
		{cellEdge, "began before"},
	} {
		if drawn[m.cell] {
			parts = append(parts, string(m.cell)+" "+m.text)
		}
	}
	return strings.Join(parts, "  ") + "\n"
}

// linesOf breaks a text between words, and a word that is longer than a line wherever the line ends.
func linesOf(text string, columns int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > columns {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
		for runes := []rune(line); len(runes) > columns; runes = []rune(line) {
			lines, line = append(lines, string(runes[:columns])), string(runes[columns:])
		}
	}
	return append(lines, line)
}

func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-utf8.RuneCountInString(text)))
}
