package progress

import "strings"

// Counters finds progress in lines whose words nobody knows: a line of one shape that comes again and
// again, and whose first number grows each time, or the second where the first stays, counts something. It
// needs a second number beside the counter, which is what is reported of it; lists of stack frames and ranks
// have none, or addresses.
type Counters struct {
	series map[uint64]*growing
}

type growing struct {
	number float64
	grown  int
	last   int // number of the last line
}

// Bounds: shapes that are followed, how often a number has to grow, and the largest that counts steps: times
// in seconds are larger.
const (
	mostSeries  = 64
	enoughGrown = 6
	mostCount   = 1e8
	shapeOf     = 64
)

// See is told of every line.
func (c *Counters) See(line int, body string) {
	body = body[:min(len(body), longest)]
	if len(body) < 4 || body[0] == '#' || strings.Contains(body, "0x") || strings.Contains(body, "File \"") {
		return
	}
	number, rest, ok := firstNumber(body)
	if !ok || number >= mostCount || !hasNumber(rest) {
		return
	}
	if second, _, ok := firstNumber(rest); ok && second < mostCount {
		number += second / mostCount
	}
	if c.series == nil {
		c.series = map[uint64]*growing{}
	}
	key := shape(body)
	s := c.series[key]
	switch {
	case s == nil && len(c.series) < mostSeries:
		c.series[key] = &growing{number: number, last: line}
	case s == nil:
	case number > s.number:
		s.number, s.last = number, line
		s.grown++
	case number < s.number:
		s.number, s.last, s.grown = number, line, 0
	}
}

// Advances says that something is counted up to the end of a log of so many lines.
func (c *Counters) Advances(lines int) bool {
	for _, s := range c.series {
		if s.grown >= enoughGrown && s.last > lines-max(8, lines/4) {
			return true
		}
	}
	return false
}

// shape hashes the letters of the beginning of a line (FNV-1a).
func shape(body string) uint64 {
	hash, n := uint64(14695981039346656037), 0
	for i := 0; i < len(body) && n < shapeOf; i++ {
		if b := body[i]; b >= 'A' && b <= 'z' || b >= 0x80 {
			hash = (hash ^ uint64(b)) * 1099511628211
			n++
		}
	}
	return hash
}

// firstNumber is the first number of a line that is no part of a date, a time, a version or a word.
func firstNumber(body string) (n float64, rest string, ok bool) {
	for i := 0; i < len(body); i++ {
		if !isDigit(body[i]) {
			continue
		}
		from := i
		for i < len(body) && isDigit(body[i]) {
			n = n*10 + float64(body[i]-'0')
			i++
		}
		joined := from > 0 && strings.IndexByte(":/-._", body[from-1]) >= 0 && from > 1 && isDigit(body[from-2])
		if i < len(body) && body[i] == '/' && isDate(body[i:]) {
			n = 0
			continue
		}
		joins := i+1 < len(body) && strings.IndexByte(":/-.", body[i]) >= 0 && isDigit(body[i+1]) && body[i] != '/'
		if !joined && !joins && !(from > 0 && isLetter(body[from-1])) {
			return n, body[i:], true
		}
		n = 0
	}
	return 0, "", false
}

// isDate says that a number is the first of "26/03/01", by what follows it; 50/100 is a counter.
func isDate(rest string) bool {
	i := 1
	for i < len(rest) && isDigit(rest[i]) {
		i++
	}
	return i > 1 && i < len(rest) && rest[i] == '/'
}

func hasNumber(s string) bool { return strings.ContainsAny(s, "0123456789") }
