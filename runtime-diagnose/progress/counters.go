package progress

import (
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// Counters finds progress in lines whose words nobody knows: a line of one shape that comes again and
// again, and whose first number grows each time, or the next one where those before it stay, counts something. It
// needs another number beside the counter, which is what is reported of it; lists of stack frames and ranks
// have none, or addresses.
//
// What a model is worth, measured again and again with other results, is progress as well: some programs print
// nothing else. So are requests that a server answers, and the rows of a table of results.
type Counters struct {
	series   map[uint64]*growing
	measures map[uint64]*measure
	steps    int
	answered int // requests
	work     int // of them; the others ask for health and metrics, and are answered whatever the work is like
	answer   int // number of the last line that says so
	table    table
	sheet    sheet
	grid     grid
}

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
	item    string // of the last row
	fields  int
	rows    int
	counted int // rows below one that says of as many that one fewer is done
	last    int // number of the last row's line
}

type growing struct {
	numbers leading
	grown   int
	last    int    // number of the last line
	rest    string // of it, behind the counter
	steps   int    // of Counters.steps
	none    bool   // what is counted is no work
	again   bool   // it began anew
	spoilt  int    // lines in a row, to the last, with a number that is none
	spoiler Step   // the first of them
	sound   int    // lines before it
}

// measure is a line that names a measure of models, by its shape.
type measure struct {
	none    bool // it names none
	name    string
	results string // behind the name, in the last line
	changed int
	last    int  // number of the last line
	worse   bool // it is to become less, and is more than it was first
	first   float64
}

// measureNames are what models, and their work, are measured by in any framework.
var measureNames = []string{"accuracy", "precision", "recall", "f1", "fscore", "auc", "bleu", "rouge", "perplexity", "likelihood", "rmse", "reward", "score", "speed", "latency", "average", "top_1", "top1", "top-1"}

// followed are the names of what is measured while a model is trained: those, and what it is trained by.
var followed = slices.Concat(measureNames, lessIsBetter, []string{"objective", "objf", "iou", "dice", "psnr", "return"})

// lessIsBetter are those of them that training makes less.
var lessIsBetter = []string{"loss", "entropy", "mse", "mae", "wer", "cer"}

// notOfNumbers is what stands between a name and its number.
const notOfNumbers = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_ \t:=|()[]{},'\"/*-+>"

// Measures says that a line gives a number for one of the measures of models.
func Measures(body string) bool {
	at := -1
	for _, name := range measureNames {
		if i := strings.Index(strings.ToLower(body), name); i >= 0 && hasNumber(body[i+len(name):]) {
			at = i
		}
	}
	return at >= 0 || ofSplit.MatchString(body)
}

// ofSplit is a number with a fraction whose name begins with the part of the data that was kept apart: "val_map 0.87",
// "eval/loss=1.2". What is measured there is a result; what is measured in training is on its way.
var ofSplit = lazy.MustCompile(`(?i)\b(?:val|valid|validation|eval|test|dev)[_/]\w+["']?\W{1,12}\d+\.\d`)

// Bounds: shapes that are followed, how often a number has to grow, and the largest that counts steps: times
// in seconds are larger.
const (
	mostSeries   = 64
	enoughGrown  = 6
	fewGrown     = 2
	enoughSpoilt = 10
	enoughRows   = 24 // a screen: what a program repeats while it waits is shorter, or begins alike
	sheetRows    = 5
	sheetResults = 4 // two by their last word, or four by any
	gridColumns  = 5 // between bars; without them numbers of a sentence would be some
	gridResults  = 2
	bareColumns  = 8
	bareResults  = 3
	bareRows     = 4
	enoughDone   = 2 // rows that say how many are done, below the first: each gives its results as well
	wide         = 6 // fields of such a row
	mostCount    = 1e8
	shapeOf      = 64
)

// See is told of every line. curve: it gives a loss, and its counter has grown often enough to be one.
func (c *Counters) See(line int, body string) (curve bool) {
	body = body[:min(len(body), longest)]
	if len(body) < 4 || body[0] == '#' {
		return false
	}
	c.measure(line, body)
	c.table.see(line, body)
	c.sheet.see(line, body)
	c.grid.see(line, body)
	if answers(body) {
		if c.answered, c.answer = c.answered+1, line; strings.Contains(body, `"POST `) {
			c.work++
		}
		return false
	}
	numbers, rest := leadingIn(body)
	if numbers[0] < 0 || !hasNumber(rest) && !hasNone(rest) || strings.Contains(body, "0x") || strings.Contains(body, "File \"") {
		return false
	}
	if c.series == nil {
		c.series = map[uint64]*growing{}
	}
	key := keyOf(body)
	s := c.series[key]
	switch {
	case s != nil && s.none:
		return false
	case s == nil && len(c.series) < mostSeries:
		s = &growing{numbers: numbers, last: line, rest: strings.Clone(rest)}
		c.series[key] = s
	case s == nil:
		return false
	case slices.Compare(numbers[:], s.numbers[:]) > 0:
		s.numbers, s.last = numbers, line
		if s.grown++; s.grown > enoughGrown && s.rest != rest {
			c.steps++
			s.steps++
			_, curve = lossIn(body)
		}
		s.rest = strings.Clone(rest)
	case numbers[0] < s.numbers[0] && numbers[0]*2 > s.numbers[0]: // another rank, which writes to the same log, is that far
	case numbers[0] != s.numbers[0] || numbers[1] != s.numbers[1]:
		s.numbers, s.last, s.grown, s.again = numbers, line, 0, true
	}
	s.see(line, body, rest)
	return curve
}

// keyOf is what lines have in common that count the same.
func keyOf(body string) uint64 {
	if of := countedOf(body); of > 0 {
		return of // whatever else such a line says, it counts
	}
	return shape(body)
}

// Failure is told of a line that says what failed: its numbers may grow from line to line, as ranks do where each of
// them gives up, and nothing advances by it.
func (c *Counters) Failure(body string) {
	body = body[:min(len(body), longest)]
	if len(body) < 4 {
		return
	}
	key := keyOf(body)
	if s := c.series[key]; s != nil && !s.none {
		c.steps -= s.steps
		*s = growing{none: true}
	}
	if m := c.measures[shape(body)]; m != nil {
		*m = measure{none: true}
	}
	c.table.rows = 0
}

// answers says that a line is a server's word that it has answered a request: the request as the common log format
// has it, and a status of success behind it (https://httpd.apache.org/docs/current/logs.html#common).
func answers(body string) bool {
	_, status, found := strings.Cut(body, ` HTTP/`)
	if !found || len(status) < 6 {
		return false
	}
	version, status, found := strings.Cut(status, `" `)
	return found && len(version) <= 3 && len(status) >= 3 && (status[0] == '2' || status[0] == '3') && isDigit(status[1]) && isDigit(status[2])
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
	switch {
	case t.rows == 0:
		t.counted = 0
	case n >= wide && nextOf(t.item, fields[0]):
		t.counted++
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

// nextOf says that of as many one more is done: "39/89" behind "38/89".
func nextOf(item, next string) bool {
	done, of, found := strings.Cut(item, "/")
	more, all, _ := strings.Cut(next, "/")
	if !found || of != all {
		return false
	}
	a, errA := strconv.Atoi(done)
	b, errB := strconv.Atoi(more)
	return errA == nil && errB == nil && b == a+1
}

// fraction says that a field is a number with one, as 0.25 or 8.6e-01.
func fraction(field string) bool {
	whole, part, found := strings.Cut(strings.TrimPrefix(field, "-"), ".")
	if !found || whole == "" || part == "" || len(digitsAfter(whole)) != len(whole) || !isDigit(part[0]) {
		return false
	}
	return strings.Trim(part, "0123456789e+-") == ""
}

// countedOf is the number of which a line says at its head how many are done, as "[26/900] …"; 0: it does not.
func countedOf(body string) (of uint64) {
	if body[0] != '[' && body[0] != '(' {
		return 0
	}
	at := 1
	for at < len(body) && (isDigit(body[at]) || body[at] == ' ') {
		at++
	}
	if at == 1 || at == len(body) || body[at] != '/' {
		return 0
	}
	for at++; at < len(body) && isDigit(body[at]) && of < mostCount; at++ {
		of = of*10 + uint64(body[at]-'0')
	}
	if at == len(body) || body[at] != ']' && body[at] != ')' {
		return 0
	}
	return of
}

// measure notes results that changed.
func (c *Counters) measure(line int, body string) {
	if !hasNumber(body) {
		return
	}
	key := shape(body)
	m := c.measures[key]
	if m == nil {
		if len(c.measures) >= mostSeries {
			return
		}
		if c.measures == nil {
			c.measures = map[uint64]*measure{}
		}
		at := slices.IndexFunc(followed, func(name string) bool { return contains(body, name) })
		if m = (&measure{none: at < 0}); at >= 0 {
			m.name = followed[at]
		}
		c.measures[key] = m
	}
	if m.none {
		return
	}
	results := body
	for i := range body {
		if hasPrefix(body[i:], m.name) {
			results = body[i:]
			break
		}
	}
	if m.last = line; results != m.results {
		m.changed++
		m.results = strings.Clone(results)
		if value := strings.TrimLeft(results, notOfNumbers); slices.Contains(lessIsBetter, m.name) {
			if n, err := strconv.ParseFloat(value[:decimal(value)], 64); err == nil {
				if m.changed == 1 {
					m.first = n
				}
				m.worse = n > m.first
			}
		}
	}
}

// see notes numbers that are none any more.
func (s *growing) see(line int, body, rest string) {
	switch {
	case !hasNone(rest):
		s.sound, s.spoilt = s.sound+1, 0
	case ofNothing(rest):
	case s.spoilt == 0:
		s.spoilt, s.spoiler = 1, Step{Line: line, Text: strings.Clone(body), NaN: true}
	default:
		s.spoilt++
	}
}

// ofNothing says that the numbers of a line are zero, and one is none for that: the rate of what did not happen.
func ofNothing(rest string) bool {
	zero := false
	for _, b := range []byte(rest) {
		if isDigit(b) && b != '0' {
			return false
		}
		zero = zero || b == '0'
	}
	return zero
}

// Steps is how often something was counted on that had been counted for a while, with another number
// beside it that moves: who waits for something counts, too, and nothing else moves.
func (c *Counters) Steps() int { return c.steps }

// Work is how many requests were answered that bring work.
func (c *Counters) Work() int { return c.work }

// Spoilt is the first of the lines, to the end of a log of so many, that count on and whose numbers were numbers
// before and are infinite, or none, since.
func (c *Counters) Spoilt(lines int) (Step, bool) {
	var first Step
	for _, s := range c.series {
		if s.spoilt >= enoughSpoilt && s.sound >= enoughGrown && s.grown >= enoughGrown && s.last > lines-max(8, lines/4) &&
			(first.Line == 0 || s.spoiler.Line < first.Line) {
			first = s.spoiler
		}
	}
	return first, first.Line > 0
}

// Moves says that something is measured with other results in three lines at least, or counted up in four and never
// anew, or that results are listed, the last of them near the end, and that nothing is more there that training makes less: progress, in a log that holds no complaint.
func (c *Counters) Moves(lines int) bool {
	near := lines - max(8, lines/4)
	moves := c.sheet.last > max(0, near) || c.grid.last > max(0, near)
	for _, s := range c.series {
		moves = moves || !s.none && !s.again && s.grown > fewGrown && s.last > near
	}
	for _, m := range c.measures {
		if m.worse && m.last > near {
			return false
		}
		moves = moves || m.changed > fewGrown && m.last > near
	}
	return moves
}

// Advances says that something is counted up, or measured, to the end of a log of so many lines.
func (c *Counters) Advances(lines int) bool {
	for _, s := range c.series {
		if !s.none && s.grown >= enoughGrown && s.last > lines-max(8, lines/4) {
			return true
		}
	}
	for _, m := range c.measures {
		if m.changed > enoughGrown && !m.worse && m.last > lines-max(8, lines/4) {
			return true
		}
	}
	return c.answered > enoughGrown && c.answer > lines-max(8, lines/4) || (c.table.rows >= enoughRows || c.table.counted >= enoughDone) && c.table.last > lines-max(8, lines/4)
}

// Recoveries follows lines with a number that is none: the next one of the same shape may have numbers again.
// The zero value follows nothing.
type Recoveries struct {
	sound  map[uint64]int // shape → the last line in which all are numbers
	none   map[uint64]int // shape → lines in a row, to the last, in which one is none
	begins [4]uint64      // how the shapes begin, a bit each: most lines begin otherwise, and need not be read on
}

// beginOf is how many letters tell how a shape begins.
const beginOf = 5

// Follow begins with a line of which somebody says that a number in it is none.
func (r *Recoveries) Follow(body string) (key uint64) {
	if r.sound == nil {
		r.sound, r.none = map[uint64]int{}, map[uint64]int{}
	}
	if key = shape(body); len(r.sound) < mostSeries {
		r.sound[key], r.none[key] = 0, max(r.none[key], 1)
		begin := hashOf(body, beginOf) >> 56
		r.begins[begin>>6] |= 1 << (begin & 63)
	}
	return key
}

// See is told of every line.
func (r *Recoveries) See(line int, body string) {
	if len(r.sound) == 0 {
		return
	}
	begin := hashOf(body, beginOf) >> 56
	if r.begins[begin>>6]>>(begin&63)&1 == 0 || !hasNumber(body) {
		return
	}
	key := shape(body)
	if _, followed := r.sound[key]; !followed {
		return
	}
	if hasNone(body) {
		r.sound[key] = 0
		r.none[key]++
	} else {
		r.sound[key], r.none[key] = line, 0
	}
}

// InARow is how many lines of a shape in a row, to the last, have had a number that is none.
func (r *Recoveries) InARow(key uint64) int { return r.none[key] }

// After says that the last line of a shape is a later one, in which all numbers are numbers.
func (r *Recoveries) After(line int, key uint64) bool { return r.sound[key] > line }

// shape hashes the letters of the beginning of a line (FNV-1a). A number that is none is no word.
func shape(body string) uint64 { return hashOf(body, shapeOf) }

// hashOf is shape of so many letters.
func hashOf(body string, letters int) uint64 {
	hash, n := uint64(14695981039346656037), 0
	for i := 0; i < len(body) && n < letters; i++ {
		b := body[i]
		if !shaping[b] {
			continue
		}
		if (b|0x20 == 'i' || b|0x20 == 'n') && (i == 0 || !isWord(body[i-1])) {
			if none := noneAt(body[i:]); none > 0 {
				i += none - 1
				continue
			}
		}
		hash = (hash ^ uint64(b)) * 1099511628211
		n++
	}
	return hash
}

// shaping are the bytes that a shape is made of: letters, what stands between them in ASCII, and all beyond it.
var shaping = func() (t [256]bool) {
	for b := range t {
		t[b] = b >= 'A' && b <= 'z' || b >= 0x80
	}
	return t
}()

// noneAt is the length of "inf" or "nan" at the beginning of a text, as a word; 0: neither.
func noneAt(s string) int {
	for _, word := range []string{"infinity", "inf", "nan"} {
		if hasPrefix(s, word) && (len(s) == len(word) || !isWord(s[len(word)])) {
			return len(word)
		}
	}
	return 0
}

// hasNone says that there is a number that is none.
func hasNone(s string) bool {
	for i := 0; i+3 <= len(s); i++ {
		if b := s[i] | 0x20; (b == 'i' || b == 'n') && (i == 0 || !isWord(s[i-1])) && noneAt(s[i:]) > 0 {
			return true
		}
	}
	return false
}

// leading are the first numbers of a line that may count; -1: it has no more.
type leading [3]float64

// leadingIn reads them, and what is behind the first.
func leadingIn(body string) (n leading, rest string) {
	n = leading{-1, -1, -1}
	for i, at := 0, body; i < len(n); i++ {
		number, after, ok := firstNumber(at)
		if !ok || number >= mostCount {
			break
		}
		if n[i] = number; i == 0 {
			rest = after
		}
		at = after
	}
	return n, rest
}

// firstNumber is the first number of a line that is no part of a date, a time, a version or a word.
func firstNumber(body string) (n float64, rest string, ok bool) {
	clock := 0 // where a time of day ended
	for i := 0; i < len(body); i++ {
		if !isDigit(body[i]) {
			continue
		}
		from := i
		for i < len(body) && isDigit(body[i]) {
			n = n*10 + float64(body[i]-'0')
			i++
		}
		if percent, rest, is := percentAt(body, from, i); is {
			return percent, rest, true
		}
		if value, rest, is := namedAt(body, from, i); is {
			return value, rest, true
		}
		joined := from > 0 && strings.IndexByte(":/-._", body[from-1]) >= 0 && from > 1 && isDigit(body[from-2])
		if i < len(body) && body[i] == '/' && isDate(body[i:]) {
			n = 0
			continue
		}
		if i < len(body) && body[i] == '-' && !joined && isRange(body[i:]) {
			return n, body[i:], true
		}
		joins := i+1 < len(body) && strings.IndexByte(":/-.", body[i]) >= 0 && isDigit(body[i+1]) && body[i] != '/'
		if joined && body[from-1] == ':' {
			clock = i
		}
		if from > 1 && from-1 == clock && body[from-1] == ',' { // a fraction of a second, as logging writes it
			n = 0
			continue
		}
		if !joined && !joins && !(from > 0 && isLetter(body[from-1])) {
			return n, body[i:], true
		}
		n = 0
	}
	return 0, "", false
}

// percentAt reads a share with a fraction: "12.50%" counts, and no other number with a fraction does.
func percentAt(body string, from, end int) (n float64, rest string, ok bool) {
	if end >= len(body) || body[end] != '.' || from > 0 && (isWord(body[from-1]) || body[from-1] == '.' || body[from-1] == '-') {
		return 0, "", false
	}
	after := end + 1 + len(digitsAfter(body[end+1:]))
	if after >= len(body) || body[after] != '%' {
		return 0, "", false
	}
	n, err := strconv.ParseFloat(body[from:after], 64)
	return n, body[after+1:], err == nil
}

// namedAt reads a number with a fraction behind a name, "t = 0.487": simulations count time.
func namedAt(body string, from, end int) (n float64, rest string, ok bool) {
	if end >= len(body) || body[end] != '.' {
		return 0, "", false
	}
	name, found := strings.CutSuffix(strings.TrimRight(body[:from], " "), "=")
	name = strings.TrimRight(name, " ")
	after := end + 1 + len(digitsAfter(body[end+1:]))
	if !found || name == "" || !isLetter(name[len(name)-1]) || after == end+1 || after < len(body) && (isWord(body[after]) || body[after] == '.') {
		return 0, "", false
	}
	n, err := strconv.ParseFloat(body[from:after], 64)
	return n, body[after:], err == nil
}

// isRange says that a number is the first of "90-99", by what follows it; no date goes on like that.
func isRange(rest string) bool {
	i := 1 + len(digitsAfter(rest[1:]))
	return i > 1 && (i == len(rest) || isSpace(rest[i]))
}

// isDate says that a number is the first of "26/03/01", by what follows it; 50/100 is a counter.
func isDate(rest string) bool {
	i := 1
	for i < len(rest) && isDigit(rest[i]) {
		i++
	}
	return i > 1 && i < len(rest) && rest[i] == '/'
}

func hasNumber(s string) bool {
	for i := range len(s) {
		if isDigit(s[i]) {
			return true
		}
	}
	return false
}
