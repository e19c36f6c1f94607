package diagnose

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

// mostTold is how many sightings of a log its voice has: where it first shows trouble, what a launcher
// names, and the best cause.
const mostTold = 3

// echo is what is left of a log that says what others have said before: 80 bytes.
type echo struct {
	place    int32 // of the log
	voice    uint16
	clock    whose
	many     uint8           // lines that count steps; 255: or more
	rank     int32           // that the lines of the sightings name; -1: none
	line     [mostTold]int32 // of the sightings
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

// echoCall is what the watchdog said in a log of which an echo is left.
type echoCall struct {
	place, rank, line int32
	of                unique.Handle[callOf]
}

// callOf is what many ranks say of one collective.
type callOf struct {
	group, op, size          string
	seq, enqueued, completed int64
}

func echoOf(c timeline.Call, place int32) echoCall {
	return echoCall{place, int32(c.Rank), int32(c.Line), unique.Make(callOf{c.Group, c.Op, c.Size, c.Seq, c.Enqueued, c.Completed})}
}

// call is what the watchdog said, without its words.
func (c echoCall) call() timeline.Call {
	of := c.of.Value()
	return timeline.Call{Rank: int(c.rank), Line: int(c.line), Seq: of.seq, Enqueued: of.enqueued, Completed: of.completed, Group: of.group, Op: of.op, Size: of.size}
}

// echo is what is left of a log where others speak with its voice.
func (h *heard) echo(voice int) echo {
	t := &h.track
	e := echo{
		place: h.place, voice: uint16(voice), rank: -1, last: int32(t.lastNumber), many: uint8(min(t.steps.Count, math.MaxUint8)),
		ended: momentOf(t.last), began: between(t.last, t.first), stepped: between(t.last, t.steps.Last.At),
		step: t.steps.Last.Number, stepLine: int32(t.steps.Last.Line), interval: float32(t.steps.Interval.Seconds()), seconds: float32(t.steps.Seconds),
	}
	if t.stamped {
		e.clock = nodes
	}
	for i, s := range h.told {
		e.line[i] = int32(s.Item.Source.Line)
		if i == 0 {
			e.said = momentOf(s.Item.At)
		} else {
			e.later[i-1] = between(h.told[0].Item.At, s.Item.At)
		}
		if e.clock == programs && s.Item.Clock == h.excerpt.Source.Clock() {
			e.clock = nodesSaying
		}
		if s.Item.Source.Rank != h.excerpt.Source.Rank {
			e.rank = int32(s.Item.Source.Rank)
		}
	}
	return e
}

// track is the course of the log, as far as it is known.
func (e *echo) track(s evidence.Source, v *voice) track {
	last := e.ended.time()
	t := track{
		source: s, pasted: v.pasted, ended: v.ended, first: e.began.after(last), last: last, stamped: e.clock == nodes, lastNumber: int(e.last),
		steps: progress.Series{Count: int(e.many), Interval: time.Duration(float64(e.interval) * float64(time.Second)), Seconds: float64(e.seconds)},
	}
	if e.many > 0 {
		t.steps.Last = progress.Step{Number: e.step, At: e.stepped.after(last), Line: int(e.stepLine), Of: -1, Loss: math.NaN(), Seconds: math.NaN()}
		t.steps.First, t.steps.Recent = t.steps.Last, []progress.Step{t.steps.Last}
	}
	return t
}

// sightings are what the log says, without its words.
func (e *echo) sightings(t *track, v *voice) []evidence.Observation {
	out := slices.Clone(v.told)
	clock := t.clock()
	if e.clock != programs {
		clock = t.source.Clock()
	}
	for i := range out {
		source := t.source
		source.Line = int(e.line[i])
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

// answer gives the echoes of pods that are known back what tells them apart: how a pod ended is
// judged together with what it said. The others stay echoes.
func (l *logsRead) answer(logs []Log, pods []control.Pod) {
	if len(l.echoes) == 0 {
		return
	}
	at := podsByName(pods)
	calls := l.calls
	l.calls = nil
	l.echoes = slices.DeleteFunc(l.echoes, func(e echo) bool {
		n := 0
		for n < len(calls) && calls[n].place == e.place {
			n++
		}
		own := calls[:n]
		calls = calls[n:]
		source := logs[l.order[e.place]].Source
		pod := at[source.Pod]
		if pod == nil {
			l.calls = append(l.calls, own...)
			return false
		}
		v := l.voices[e.voice]
		t := e.track(placedBy(pod, source), v)
		for _, c := range own {
			t.calls = append(t.calls, c.call())
		}
		l.sightings = append(l.sightings, e.sightings(&t, v)...)
		l.tracks = append(l.tracks, t)
		return true
	})
}

// words gives a sighting the words that the log has for it; false: it has none.
func (h *heard) words(of *evidence.Observation) bool {
	for _, s := range h.sightings {
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

// chorus is the members of which no more is known than that their logs say what that of another
// member says: its lead.
type chorus struct {
	voice  *voice
	echoes []echo
}

// alikes puts the summaries that are left together, by what is known of members otherwise. A member with several logs
// is in one group only, and one that is known by another log in none.
func (l *logsRead) alikes(sourceAt func(place int32) evidence.Source, known func(place string) bool) []chorus {
	echoes := l.echoes
	var last string
	n := 0
	for _, e := range echoes {
		v, place := l.voices[e.voice], sourceAt(e.place).Place()
		if known(place) || v.pasted || v.attempt > 0 {
			continue
		}
		if n > 0 && place == last {
			if e.line[0] > 0 && echoes[n-1].line[0] == 0 { // the other one says nothing
				echoes[n-1] = e
			}
			continue
		}
		echoes[n], last = e, place
		n++
	}
	echoes = echoes[:n]
	l.echoes = nil
	slices.SortFunc(echoes, func(a, b echo) int {
		return cmp.Or(cmp.Compare(a.voice, b.voice), cmp.Compare(a.place, b.place))
	})
	var out []chorus
	for len(echoes) > 0 {
		n := 1
		for n < len(echoes) && echoes[n].voice == echoes[0].voice {
			n++
		}
		out = append(out, chorus{l.voices[echoes[0].voice], echoes[:n:n]})
		echoes = echoes[n:]
	}
	return out
}

// says that the chorus says what a sighting says, in whose places its lead is.
func (c *chorus) says(s *evidence.Observation, in map[string]bool) bool {
	return in[c.voice.lead] && c.told(s.Signature)
}

func (c *chorus) told(of *signature.Signature) bool {
	return slices.ContainsFunc(c.voice.told, func(s evidence.Observation) bool { return s.Signature == of })
}
