package report

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Picture is how a timeline is drawn. The zero value draws 80 columns without colour.
type Picture struct {
	Width int // columns; 0: 80
	// ASCII draws without characters that an old terminal lacks.
	ASCII bool
	// Paint colours a text like "error", "warning" or "allowed"; nil: texts stay plain.
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
