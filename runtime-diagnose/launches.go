package diagnose

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
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
	read   int // lines of the head; -1: the log begins with no start of a program
	at     int // number of the line before that was like the first of the head
	last   int // number of the line that the last launch begins with; 0: there is one launch
	seen   int // sightings before it
	before int // lines that show training before it
}

// launched is told of every line.
func (r *logReader) launched(l *reduce.Line) {
	body := l.Body()
	n := &r.launches
	if n.read < 0 || body == "" {
		return
	}
	if n.read < len(n.head) {
		if n.head[n.read] = reduce.Shape(body); n.read == 0 {
			n.lane = l.Lane
		}
		n.read++
		if r.log.Pasted || l.Lane != n.lane || body[0] == ' ' || body[0] == '\t' || strings.HasPrefix(body, "Traceback") || n.read == 2 && n.head[0] == n.head[1] || len(r.sightings) > 0 {
			n.read = -1
		}
		return
	}
	if n.at > 0 {
		if again := l.Lane == n.lane && reduce.Shape(body) == n.head[1]; again && len(r.sightings) > n.seen {
			n.before += r.progress
			n.last, n.seen, r.progress = n.at, len(r.sightings), 0
			r.listen()
		}
		n.at = 0
	}
	if alike(body[0], n.head[0][0]) && l.Lane == n.lane && len(r.sightings) > n.seen && reduce.Shape(body) == n.head[0] {
		n.at = l.Number
	}
}

// alike says that two lines may have one shape, by their first bytes.
func alike(a, b byte) bool { return a == b || '0' <= a && a <= '9' && b == '0' }

// onlyLast ends what earlier launches said where the last one says what became of it.
func (r *logReader) onlyLast() {
	n := &r.launches
	if n.last == 0 {
		return
	}
	tells := r.progress > 0
	for _, at := range r.success {
		tells = tells || at > n.last
	}
	tells = tells || slices.ContainsFunc(r.sightings[min(n.seen, len(r.sightings)):], func(s evidence.Observation) bool {
		return !s.Over && s.Signature.Role != signature.Context
	})
	if !tells {
		r.progress += n.before
		return
	}
	for i := range r.sightings[:min(n.seen, len(r.sightings))] {
		r.sightings[i].Over = true
	}
}
