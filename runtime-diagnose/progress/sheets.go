package progress

import (
	"slices"
	"strconv"
	"strings"
)

// grid is rows one below the other of as many cells, several of which are fractions: a benchmark prints what it
// measured so, and an evaluation its results. The zero value has none.
type grid struct{ cells, rows, last int }

// sheet is rows one below the other that give a name and a number each, "| loss | 6.04 |" or "value_loss 0.14", as
// reinforcement learning prints what an iteration gave. Settings look alike, but few of them are named for a result.
type sheet struct {
	rows    int
	results int // how sure it is that results are among them: fractions, by names of what is followed
	last    int // number of the last line by which it was one; 0: it is none
}

// table is rows one below the other that have as many fields, begin with another item each and end with a fraction.
type table struct {
	item   string // of the last row
	fields int
	rows   int
	last   int // number of the last row's line
}

// see is told of every line.
func (t *table) see(line int, body string) {
	last := strings.TrimRight(body, "]), ")
	if last == "" || !isDigit(last[len(last)-1]) {
		t.rows = 0
		return
	}
	fields := strings.Fields(last)
	n := len(fields)
	if n < 2 || !fraction(fields[n-1]) || strings.IndexByte(fields[0], ':') >= 0 {
		t.rows = 0
		return
	}
	if n != t.fields || fields[0] == t.item {
		t.rows = 0
	}
	t.item, t.fields, t.last = strings.Clone(fields[0]), n, line
	t.rows++
}

// see is told of every line.
func (s *sheet) see(line int, body string) {
	row := strings.TrimRight(body, " |")
	if before, _, changed := strings.Cut(row, " ("); changed && strings.HasSuffix(row, ")") {
		row = before // by how much it changed
	}
	if row == "" || !isDigit(row[len(row)-1]) && !hasNone(row[max(0, len(row)-len("inf")):]) {
		if strings.IndexByte(body, '|') < 0 || row == "" || !isLetter(row[max(0, len(row)-2)]) { // else a heading within a table
			s.rows, s.results = 0, 0
		}
		return
	}
	at := strings.LastIndexAny(row, " |:=") + 1
	name, value := strings.Trim(row[:at], " |:=>"), row[at:]
	if _, err := strconv.ParseFloat(value, 64); err != nil || name == "" || !isLetter(name[0]) || strings.IndexByte(name, ':') >= 0 {
		s.rows, s.results = 0, 0
		return
	}
	worth := ofResult(name)
	switch {
	case worth > 0 && hasNone(value):
		*s = sheet{}
		return
	case strings.IndexByte(value, '.') >= 0:
		s.results += worth
	}
	if s.rows++; s.rows >= sheetRows && s.results >= sheetResults {
		s.last = line
	}
}

// ofResult says how sure a name is that of a result: 2 where it ends with what is followed, as "value_loss", 1 where it is
// a part of it, as in "loss_gen", and in "loss_scale", which is a setting.
func ofResult(name string) int {
	for _, f := range followed {
		if len(name) >= len(f) && hasPrefix(name[len(name)-len(f):], f) {
			return 2
		}
	}
	parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("_/ .-", r) })
	if slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(followed, strings.ToLower(p)) }) {
		return 1
	}
	return 0
}

// see is told of every line.
func (g *grid) see(line int, body string) {
	const shortest = 2 * bareColumns // such a row has as many bytes at least
	if len(body) < shortest || !isDigit(body[len(body)-1]) && body[len(body)-1] != '|' {
		g.rows = 0
		return
	}
	var cells []string
	bars, enough := strings.Count(body, "|") > gridColumns, bareRows
	if bars {
		cells, enough = strings.Split(strings.Trim(body, " |"), "|"), gridResults
	} else {
		cells = strings.Fields(body)
	}
	numbers, results := 0, 0
	for _, cell := range cells {
		if cell = strings.TrimSpace(cell); fraction(cell) {
			results++
		} else if digitsAfter(strings.TrimPrefix(cell, "-")) == strings.TrimPrefix(cell, "-") && cell != "" {
			numbers++
		}
	}
	if bars && results < gridResults || !bars && (len(cells) < bareColumns || results < bareResults || (numbers+results)*4 < len(cells)*3) {
		g.rows = 0
		return
	}
	if len(cells) != g.cells {
		g.cells, g.rows = len(cells), 0
	}
	if g.rows++; g.rows >= enough {
		g.last = line
	}
}

// fraction says that a field is a number with one, as 0.25 or 8.6e-01.
func fraction(field string) bool {
	whole, part, found := strings.Cut(strings.TrimPrefix(field, "-"), ".")
	if !found || whole == "" || part == "" || len(digitsAfter(whole)) != len(whole) || !isDigit(part[0]) {
		return false
	}
	return strings.Trim(part, "0123456789e+-") == ""
}
