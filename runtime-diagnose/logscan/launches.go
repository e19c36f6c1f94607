package logscan

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/recovery"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// launches tells runs apart that were written into one file one after the other (nohup, a reused
// output file, a batch system that starts a job again): a program begins as it began. Where its first two lines
// come again after something went wrong, what was before is another run's. What goes wrong is no
// beginning: neither a traceback nor a line that a signature knows.
type launches struct {
	head   [2]string // the first lines with text, digits as 0
	lane   string
	read   int    // lines of the head; -1: the log begins with no start of a program
	seen   int    // sightings before the head
	raised bool   // the log holds nothing but what was raised before anything was said
	at     int    // number of the line before that was like the first of the head
	like   string // that line
	ends   string // a line like the first of the head that heads what ends a job: below it stand the numbers of what began it
	says   bool   // the first line says that something starts, and comes again at once, or the second complains: it alone is the head
	near   bool   // the two differ by a word or two, as what one logger writes: the same words have to come again
	runs   []launch
	from   int // the line that begins the one that is read, where there are several
}

// launch is one of several; the first begins with the log.
type launch struct {
	line     int // its first
	seen     int // sightings before it
	progress int // lines that show training in it, until the next one begins
}

// mostLaunches bounds how many are told apart. Of more, the second counts as the first: what became of the program is told
// by the last ones.
const mostLaunches = 256

// last is the launch that is read.
func (n *launches) last() (l launch) {
	if len(n.runs) > 0 {
		l = n.runs[len(n.runs)-1]
	}
	return l
}

// linesOfTracker is how many lines a tracker says at most when a run begins.
const linesOfTracker = 12

// launched is told of every line.
func (r *logReader) launched(l *reduce.Line) {
	body := l.Body()
	n := &r.launches
	if n.raised && r.endedAbove(l) {
		n.read, n.seen, n.raised = 0, len(r.sightings), false // below a process that ended another one begins
	}
	if recovery.BeginsTracking(body) && len(r.sightings) > n.last().seen && (len(n.runs) == 0 || l.Number-n.last().line > linesOfTracker) {
		r.launchedAt(l.Number)
		return
	}
	if n.read < 0 || body == "" || body[0] == ' ' || body[0] == '\t' { // what is indented goes on with the line before
		return
	}
	if !isLetter(body[0]) && !strings.ContainsFunc(body, unicode.IsLetter) { // a rule
		return
	}
	if n.read < len(n.head) {
		if n.head[n.read] = strings.Clone(body); n.read == 0 {
			n.lane = l.Lane
		}
		n.read++
		twice := n.read == 2 && SameStatement(n.head[0], n.head[1])
		n.says = n.read == 2 && (twice || recovery.Wrong(body) && !recovery.Mild(body)) && starts.MatchString(n.head[0])
		n.near = twice && !n.says && !sameWords(n.head[0], n.head[1])
		raised := strings.HasPrefix(body, "Traceback (") || strings.HasSuffix(body, failed)
		if r.log.Pasted || l.Lane != n.lane || raised || twice && !n.says && !n.near || len(r.sightings) > n.seen {
			n.raised, n.read = raised && n.read == 1, -1
		}
		return
	}
	if n.at > 0 {
		if l.Lane == n.lane && (n.says || n.begins(body, 1) || traced(n.head[0])) {
			if of := numbersOf(body); of != "" && of == numbersOf(n.head[1]) && !sameWords(n.like, n.head[0]) {
				n.ends = n.like
			} else {
				r.launchedAt(n.at)
			}
		}
		n.at, n.like = 0, ""
	}
	if body[0] == n.head[0][0] && l.Lane == n.lane && (len(r.sightings) > n.seen || r.worst.open) && n.begins(body, 0) && !(n.ends != "" && sameWords(body, n.ends)) {
		if !n.near && body == n.head[0] && r.endedAbove(l) {
			r.launchedAt(l.Number)
			return
		}
		n.at, n.like = l.Number, strings.Clone(body[:min(len(body), mostLineInResults)])
	}
}

// endedAbove says that the line above is the last one of an exception that ended its process.
func (r *logReader) endedAbove(l *reduce.Line) bool {
	return r.ended > 0 && r.ended == l.Number-1
}

// numbersOf are the digits of a line.
func numbersOf(line string) string {
	return strings.Map(func(c rune) rune {
		if '0' <= c && c <= '9' {
			return c
		}
		return -1
	}, line[:min(len(line), mostLineInResults)])
}

// launchedAt begins another launch with a line.
func (r *logReader) launchedAt(line int) {
	n := &r.launches
	switch len(n.runs) {
	case 0:
		n.runs = []launch{{}}
	case mostLaunches:
		n.runs = slices.Delete(n.runs, 1, 2)
	}
	last := &n.runs[len(n.runs)-1]
	last.progress = r.progress
	if len(r.sightings) > mostSightings/2 {
		r.forget(last.seen)
	}
	n.runs = append(n.runs, launch{line: line, seen: len(r.sightings)})
	r.progress = 0
	clear(r.latest)
	clear(r.bursts)
	clear(r.perSignature) // what was said often before is new of this one
	r.view.Afresh()
	r.listen()
}

// forget drops the first sightings, those of launches before the last one: where a program is started over and over, what
// the next launch says has to have room.
func (r *logReader) forget(first int) {
	r.sightings, r.said = slices.Delete(r.sightings, 0, first), slices.Delete(r.said, 0, first)
	for i := range r.launches.runs {
		r.launches.runs[i].seen = max(0, r.launches.runs[i].seen-first)
	}
	r.launches.seen = max(0, r.launches.seen-first)
	clear(r.generic)
	clear(r.wrapper)
}

// begins says that a line is like one of the head.
func (n *launches) begins(body string, at int) bool {
	if n.near {
		return sameWords(body, n.head[at])
	}
	return SameStatement(body, n.head[at])
}

// failed ends the line by which torchrun's agent heads what it tells of a script that has failed
// (https://github.com/pytorch/pytorch/blob/main/torch/distributed/elastic/multiprocessing/errors/__init__.py).
const failed = " FAILED"

// starts is the word of a program that it begins.
var starts = regexp.MustCompile(`(?i)\b(?:start(?:ing|ed)?|begin(?:ning)?|launch(?:ing|ed)?)\b`)

// SameStatement says that two lines are one with other numbers and names in it: they begin with the same word, have as
// many, and of three at least two are the same.
func SameStatement(a, b string) bool {
	words, same := 0, 0
	for a, b = a[:min(len(a), mostLineInResults)], b[:min(len(b), mostLineInResults)]; ; words++ {
		var x, y string
		x, a = word(a)
		y, b = word(b)
		switch {
		case x == "" && y == "":
			return same*3 >= words*2 && words > 0
		case x == "" || y == "" || words == 0 && x != y:
			return false
		case x == y:
			same++
		}
	}
}

// sameWords says that two lines have the same words, whatever numbers stand between them.
func sameWords(a, b string) bool {
	for {
		x, restA := word(a)
		y, restB := word(b)
		if x != y {
			return false
		}
		if x == "" {
			return true
		}
		a, b = restA, restB
	}
}

// word is the first word of a text, letters only, and what is behind it.
func word(s string) (first, rest string) {
	from := 0
	for from < len(s) && !isLetter(s[from]) {
		from++
	}
	end := from
	for end < len(s) && isLetter(s[end]) {
		end++
	}
	return s[from:end], s[end:]
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' || b >= 0x80 }

// traced is a command as a shell prints it before it runs it (set -x): no program prints its own.
func traced(line string) bool { return strings.HasPrefix(line, "+ ") }

// onlyLast ends what earlier launches said than the last one that says what became of it: the last of all does where the
// log's last line, below those that it began with, says that something is done.
func (r *logReader) onlyLast(d reduce.Digest) {
	runs := r.launches.runs
	if len(runs) == 0 {
		return
	}
	runs[len(runs)-1].progress = r.progress
	end, until := len(r.sightings), d.Last.Number+1
	done := !d.InTraceback && d.Last.Number > runs[len(runs)-1].line+1 && recovery.EndsWell(recovery.WithoutCounts(d.Last.Text))
	for i, run := range slices.Backward(runs) {
		if i == 0 || i == len(runs)-1 && (done || d.Last.Number-run.line >= linesBegun) || r.tells(run, min(run.seen, end), end, until) {
			for k := range r.sightings[:min(run.seen, end)] {
				r.sightings[k].Over = true
			}
			r.launches.from = run.line
			r.worst.open = r.worst.open && r.worst.line.Number >= run.line
			r.progress = 0
			for _, later := range runs[i:] {
				r.progress += later.progress
			}
			return
		}
		end, until = min(run.seen, end), run.line
	}
}

// linesBegun is how many lines the last launch of a file has at least that has begun: one that fails at once has said so.
const linesBegun = 6

// tells says that a launch, whose sightings are those between two and whose lines end before one, trains, ends well,
// goes wrong or just goes on.
func (r *logReader) tells(run launch, from, to, until int) bool {
	for _, at := range r.success {
		if at > run.line && at < until {
			return true
		}
	}
	return run.progress > 0 || until-run.line > linesAfterWorst || slices.ContainsFunc(r.sightings[from:to], func(s evidence.Observation) bool {
		return !s.Over && s.Signature.Role != signature.Context
	})
}
