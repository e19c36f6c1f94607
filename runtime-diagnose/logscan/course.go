package logscan

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/familiar"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// Course is that of one log: when it began and ended, how far training got, and what
// launchers and watchdogs said of other ranks.
type Course struct {
	Source      evidence.Source
	Pasted      bool
	first, last time.Time   // of its lines; zero: they carry none
	stamped     bool        // by the node's clock, as the kubelet writes it before each line
	LastText    string      // of its last line with text, masked
	LastNumber  int         // 0: it has none
	Bad         reduce.Kept // the line of its end after which nobody can call it well; none: there is no such
	Torn        bool        // it ends within a traceback
	Quotes      bool        // it is a text about errors
	Steps       progress.Series
	losses      []float64 // over the whole run; of a gang too large for that only while it runs
	elastic     []timeline.Elastic
	calls       []timeline.Call
	Ended       bool           // it says that it ended well
	lines       familiar.Lines // of a job that has ended well: what was printed
	gap         bool           // lines of it were not read
}

// Clock names the clock of the log's times.
func (t *Course) Clock() string {
	if t.stamped {
		return t.Source.Clock()
	}
	return evidence.OwnClock(t.Source.Place())
}

// TextOf is a line of the log, where it is one that is kept.
func (t *Course) TextOf(line int) string {
	for _, c := range t.calls {
		if c.Line == line {
			return c.Text
		}
	}
	switch line {
	case t.Steps.Last.Line:
		return reduce.Mask(t.Steps.Last.Text)
	case t.LastNumber:
		return t.LastText
	}
	return ""
}

// watch is told of every line.
func (r *logReader) watch(l *reduce.Line) {
	if t := &r.course; !l.At.IsZero() {
		if t.first.IsZero() {
			t.first = l.At
		}
		t.last = l.At
	}
	r.launched(l)
	body := l.Body()
	r.seeRecord(l, body)
	r.document.See(body, !l.At.IsZero())
	r.wentOn(l.Number, body)
	r.sound.See(l.Number, body)
	if r.progress < enoughProgress || len(r.sightings) > 0 && l.Has(redact.CapitalH) && strings.Contains(body, "HTTP/") { // requests that are answered take back what was before
		if r.counters.See(l.Number, body) && r.steps.Seeks() {
			r.steps.Learn(body)
		}
	}
	if r.remember {
		r.course.print(body)
	}
	if r.elastic.See(l.Number, body); len(r.elastic.Found) > mostElastic {
		r.elastic.Found = slices.Delete(r.elastic.Found, 0, 1)
	}
	r.steps.See(l.Number, body, l.At)
}

// mostElastic bounds what one log adds about its agents: an agent writes its block when it gives up,
// once in each of its lives. The last ones are kept: the run ended with them.
const mostElastic = 64

// mostCalls bounds what one log adds about collectives: a thousand ranks that write to one log, three lines each.
const mostCalls = 4096

// readCalls reads what a suspect line says of other ranks. What was said before training went on is over.
func (r *logReader) readCalls(l reduce.Line, text string) {
	c, ok := timeline.ReadCall(text)
	if !ok {
		return
	}
	steps := r.steps.Lines()
	if steps-r.calledAt >= linesSurvived {
		r.course.calls, r.callsLeft = nil, 0
	}
	if r.calledAt = steps; len(r.course.calls) == r.share.calls {
		r.callsLeft++
		return
	}
	c.Line, c.Text = l.Number, strings.Clone(text[:min(len(text), r.share.line)])
	c.Group, c.Op, c.Size = strings.Clone(c.Group), strings.Clone(c.Op), strings.Clone(c.Size)
	r.course.calls = append(r.course.calls, c)
}

// finish closes the course of a log that was read to its end, and names the clock of every
// sighting in it.
func (r *logReader) finish(d reduce.Digest) Course {
	t := r.course
	t.Source, t.Pasted = r.log.Source, r.log.Pasted
	last := d.Last.Body()
	t.LastText, t.LastNumber = strings.Clone(last[:min(len(last), r.share.line)]), d.Last.Number
	t.Torn, t.Bad = d.InTraceback, r.badAtTheEnd(d)
	t.stamped = !t.last.IsZero()
	if !t.stamped && !r.log.Pasted {
		for _, k := range d.Lines {
			if at, ok := reduce.TimeIn(k.Text, d.Now); ok {
				if t.first.IsZero() {
					t.first = at
				}
				t.last = at
			}
		}
	}
	series := r.series
	if last, ok := notFinite(series.Recent); ok && !r.log.Pasted {
		r.spoil(last)
	} else if last, ok := r.counters.Spoilt(d.Last.Number); ok && !r.log.Pasted && !r.quotes() {
		r.spoil(last)
	}
	if last, ok := r.counters.SpoiltSteps(series.Recent, d.Last.Number); ok && !r.log.Pasted && !r.quotes() {
		r.spoil(last)
	}
	if n := len(series.Recent); n >= fewestSpoilt && !r.log.Pasted && !slices.ContainsFunc(series.Recent[n-fewestSpoilt:], func(s progress.Step) bool { return !s.LearnsNothing() }) {
		r.spoil(series.Recent[n-fewestSpoilt])
	}
	t.Steps, t.elastic = kept(series, r.share.steps), r.elastic.Found
	if r.curve {
		t.losses = r.steps.Losses()
	}
	for i := range r.sightings {
		s := &r.sightings[i]
		s.Item.Clock, s.FromEnd = t.Clock(), max(0, d.Last.Number-s.Item.Source.Line)
	}
	r.firstByElastic(t.elastic)
	return t
}

// fewestSpoilt is how many losses in a row, to the end, have to be infinite or no number.
const fewestSpoilt = 5

// notFinite is the first of the losses that are not finite to the end of a log.
func notFinite(steps []progress.Step) (progress.Step, bool) {
	if len(steps) < fewestSpoilt {
		return progress.Step{}, false
	}
	n, at := 0, -1
	for i, s := range slices.Backward(steps) {
		switch {
		case s.NaN:
			n, at = n+1, i
		case !math.IsNaN(s.Loss):
			return steps[max(at, 0)], n >= fewestSpoilt
		}
	}
	return steps[max(at, 0)], n >= fewestSpoilt
}

// spoil records losses that are not finite where no signature knew the words.
func (r *logReader) spoil(s progress.Step) {
	found := r.catalog.ByID("nan-loss")
	if found == nil || count(r.sightings, found.ID) > 0 {
		return
	}
	source := r.log.Source
	source.Line = s.Line
	text := strings.Clone(strings.TrimSpace(reduce.Mask(s.Text)))
	r.saidBy("")
	r.sightings = append(r.sightings, evidence.Observation{
		Signature: found, Line: text, Item: evidence.Item{ID: source.LineID(), Kind: evidence.Log, At: s.At, Source: source, Text: text, Times: 1},
	})
}

// elasticReport is how far above and below its heading an agent lists the failures it saw.
const elasticReport = 120

// firstByElastic: the agent of a node watches its own processes, so of two ranks in one log
// the one it names failed first, and those that it lists with SIGTERM it stopped itself.
func (r *logReader) firstByElastic(found []timeline.Elastic) {
	for _, e := range found {
		if e.Rank < 0 || e.Told() {
			continue
		}
		for i := range r.sightings {
			s := &r.sightings[i]
			apart := s.Item.Source.Line - e.Line
			if s.Signature.SaysOf() == signature.ToldToStop && apart < elasticReport && -apart < elasticReport {
				s.Over = true
			}
			if s.Item.Source.Rank == e.Rank && s.Item.Source.Role == "" && s.Item.Source.Line < e.Line {
				s.First = true
			}
		}
	}
}

// kept is a series that holds on to no more of the log than its first and last line, and of its other
// steps when the last so many were.
func kept(s progress.Series, steps int) progress.Series {
	s.First.Text, s.Last.Text = strings.Clone(s.First.Text), strings.Clone(s.Last.Text)
	s.Recent = slices.Clone(s.Recent[max(0, len(s.Recent)-steps):])
	for i := range s.Recent {
		s.Recent[i].Text = ""
	}
	return s
}

// Log is what a course shows of its member.
func (t *Course) Log() timeline.Log {
	return timeline.Log{
		Source: t.Source, Clock: t.Clock(), First: t.first, Last: t.last, LastText: t.LastText, LastNumber: t.LastNumber,
		Calls: t.calls, Steps: t.Steps,
		Losses: t.losses, Stamped: t.stamped, Ended: t.Ended,
	}
}

// ours begins a line that stands in a log for lines that were not read.
const ours = "[signalbox: "

// print notes a line of a job that has ended well.
func (t *Course) print(body string) {
	if strings.HasPrefix(body, ours) {
		t.gap = true
		return
	}
	t.lines.Add(reduce.Mask(body))
}
