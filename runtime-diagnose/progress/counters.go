package progress

import (
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// Counters finds progress in lines whose words no rule knows: a line of one shape that comes again and
// again, and whose first number grows each time, or the next one where those before it stay, counts something. It
// needs another number beside the counter, which is what is reported of it; lists of stack frames and ranks
// have none, or addresses.
//
// What a model is worth, measured again and again with other results, is progress as well: some programs print
// nothing else. So are requests that a server answers, and the rows of a table of results.
type Counters struct {
	series   map[uint64]*growing
	items    map[uint64]*items
	measures map[uint64]*measure
	steps    int
	answered int // requests
	work     int // of them; the others ask for health and metrics, and are answered whatever the work is like
	answer   int // number of the last line that says so
	table    table
	sheet    sheet
	grid     grid
}

// items are lines that begin with the same words and go on with others each time: what a program does with one thing
// after the other.
type items struct {
	text    uint64 // hash of the last line
	changed int
	last    int  // number of the last line
	none    bool // no work is done by them
}

// ofOthers are the words of lines that count what takes part, or how long something is waited for: no work is done by them.
var ofOthers = []string{"wait", "retr", "attempt", "tries", "sleep", "elapsed", "second", "rank", "process", "worker", "node", "device", "gpu", "thread", "pid", "host", "port", "member", "replica", "connect", "nccl"}

var seed = maphash.MakeSeed()

// item is told of every line.
func (c *Counters) item(line int, body string) {
	key := hashOf(body, itemLetters)
	i := c.items[key]
	if i == nil {
		if len(c.items) >= mostSeries {
			return
		}
		if c.items == nil {
			c.items = map[uint64]*items{}
		}
		i = &items{none: tellsOfOthers(body)}
		c.items[key] = i
	}
	if i.none {
		return
	}
	if text := maphash.String(seed, body); text != i.text {
		i.text, i.last = text, line
		i.changed++
	}
}

// tellsOfOthers says that a word of a line begins as one of them.
func tellsOfOthers(body string) bool {
	for at := range len(body) {
		if at == 0 || !isLetter(body[at-1]) {
			if slices.ContainsFunc(ofOthers, func(word string) bool { return hasPrefix(body[at:], word) }) {
				return true
			}
		}
	}
	return false
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
	enoughItems  = 12
	itemLetters  = 12 // with which lines begin that tell of one item after the other
	enoughRows   = 24 // a screen: what a program repeats while it waits is shorter, or begins alike
	sheetRows    = 5
	sheetResults = 4 // two by their last word, or four by any
	gridColumns  = 5 // between bars; without them numbers of a sentence would be some
	gridResults  = 2
	bareColumns  = 8
	bareResults  = 3
	bareRows     = 4
	mostCount    = 1e8
	shapeOf      = 64
)

// See is told of every line. curve: it gives a loss, and its counter has grown often enough to be one.
func (c *Counters) See(line int, body string) (curve bool) {
	body = body[:min(len(body), longest)]
	if len(body) < 4 || body[0] == '#' {
		return false
	}
	c.item(line, body)
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
	key := shape(body)
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

// Failure is told of a line that says what failed: its numbers may grow from line to line, as ranks do where each of
// them gives up, and nothing advances by it.
func (c *Counters) Failure(body string) {
	body = body[:min(len(body), longest)]
	if len(body) < 4 {
		return
	}
	key := shape(body)
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
// beside it that moves: a program that waits for something counts, too, and nothing else moves.
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

// SpoiltSteps is the same of the last step lines of a log, which are kept where no other counters are listened for any
// more: of those that give no loss by its name, and whose numbers were numbers while they were.
func (c *Counters) SpoiltSteps(recent []Step, lines int) (Step, bool) {
	n, key, first := 0, uint64(0), Step{}
	for _, s := range slices.Backward(recent) {
		_, rest := leadingIn(s.Text)
		spoilt := hasNone(rest) && !ofNothing(rest)
		switch {
		case n == 0 && (!spoilt || s.Line <= lines-max(8, lines/4)):
			return Step{}, false
		case s.NaN || !math.IsNaN(s.Loss):
			return Step{}, false
		case n == 0:
			key = shape(s.Text)
		case shape(s.Text) != key:
			continue
		case !spoilt:
			return first, n >= enoughSpoilt
		}
		n, first = n+1, s
	}
	before := c.series[key]
	return first, n >= enoughSpoilt && before != nil && before.sound >= enoughGrown
}

// Moves says that something is measured with other results in three lines at least, or counted up in four and never anew, or
// done with other things in twelve, or that results are listed, the last of them near the end, and that nothing is more there that
// training makes less: progress, in a log that holds no complaint.
func (c *Counters) Moves(lines int) bool {
	near := lines - max(8, lines/4)
	moves := c.sheet.last > max(0, near) || c.grid.last > max(0, near)
	for _, s := range c.series {
		moves = moves || !s.none && !s.again && s.grown > fewGrown && s.last > near
	}
	for _, i := range c.items {
		moves = moves || i.changed >= enoughItems && i.last > near
	}
	for _, m := range c.measures {
		if m.worse && m.last > near {
			return false
		}
		moves = moves || m.changed > fewGrown && m.last > near
	}
	return moves
}

// Advances says that something is counted up, or measured, to the end of a log of so many lines, and below one of them.
func (c *Counters) Advances(lines, below int) bool {
	near := max(below, lines-max(8, lines/4))
	for _, s := range c.series {
		if !s.none && s.grown >= enoughGrown && s.last > near {
			return true
		}
	}
	for _, m := range c.measures {
		if m.changed > enoughGrown && !m.worse && m.last > near {
			return true
		}
	}
	return c.answered > enoughGrown && c.answer > near || c.table.rows >= enoughRows && c.table.last > near
}
