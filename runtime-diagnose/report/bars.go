package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
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
	after             bool // sign was no earlier, and how much later is not said
	again             bool // it waits again, after a life that ended with the bar
	group             int  // of members that look alike
}

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
	// A container's log begins with it: lines that carry an earlier time carry another's, say of a former life.
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
	if n := len(out) - mostBars; n > 0 {
		rest := foldBy(out[mostBars-1:], func(bar) string { return "" })[0]
		rest.says = fmt.Sprintf("%d more ways to end or to go on", n+1)
		if slices.ContainsFunc(out[mostBars:], func(b bar) bool { return b.mark != rest.mark }) {
			rest.mark = cellLives
		}
		out = append(out[:mostBars-1], rest)
	}
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

// label is what the row is about: a member, or how many.
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
