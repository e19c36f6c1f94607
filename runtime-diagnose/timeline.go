package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/gang"
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
	cellSign  = '!' // first sign of trouble
	cellFirst = '◆' // the first cause
	cellFail  = '✗'
	cellWell  = '●'
	cellRuns  = '▶'
	cellSkew  = '░' // where clocks do not order
)

// narrowest is the smallest picture; mostBars bounds its rows.
const (
	narrowest = 60
	mostBars  = 14
)

// bar is one row: a member, or several that look alike.
type bar struct {
	name              string
	n                 int
	start, step, sign time.Time
	end               time.Time
	mark              rune // at its end
	says              string
	first             bool
}

// Timeline draws what became of every member: when it began, its last step, its first sign of
// trouble and its end, by the API server's clock. Members that look alike are one row. It is
// empty where nothing that was read carries a time.
func Timeline(r Result, p Picture) string {
	if p.Width == 0 {
		p.Width = 80
	}
	if p.Paint == nil {
		p.Paint = func(_, text string) string { return text }
	}
	p.Width = max(p.Width, narrowest)
	var bars []bar
	for i := range r.Members {
		if b, ok := barOf(&r.Members[i], r.Observed); ok {
			bars = append(bars, b)
		}
	}
	if len(bars) == 0 {
		return ""
	}
	name, says := p.Width*3/10, p.Width*3/10
	s := scaleOf(bars, p.Width-name-says-2)
	bars = fold(bars, s)
	var b strings.Builder
	first := slices.IndexFunc(bars, func(b bar) bool { return b.first })
	b.WriteString(head(r, bars, first, s, name))
	for _, one := range bars {
		line := fmt.Sprintf("%s %s %s", pad(one.label(), name), one.draw(s, p), clip(one.says, says))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	b.WriteString(legend(bars))
	if p.ASCII {
		return ascii.Replace(b.String())
	}
	return b.String()
}

// ascii is what stands for each character of the picture where only ASCII can be shown.
var ascii = strings.NewReplacer("━", "=", "─", "-", "◆", "#", "✗", "x", "●", "o", "▶", ">", "░", ":", "…", "~", "±", "~")

func barOf(m *gang.Member, now time.Time) (bar, bool) {
	b := bar{name: m.Place, n: 1 + m.Alike, says: m.Says, first: m.First, mark: cellFail}
	real := func(t time.Time) time.Time {
		if t.IsZero() {
			return t
		}
		return t.Add(-m.Ahead)
	}
	b.start, b.step, b.sign = real(earliest(m.Started, m.FirstLine)), real(m.Stepped), real(m.Sign)
	switch {
	case m.Failed && !m.Ended.IsZero():
		b.end = real(m.Ended)
	case !m.Done.IsZero():
		b.end, b.mark = real(m.Done), cellWell
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

// scaleOf shows the trouble, and what of the run before it fits: hours of training would
// squeeze ten seconds of dying into one column.
func scaleOf(bars []bar, columns int) scale {
	s := scale{columns: columns}
	var trouble time.Time
	for _, b := range bars {
		if s.from.IsZero() || b.start.Before(s.from) {
			s.from = b.start
		}
		if b.end.After(s.to) {
			s.to = b.end
		}
		at := b.sign
		if at.IsZero() && b.mark == cellFail {
			at = b.end
		}
		trouble = earliest(trouble, at)
		if b.first {
			trouble = earliest(trouble, b.step)
		}
	}
	if trouble.IsZero() {
		return s
	}
	after := max(s.to.Sub(trouble), 10*time.Second)
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

// fold makes one row of those that look alike; where that leaves too many, of those that say
// the same. The first one stands for all.
func fold(bars []bar, s scale) []bar {
	alike := func(b bar) string {
		return fmt.Sprint(b.first, b.mark, b.says, s.at(b.start), s.at(b.step), s.at(b.sign), s.at(b.end))
	}
	out := foldBy(bars, alike)
	if len(out) > mostBars {
		out = foldBy(bars, func(b bar) string { return fmt.Sprint(b.first, b.mark, b.says) })
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

func (b bar) label() string {
	if b.n > 1 {
		return fmt.Sprintf("%d: %s …", b.n, b.name)
	}
	return b.name
}

// draw is the row's bar, coloured cell by cell.
func (b bar) draw(s scale, p Picture) string {
	cells := slices.Repeat([]rune{' '}, s.columns)
	end := s.at(b.end)
	for c := s.at(b.start); c <= end; c++ {
		cells[c] = cellLives
		if !b.step.IsZero() && c <= s.at(b.step) {
			cells[c] = cellSteps
		}
	}
	if b.mark != cellLives {
		cells[end] = b.mark
	}
	if !b.sign.IsZero() && !b.sign.Before(s.from) {
		cells[s.at(b.sign)] = cellSign
	}
	if b.first {
		at := b.sign
		if at.IsZero() {
			at = b.end
		}
		cells[s.at(at)] = cellFirst
	}
	var out strings.Builder
	for _, c := range cells {
		switch c {
		case cellFirst, cellFail:
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

// head is the axis: when the picture begins and ends, when the first cause was, and below it
// how wrong that may be, where it takes a column or more.
func head(r Result, bars []bar, first int, s scale, name int) string {
	const clock = "15:04:05"
	axis := slices.Repeat([]rune{' '}, s.columns)
	put := func(at int, text string) {
		for i, c := range []rune(text) {
			if at+i >= 0 && at+i < len(axis) {
				axis[at+i] = c
			}
		}
	}
	put(0, s.from.UTC().Format(clock))
	put(s.columns-len(clock), s.to.UTC().Format(clock))
	title := s.to.UTC().Format("2006-01-02") + " UTC"
	if first < 0 {
		return pad(title, name) + " " + strings.TrimRight(string(axis), " ") + "\n"
	}
	at := bars[first].sign
	if at.IsZero() {
		at = bars[first].end
	}
	if c := s.at(at) - len(clock)/2; c > len(clock) && c+2*len(clock) < s.columns {
		put(c, at.UTC().Format(clock))
	}
	out := pad(title, name) + " " + strings.TrimRight(string(axis), " ") + "\n"
	if r.Order == nil || r.Order.Skew == 0 {
		return out
	}
	give := r.Order.Skew / 2
	from, to := s.at(at.Add(-give)), s.at(at.Add(give))
	if from == to {
		return out
	}
	band := strings.Repeat(" ", from) + strings.Repeat(string(cellSkew), to-from+1)
	return out + pad("clocks: ± "+short(give), name) + " " + band + "\n"
}

func legend(bars []bar) string {
	parts := []string{"━ steps", "─ lives, no step read", "! trouble", "✗ failed"}
	for _, m := range []struct {
		cell rune
		text string
	}{{cellWell, "● ended well"}, {cellRuns, "▶ runs"}} {
		if slices.ContainsFunc(bars, func(b bar) bool { return b.mark == m.cell }) {
			parts = append(parts, m.text)
		}
	}
	if slices.ContainsFunc(bars, func(b bar) bool { return b.first }) {
		parts = append([]string{"◆ first"}, parts...)
	}
	return strings.Join(parts, "  ") + "\n"
}

func pad(text string, columns int) string {
	text = clip(text, columns)
	return text + strings.Repeat(" ", columns-utf8.RuneCountInString(text))
}

func clip(text string, columns int) string {
	if utf8.RuneCountInString(text) <= columns {
		return text
	}
	return string([]rune(text)[:columns-1]) + "…"
}
