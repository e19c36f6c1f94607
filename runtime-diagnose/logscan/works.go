package logscan

import (
	"slices"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/recovery"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// How many lines of work to the end of a log show that what was raised, or only said, above them ended nothing. Below
// what does end a run stand the frames of a stack, warnings, and what trackers, launchers and batch systems tell of the
// end: in none of 539 logs of failures so many lines of anything else.
const (
	linesOfWork     = 10
	linesOfWorkSaid = 8
)

// linesOfFrame is how many lines a message in a frame has at most: launchers explain at length what they miss
// (https://github.com/open-mpi/ompi/blob/v4.1.x/orte/mca/rmaps/base/help-orte-rmaps-base.txt).
const linesOfFrame = 60

// work is the lines of work that a log ends with.
type work struct {
	from  int // the line below the last complaint
	lines int
}

// worksOn is the work that a log ends with.
func (r *logReader) worksOn(d reduce.Digest) (w work) {
	if r.failed || r.log.Pasted || d.InTraceback {
		return w
	}
	next, from := d.Last.Number+1, len(d.Lines)
	for at := len(d.Lines) - 1; at >= 0; at-- {
		l := &d.Lines[at]
		if !l.Meets(next) {
			break // lines between were not kept
		}
		if b := r.lineBelow(d, at); b.ends || b.wrong || r.complainsAt(l.Number) || r.saysAgain(l.Text, "") {
			break
		}
		next, from = l.Number, at
	}
	w.from = next
	last := ""
	for _, l := range d.Lines[belowFrame(d, from):] {
		text := reduce.Written(l.Text)
		if recovery.Works(text) && !sameWords(text, last) { // a program that waits says the same again
			w.lines, last = w.lines+1, text
		}
	}
	return w
}

// complainsAt says that a complaint was seen in a line that is not over yet.
func (r *logReader) complainsAt(line int) bool {
	return slices.ContainsFunc(r.sightings, func(s evidence.Observation) bool {
		return s.Item.Source.Line == line && !s.Over && !s.Mild && s.Signature.Role != signature.Context
	})
}

// belowFrame is the first of kept lines from one on that stands below a message between two rules which goes on there.
func belowFrame(d reduce.Digest, from int) int {
	for above := from - 1; above >= max(0, from-linesOfFrame); above-- {
		rule := reduce.Written(d.Lines[above].Text)
		if !ruled(rule) {
			continue
		}
		for at := from; at < min(len(d.Lines), from+linesOfFrame); at++ {
			if reduce.Written(d.Lines[at].Text) == rule {
				return at + 1
			}
		}
		break
	}
	return from
}

// outlived says that a complaint stands above the work that a log ends with: its process has outlived it, or another
// one of its script works. What asks a process to end, and numbers that are none, are another matter.
func (r *logReader) outlived(i int, w work) bool {
	s, wanted := &r.sightings[i], linesOfWork
	if !s.Raised {
		wanted = linesOfWorkSaid
	}
	return w.lines >= wanted && s.Item.Source.Line < w.from && !s.Signature.Lasts() && s.Signature.SaysOf() != signature.ToldToStop
}
