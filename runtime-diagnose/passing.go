package diagnose

import (
	"regexp"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// passing follows lines that say themselves that the program goes on: it tries again, skips
// or only warns. Where training advanced after such a line, it was right. Nothing is taken
// on trust: without steps after it the line counts like any other.
type passing struct {
	waiting []opened
	passed  []int    // sightings that training left behind
	texts   []int    // those of passed that nobody reported
	last    []opened // the sightings of one line
	near    int      // lines behind the last sighting that may still announce that it is tried again
}

// announcedWithin is how many lines below an error a program says that it tries again.
const announcedWithin = 2

// proof is what training that goes on proves of what stands around a sighting.
type proof int

const (
	nothing     proof = iota
	survived          // the program went on, as it had said
	notReported       // a text spoke of an error that nobody had
)

// sighted is told of every sighting before it is kept, and of what stands around it.
func (p *passing) sighted(l reduce.Line, sighting int, around proof) {
	one := opened{sighting: sighting, line: l.Number, need: stepsAfter, proves: around}
	if l.Trace != nil || around != nothing {
		one.need = stepsAfterException
	}
	if len(p.last) > 0 && p.last[0].line != l.Number || p.near == 0 {
		p.last = p.last[:0]
	}
	p.near = 0
	if around != nothing || l.Trace == nil && saysItGoesOn(l.Body()) {
		p.waiting = append(p.waiting, one)
		return
	}
	one.need = stepsAfterAny
	p.waiting = append(p.waiting, one)
	one.need = stepsAfter
	if l.Trace != nil {
		one.need = stepsAfterException
	}
	p.last, p.near = append(p.last, one), announcedWithin
}

// announce is told of every line: one close below the last sighting may announce another try. It says
// whether this one does.
func (p *passing) announce(text string) bool {
	if p.near == 0 {
		return false
	}
	p.near--
	if !goesOn.MatchString(text) {
		return false
	}
	p.near = 0
	p.waiting = append(p.waiting, p.last...)
	return true
}

type opened struct {
	sighting, line int
	steps, need    int
	proves         proof
}

// How many lines that show training have to follow: one may be an echo of the step that failed. After
// an exception that somebody caught it takes more: where ranks write into one log, the others go on for
// a while without the one that failed.
const (
	stepsAfter          = 2
	stepsAfterException = 8
	stepsAfterAny       = 24 // where nobody said that the program goes on: no rank can take so many without another
)

func (p *passing) open() bool { return len(p.waiting) > 0 }

func (p *passing) advance(line int) {
	var rest []opened
	for _, o := range p.waiting {
		if line > o.line {
			o.steps++
		}
		if o.steps >= o.need {
			p.passed = append(p.passed, o.sighting)
			if o.proves == notReported {
				p.texts = append(p.texts, o.sighting)
			}
			continue
		}
		rest = append(rest, o)
	}
	p.waiting = rest
}

// goesOn are the words of a retry that is still to come, not of one that was the last
// ("Max retries exceeded"), and of a sample that is left out.
var goesOn = regexp.MustCompile(`(?i)\b(?:re-?try(?:ing)?|re-?attempt\w*|still trying|try(?:ing)? again|attempt \d+ ?(?:of|/) ?\d+|fall(?:ing)? back|skipp(?:ing|ed)|ignor(?:ing|ed)|reconnect\w*|thrown while requesting|failed to allocate \S+ \(\d+ bytes\) from device)\b`)

// skips says that a value was left out, not used.
var skips = regexp.MustCompile(`(?i)\bskip(?:ping|ped|s)?\b`)

// mildLevel is a level below error at the head of a line, as logging, glog, c10d and logr
// print it.
var mildLevel = regexp.MustCompile(`^[\[\s]{0,3}[WI](?:\d{3,4} | \S+\.(?:cc|cpp|cu|py):\d+\] |\d* ?\w+\.(?:cpp|cc|cu):\d+\])|^(?:[^\s:]{1,40}[\s:|-]+){0,6}?\W?(?:WARN(?:ING)?|INFO|DEBUG)\b`)

// quoted is text of the data: samples that are shown beside the metrics.
var quoted = regexp.MustCompile(`(?i)^\W{0,4}(?:prompt|question|instruction|answer|response|completion|generated(?: text)?(?: at step \d+)?|user|assistant|reference|(?:sample|example|document) #?\d{1,9}\W?(?: ?\(?[\w ]{1,30}\)?)?)\W{0,3}: `)

// saysItGoesOn is a line that announces no end.
func saysItGoesOn(text string) bool {
	if goesOn.MatchString(text) || quoted.MatchString(text) {
		return true
	}
	return mild(text)
}

// mild is a line that its program calls less than an error. NCCL calls its errors WARN.
func mild(text string) bool {
	return mildLevel.MatchString(text[:min(len(text), 160)]) && !strings.Contains(text, "NCCL WARN")
}
