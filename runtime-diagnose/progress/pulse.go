package progress

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// Pulse is one job. The zero value has seen nothing.
type Pulse struct {
	ranks map[string]*member
}

// member is one container.
type member struct {
	source   evidence.Source
	steps    int           // lines that counted
	last     Step          // the newest one
	interval time.Duration // usual time between two of them
	seconds  float64       // of one step, by its own word or its lines; NaN: unknown
}

// See takes the end of a container's log, each line with the time the kubelet gave it
// (RFC 3339). What was seen before may be in it again. run tells one life of the container from
// the next: a new one starts anew.
func (p *Pulse) See(run string, source evidence.Source, tail []byte) {
	if p.ranks == nil {
		p.ranks = map[string]*member{}
	}
	m := p.ranks[run]
	if m == nil {
		for key, other := range p.ranks { // the life before
			if other.source.Pod == source.Pod && other.source.Container == source.Container {
				delete(p.ranks, key)
			}
		}
		m = &member{source: source, seconds: math.NaN()}
		p.ranks[run] = m
	}
	var recent []Step
	for line := range strings.Lines(string(tail)) {
		if step, ok := stepOf(line); ok && step.At.After(m.last.At) {
			recent = append(recent, step)
		}
	}
	m.add(recent)
}

// stepOf reads a line as the API server hands it out, with the time that the kubelet gave it.
func stepOf(line string) (Step, bool) {
	stamp, text, ok := strings.Cut(strings.TrimRight(line, "\n"), " ")
	if !ok {
		return Step{}, false
	}
	if i := strings.LastIndexByte(strings.TrimRight(text, "\r"), '\r'); i >= 0 {
		text = text[i+1:] // what a progress bar shows now
	}
	step, ok := Read(text)
	if !ok || step.Number < 0 {
		return Step{}, false
	}
	at, err := time.Parse(time.RFC3339Nano, stamp)
	step.At = at
	return step, err == nil
}

func (m *member) add(recent []Step) {
	if len(recent) == 0 {
		return
	}
	m.steps += len(recent)
	if !m.last.At.IsZero() {
		recent = append([]Step{m.last}, recent...)
	}
	between, seconds := pace(recent)
	if m.last = recent[len(recent)-1]; between > 0 {
		m.interval = between
	}
	if !math.IsNaN(seconds) {
		m.seconds = seconds
	}
}

// Drop forgets containers that are not among these: their pods are gone.
func (p *Pulse) Drop(present map[string]bool) {
	maps.DeleteFunc(p.ranks, func(run string, _ *member) bool { return !present[run] })
}

// Finding is what is wrong with a job that runs.
type Finding struct {
	Kind   Kind
	Source evidence.Source // the rank that stopped first, or the slowest
	Ranks  int             // how many it is true of
	Of     int             // of how many that count
	Since  time.Time       // the last step
	Text   string          // one line, with numbers
	Facts  map[string]string
}

// Kind is what is wrong.
type Kind int

// The kinds of findings.
const (
	Hang  Kind = iota + 1 // no rank advances
	Stuck                 // some ranks do not advance while others do
	Slow                  // some ranks take longer for a step than the rest
)

// Judge says what is wrong now, the gravest first; nil: nothing that can be seen.
func (p *Pulse) Judge(now time.Time, l Limits) []Finding {
	var counting, stuck []*member
	for _, key := range slices.Sorted(maps.Keys(p.ranks)) {
		m := p.ranks[key]
		if m.steps < Enough || m.interval <= 0 {
			continue // too little is known of its usual pace
		}
		counting = append(counting, m)
		if l.Stopped(now.Sub(m.last.At), m.interval) && !m.finished() {
			stuck = append(stuck, m)
		}
	}
	slices.SortStableFunc(stuck, func(a, b *member) int {
		return cmp.Or(a.last.At.Compare(b.last.At), strings.Compare(a.source.Pod, b.source.Pod))
	})
	if len(stuck) > 0 {
		return []Finding{hang(now, stuck, len(counting))}
	}
	return slow(counting, l)
}

// finished says that the last step was the last of all.
func (m *member) finished() bool { return m.last.Of > 0 && m.last.Number >= m.last.Of }

func hang(now time.Time, stuck []*member, of int) Finding {
	first := stuck[0]
	f := Finding{Kind: Hang, Source: first.source, Ranks: len(stuck), Of: of, Since: first.last.At}
	f.Facts = map[string]string{
		"step": fmt.Sprint(first.last.Number), "silent": round(now.Sub(first.last.At)), "interval": round(first.interval),
		"ranks": fmt.Sprint(len(stuck)), "counting": fmt.Sprint(of),
	}
	usual := fmt.Sprintf("usually one every %s", round(first.interval))
	if len(stuck) < of {
		f.Kind = Stuck
		f.Text = fmt.Sprintf("%s has made no step for %s, %s; %d of %d ranks that count steps stand still at step %d",
			name(first.source), round(now.Sub(first.last.At)), usual, len(stuck), of, first.last.Number)
		return f
	}
	f.Text = fmt.Sprintf("no step for %s on any of %d ranks that count, %s; the last was step %d of %s",
		round(now.Sub(first.last.At)), of, usual, first.last.Number, name(first.source))
	return f
}

func slow(all []*member, l Limits) []Finding {
	seconds := make([]float64, len(all))
	for i, m := range all {
		seconds[i] = m.seconds
	}
	usual, slow, of := l.Stragglers(seconds)
	if len(slow) == 0 {
		return nil
	}
	last := all[slow[0]]
	return []Finding{{
		Kind: Slow, Source: last.source, Ranks: len(slow), Of: of, Since: last.last.At,
		Text: fmt.Sprintf("%s takes %.3g s for a step; the median of %d ranks is %.3g s, and %d of them are more than %.3g times slower",
			name(last.source), last.seconds, of, usual, len(slow), l.withDefaults().Slow),
		Facts: map[string]string{"seconds": fmt.Sprintf("%.3g", last.seconds), "median": fmt.Sprintf("%.3g", usual), "ranks": fmt.Sprint(len(slow))},
	}}
}

func name(s evidence.Source) string {
	if s.Role != "" && s.Rank >= 0 {
		return fmt.Sprintf("%s (%s %d, node %s)", s.Pod, s.Role, s.Rank, cmp.Or(s.Node, "unknown"))
	}
	return s.Pod
}

// round writes a duration to two digits or so.
func round(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Minute).String()[:len(d.Round(time.Minute).String())-2]
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Millisecond).String()
	}
}

// Mark is equal for two sets of findings that say the same of the same ranks.
func Mark(all []Finding) string {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%d %s %d %d %s\n", f.Kind, f.Source.Pod, f.Ranks, f.Of, f.Facts["step"])
	}
	return b.String()
}

// Masked is the finding's line as it may be published.
func (f Finding) Masked() string { return reduce.Mask(f.Text) }
