package logscan

import (
	"cmp"
	"math"
	"slices"
	"time"
	"unique"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// mostTold is how many sightings of a log its group has: where it first shows trouble, what a launcher
// names, and the best cause.
const mostTold = 3

// Summary is what is left of a log that prints what others have printed before: 80 bytes.
type Summary struct {
	Place    int32 // of the log
	Group    uint16
	clock    whose
	many     uint8           // lines that count steps; 255: or more
	rank     int32           // that the lines of the sightings name; -1: none
	Line     [mostTold]int32 // of the sightings
	last     int32           // line; 0: there is none
	stepLine int32           // line of the last step

	said     moment               // the first sighting
	later    [mostTold - 1]millis // the others after it
	ended    moment               // the last line that has a time
	began    millis               // the first one before it
	stepped  millis               // the last step before it; without: no time is known
	step     int64                // its number
	interval float32              // seconds; see progress.Series
	seconds  float32
}

// whose clock the times are by.
type whose uint8

const (
	programs    whose = iota
	nodesSaying       // the node's where something was seen, the program's where not
	nodes
)

// moment is nanoseconds since 1970; 0: not known.
type moment int64

func momentOf(t time.Time) moment {
	if t.IsZero() {
		return 0
	}
	return moment(t.UnixNano())
}

func (m moment) time() time.Time {
	if m == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(m)).UTC()
}

// millis is what lies between two moments, in milliseconds: at most 24 days.
type millis int32

// unknown stands for a moment that is not known.
const unknown millis = math.MinInt32

func between(from, to time.Time) millis {
	if from.IsZero() || to.IsZero() {
		return unknown
	}
	return millis(min(max(to.Sub(from).Milliseconds(), math.MinInt32+1), math.MaxInt32))
}

// after is the moment so much later.
func (m millis) after(t time.Time) time.Time {
	if m == unknown || t.IsZero() {
		return time.Time{}
	}
	return t.Add(time.Duration(m) * time.Millisecond)
}

// CallSummary is what the watchdog said in a log of which a summary is left.
type CallSummary struct {
	Place, Rank, line int32
	of                unique.Handle[callOf]
}

// callOf is what many ranks say of one collective.
type callOf struct {
	group, op, size          string
	seq, enqueued, completed int64
}

// SummaryOf is what is kept of a call: by the place of its member, with what many say kept once.
func SummaryOf(c timeline.Call, place int32) CallSummary {
	return CallSummary{place, int32(c.Rank), int32(c.Line), unique.Make(callOf{c.Group, c.Op, c.Size, c.Seq, c.Enqueued, c.Completed})}
}

// Call is what the watchdog said, without its words.
func (c CallSummary) Call() timeline.Call {
	of := c.of.Value()
	return timeline.Call{Rank: int(c.Rank), Line: int(c.line), Seq: of.seq, Enqueued: of.enqueued, Completed: of.completed, Group: of.group, Op: of.op, Size: of.size}
}

// summary is what is left of a log where others print the same.
func (h *Log) summary(group int) Summary {
	t := &h.Course
	e := Summary{
		Place: h.place, Group: uint16(group), rank: -1, last: int32(t.LastNumber), many: uint8(min(t.Steps.Count, math.MaxUint8)),
		ended: momentOf(t.last), began: between(t.last, t.first), stepped: between(t.last, t.Steps.Last.At),
		step: t.Steps.Last.Number, stepLine: int32(t.Steps.Last.Line), interval: float32(t.Steps.Interval.Seconds()), seconds: float32(t.Steps.Seconds),
	}
	if t.stamped {
		e.clock = nodes
	}
	for i, s := range h.told {
		e.Line[i] = int32(s.Item.Source.Line)
		if i == 0 {
			e.said = momentOf(s.Item.At)
		} else {
			e.later[i-1] = between(h.told[0].Item.At, s.Item.At)
		}
		if e.clock == programs && s.Item.Clock == h.Excerpt.Source.Clock() {
			e.clock = nodesSaying
		}
		if s.Item.Source.Rank != h.Excerpt.Source.Rank {
			e.rank = int32(s.Item.Source.Rank)
		}
	}
	return e
}

// Course is that of the log, as far as it is known.
func (e *Summary) Course(s evidence.Source, v *Group) Course {
	last := e.ended.time()
	t := Course{
		Source: s, Pasted: v.pasted, Ended: v.ended, first: e.began.after(last), last: last, stamped: e.clock == nodes, LastNumber: int(e.last),
		Steps: progress.Series{Count: int(e.many), Interval: time.Duration(float64(e.interval) * float64(time.Second)), Seconds: float64(e.seconds)},
	}
	if e.many > 0 {
		t.Steps.Last = progress.Step{Number: e.step, At: e.stepped.after(last), Line: int(e.stepLine), Of: -1, Loss: math.NaN(), Seconds: math.NaN()}
		t.Steps.First, t.Steps.Recent = t.Steps.Last, []progress.Step{t.Steps.Last}
	}
	return t
}

// Sightings are what the log says, without its words.
func (e *Summary) Sightings(t *Course, v *Group) []evidence.Observation {
	out := slices.Clone(v.Told)
	clock := t.Clock()
	if e.clock != programs {
		clock = t.Source.Clock()
	}
	for i := range out {
		source := t.Source
		source.Line = int(e.Line[i])
		if e.rank >= 0 {
			source.Rank, source.Role = int(e.rank), ""
		}
		at := e.said.time()
		if i > 0 {
			at = e.later[i-1].after(at)
		}
		out[i].Item = evidence.Item{ID: source.LineID(), Kind: evidence.Log, At: at, Clock: clock, Source: source, Times: 1}
	}
	return out
}

// Restore gives the summaries of pods that are known back what tells them apart: how a pod ended is
// judged together with what it said. The others stay summaries.
func (l *Logs) Restore(logs []evidence.ContainerLog, pods []control.Pod) {
	if len(l.Summaries) == 0 {
		return
	}
	at := podsByName(pods)
	calls := l.Calls
	l.Calls = nil
	l.Summaries = slices.DeleteFunc(l.Summaries, func(e Summary) bool {
		n := 0
		for n < len(calls) && calls[n].Place == e.Place {
			n++
		}
		own := calls[:n]
		calls = calls[n:]
		source := logs[l.Order[e.Place]].Source
		pod := at[source.Pod]
		if pod == nil {
			l.Calls = append(l.Calls, own...)
			return false
		}
		v := l.Groups[e.Group]
		t := e.Course(placedBy(pod, source), v)
		for _, c := range own {
			t.calls = append(t.calls, c.Call())
		}
		l.Sightings = append(l.Sightings, e.Sightings(&t, v)...)
		l.Courses = append(l.Courses, t)
		return true
	})
}

// Words gives a sighting the words that the log has for it; false: it has none.
func (h *Log) Words(of *evidence.Observation) bool {
	for _, s := range h.Sightings {
		if s.Item.ID == of.Item.ID && s.Signature.ID == of.Signature.ID {
			of.Line, of.Said, of.Item.Text = s.Line, s.Said, s.Item.Text
			if of.Facts == nil {
				of.Facts = s.Facts
			}
			return true
		}
	}
	return false
}

// Alike is the members of which no more is known than that their logs print what that of another
// member prints, the exemplar.
type Alike struct {
	Group *Group
	Logs  []Summary
}

// Alike puts the summaries that are left together, by what is known of members otherwise. A member with several logs
// is in one group only, and one that is known by another log in none.
func (l *Logs) Alike(sourceAt func(place int32) evidence.Source, known func(place string) bool) []Alike {
	left := l.Summaries
	var last string
	n := 0
	for _, e := range left {
		v, place := l.Groups[e.Group], sourceAt(e.Place).Place()
		if known(place) || v.pasted || v.attempt > 0 {
			continue
		}
		if n > 0 && place == last {
			if e.Line[0] > 0 && left[n-1].Line[0] == 0 { // the other one says nothing
				left[n-1] = e
			}
			continue
		}
		left[n], last = e, place
		n++
	}
	left = left[:n]
	l.Summaries = nil
	slices.SortFunc(left, func(a, b Summary) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Place, b.Place))
	})
	var out []Alike
	for len(left) > 0 {
		n := 1
		for n < len(left) && left[n].Group == left[0].Group {
			n++
		}
		out = append(out, Alike{l.Groups[left[0].Group], left[:n:n]})
		left = left[n:]
	}
	return out
}

// Says says that the members say what a sighting says, in whose places their exemplar is.
func (c *Alike) Says(s *evidence.Observation, in map[string]bool) bool {
	return in[c.Group.Exemplar] && c.Told(s.Signature)
}

// Told says that the members say what a signature knows.
func (c *Alike) Told(of *signature.Signature) bool {
	return slices.ContainsFunc(c.Group.Told, func(s evidence.Observation) bool { return s.Signature == of })
}
