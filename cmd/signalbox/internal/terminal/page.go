// Package terminal writes text for people: as wide as the screen, in colour where that is wanted, in the characters of the
// locale, and without what a terminal would obey. It reads no objects and knows no command. Start reading at Page.
package terminal

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Page is text for people on its way to an output: as wide as the terminal, or as COLUMNS says,
// and in ASCII where the locale knows no more. What is no terminal gets its lines whole, because
// another program reads them.
type Page struct {
	To    io.Writer
	Width int   // 0: lines are not wrapped
	Tight []int // columns that a table leaves out only where it is wider than the page, the first one first
	Short bool  // a row of a table is one line: what the last column has no room for is cut
	Least []int // how wide the columns of a table are at least; shorter: the others as wide as their cells
	code  bool  // lines that are indented by four columns are quoted, and stay as they are
	Folds bool  // a decisive line is folded, too: it is a sentence and no line of a log
}

// NewPage is a page on an output: without a width where that is no terminal.
func NewPage(to io.Writer) Page {
	if !Is(to) && os.Getenv("COLUMNS") == "" {
		return Page{To: to}
	}
	return Page{To: to, Width: Width(to)}
}

// Quoting is the page for a text that quotes lines of logs or code, indented by four columns.
func (p Page) Quoting() Page {
	p.code = true
	return p
}

// Write writes a text.
func (p Page) Write(text string) error {
	var b strings.Builder
	for line := range strings.Lines(Plainly(text, os.Getenv)) {
		text, end := strings.TrimSuffix(line, "\n"), "\n"
		if text == line {
			end = ""
		}
		plain := ansi.Strip(text)
		if p.Folds && strings.HasPrefix(plain, decisive) && ansi.StringWidth(plain) > p.Width && p.Width > 0 {
			text = wrap(text, p.Width, len(decisive))
		} else if !p.code || !indented4.MatchString(plain) || points.MatchString(plain) {
			text = Fold(text, p.Width)
		}
		b.WriteString(text + end)
	}
	_, err := io.WriteString(p.To, b.String())
	return err
}

// decisive stands before the decisive line of a diagnosis.
const decisive = "  > "

// narrowest is the least room that a wrapped line leaves for words.
const narrowest = 24

// shortest is the least room that the words of a last column leave, where they are cut, to the column that goes last: that one,
// whole, says more than their next ones.
const shortest = 16

// Fold breaks a line between words, and lets what follows hang below the words of the first part.
// Words longer than the room stay whole: names and paths are copied. Lines of logs, which are
// quoted, and pictures stay as they are.
func Fold(line string, width int) string {
	if width <= 0 || ansi.StringWidth(line) <= width || quoted.MatchString(ansi.Strip(line)) {
		return line
	}
	return wrap(line, width, hangOf(ansi.Strip(line)))
}

// wrap breaks a line between words, and lets what follows begin at a column.
func wrap(line string, width, column int) string {
	hang := strings.Repeat(" ", min(column, max(0, width-narrowest)))
	var b strings.Builder
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	b.WriteString(indent)
	at, first := len(indent), true
	for _, word := range wordRuns.FindAllString(line[len(indent):], -1) {
		text := strings.TrimRight(word, " ")
		n := ansi.StringWidth(text)
		if !first && at+n > width {
			b.WriteString("\n" + hang)
			at = len(hang)
		}
		b.WriteString(word)
		at, first = at+ansi.StringWidth(word), false
	}
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

var (
	wordRuns = regexp.MustCompile(`[^ ]+ *`)
	// quoted are lines of logs and of manifests, and the rows of pictures.
	quoted    = regexp.MustCompile(`^ *\d* │|^  > |[━─█■◆□×]{3}`)
	indented4 = regexp.MustCompile(`^ {4}\S|^ {5,}[^\d ]`)
	// points are those of diagnose --why, and what rules a cause out: sentences, however far in they begin.
	points = regexp.MustCompile(`^ {6,9}(?:[+-]\d+|no)  \S`)
	// lead is what stands before the words of a line: a number, how often, a bullet, a heading of a row.
	lead = regexp.MustCompile(`^ *(?:\d+\. |\d+ × |\[\d+\] |→ |-> |- |\S+(?: \S+)? {2,}(?:\S+(?: \S+){0,3} {2,})?)`)
)

// hangOf is the column below which a line goes on.
func hangOf(line string) int {
	if m := lead.FindString(line); m != "" && ansi.StringWidth(m) <= 44 {
		return ansi.StringWidth(m)
	}
	return len(line) - len(strings.TrimLeft(line, " "))
}

// Table is rows of cells in columns; the first row is the heading. Where it is wider than the
// page, the columns of spare are left out, and the last one wraps.
func (p Page) Table(rows [][]string, spare ...int) string {
	widths, sum := p.columns(rows, spare)
	last := len(widths) - 1
	if !p.Short && widths[last] < shortest { // of numbers or single words: below the others they would belong to no heading
		p.Width = 0
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			switch {
			case i == last:
				line.WriteString(cell)
			case widths[i] > 0:
				line.WriteString(cell + strings.Repeat(" ", max(0, widths[i]-ansi.StringWidth(cell))+2))
			}
		}
		b.WriteString(p.row(strings.TrimRight(line.String(), " "), sum-widths[last]) + "\n")
	}
	return b.String()
}

// LeftOut are the headings of the columns that a table has no room for.
func (p Page) LeftOut(rows [][]string, spare ...int) (names []string) {
	widths, _ := p.columns(rows, spare)
	for i, w := range widths[:len(widths)-1] {
		if w == 0 {
			names = append(names, rows[0][i])
		}
	}
	return names
}

// columns are how wide the columns of a table are, 0 where it is left out, and the whole table.
func (p Page) columns(rows [][]string, spare []int) (widths []int, width int) {
	widths = WidthsOf(rows)
	for i := range min(len(widths), len(p.Least)) {
		widths[i] = max(widths[i], p.Least[i])
	}
	sum := func() (n int) {
		for _, w := range widths {
			if w > 0 {
				n += w + 2
			}
		}
		return n - 2
	}
	last, whole := len(widths)-1, slices.Clone(widths)
	type out struct{ column, room int }
	var left []out
	leave := func(columns []int, room int) {
		for _, i := range columns {
			if p.Width > 0 && widths[i] > 0 && sum()-widths[last] > room {
				widths[i] = 0
				left = append(left, out{i, room})
			}
		}
	}
	if !p.Short {
		leave(spare, p.Width-2*narrowest)
		leave(p.Tight, p.Width)
		return widths, sum()
	}
	leave(spare, p.Width-min(widths[last], 2*narrowest))
	most := max(0, len(p.Tight)-1)
	leave(p.Tight[:most], p.Width-min(widths[last], narrowest))
	leave(p.Tight[most:], p.Width-min(widths[last], shortest))
	for _, o := range slices.Backward(left) { // a wide column made room for a narrow one that went before it
		if widths[o.column] = whole[o.column]; sum()-widths[last] > o.room {
			widths[o.column] = 0
		}
	}
	return widths, sum()
}

// row is a line of a table whose last cell begins at a column. Where too little room is left beside the others it stands
// below them.
func (p Page) row(line string, at int) string {
	if p.Width <= 0 || ansi.StringWidth(line) <= p.Width {
		return line
	}
	if p.Short && at <= p.Width-len("WAITS FOR") {
		return ansi.Truncate(line, p.Width, "…")
	}
	head, text := ansi.Cut(line, 0, at), ansi.Cut(line, at, ansi.StringWidth(line))
	if at > p.Width-narrowest {
		const below = 4
		head, at = strings.TrimRight(head, " ")+"\n"+strings.Repeat(" ", below), below
	}
	parts := strings.Split(Fold(text, p.Width-at), "\n")
	return head + strings.Join(parts, "\n"+strings.Repeat(" ", at))
}

// WidthsOf is how wide the columns are, by their cells.
func WidthsOf(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], ansi.StringWidth(cell), 1)
		}
	}
	return widths
}
