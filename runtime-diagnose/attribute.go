package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/logscan"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/subject"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// attribute finds the cause among all that was seen. Nothing replaces it afterwards.
func (d *diagnosis) attribute(ctx context.Context) {
	in := attribute.Input{
		Seen: d.sightings, Failed: d.failed, When: d.when, Members: timeline.Headcount(d.all), Spread: d.spread, IsMember: d.isMember,
		Follow:   func(lead *evidence.Observation) (evidence.Observation, bool) { return d.pointedAt(ctx, lead) },
		Category: d.categoryOf, Table: d.options.Weights,
	}
	d.decided(attribute.Decide(in))
}

func (d *diagnosis) decided(a attribute.Answer) {
	if d.answer = a; a.Cause != nil {
		d.root = &a.Cause.Observation
	}
}

// spread counts the members that say what a sighting says.
func (d *diagnosis) spread(s *evidence.Observation) int {
	members := map[string]bool{s.Item.Source.Place(): true}
	for _, item := range s.Also {
		members[item.Source.Place()] = true
	}
	delete(members, "")
	n := len(members)
	for i := range d.alike {
		if c := &d.alike[i]; c.Says(s, members) {
			n += len(c.Logs)
		}
	}
	return n
}

// categoryOf is the category of the answer that a candidate would be. An end that a program decided itself is
// an exception of Python's only where there is evidence of Python.
func (d *diagnosis) categoryOf(s *evidence.Observation) string {
	if decidedItself(s) && !d.isPython(s.Item.Source) {
		return ""
	}
	return s.Signature.Category
}

// pointedAt is what the candidate that leads points at: the member that complains of a collective that timed out is
// never the one that is missing in it, what all members but one say is said of that one, and a bare exit code says less
// than the line before it that was new.
func (d *diagnosis) pointedAt(ctx context.Context, lead *evidence.Observation) (evidence.Observation, bool) {
	switch {
	case decidedItself(lead):
		if d.State.Phase == kinds.Succeeded || !d.options.uses(newLine) {
			break
		}
		return d.unfamiliar(ctx, lead)
	case lead.Platform || lead.Item.Kind != evidence.Log:
	case lead.Signature.ID == otherWorld:
		return d.elsewhere(lead)
	case timeline.OfOthers(lead) && d.odd() != nil:
		c := d.odd()
		return d.missing(timeline.OtherSteps, &d.all[d.at[c.Source.Place()]], c.Steps.Last.Line, reduce.Mask(c.Steps.Last.Text), -1, map[string]string{"steps": fmt.Sprint(c.Steps.Last.Of)}), true
	case lead.Signature.Category == timeline.Awaited.Category && lead.Signature.Role == signature.Cascade:
		if !d.options.uses(watchdogs) {
			return d.quiet(lead)
		}
		if s, ok := d.awaited(lead); ok || d.waited != nil && len(d.waited.Behind) > 0 {
			return s, ok
		}
		if s, ok := d.elsewhere(lead); ok {
			return s, true
		}
		return d.quiet(lead)
	case timeline.OfOthers(lead), lead.Signature.DepthOf() < signature.Precise && d.spread(lead) > 1:
		return d.quiet(lead)
	}
	return evidence.Observation{}, false
}

// odd is the one member that counts to another number of steps than all others, who count to the same one: its
// share of the data, or its settings, differ, and it stops calling collectives when the others go on. Nil: none is.
func (d *diagnosis) odd() *timeline.Log {
	of := map[int64][]int{}
	for i := range d.courses {
		c := &d.courses[i]
		if at, ok := d.at[c.Source.Place()]; !ok || c.Source.Attempt > 0 || c.Steps.Last.Of <= 0 || d.all[at].Alike > 0 {
			return nil
		}
		of[c.Steps.Last.Of] = append(of[c.Steps.Last.Of], i)
	}
	if len(of) != 2 || len(d.courses) < fewestOthers {
		return nil
	}
	for _, members := range of {
		if len(members) == 1 {
			return &d.courses[members[0]]
		}
	}
	return nil
}

// quiet is the member that does not say what the others say, nor complains of another: it vanished, left
// early or hangs. Where they all say it, or not nearly all, there is none.
func (d *diagnosis) quiet(lead *evidence.Observation) (evidence.Observation, bool) {
	if !d.options.uses(quietMember) {
		return evidence.Observation{}, false
	}
	loud := map[string]bool{}
	for i := range d.sightings {
		if s := &d.sightings[i]; !s.Over && (timeline.OfOthers(s) || s.Signature == lead.Signature && logscan.SameStatement(s.Line, lead.Line)) {
			loud[s.Item.Source.Place()] = true
		}
	}
	var quiet []*timeline.Member
	n := 0
	for i := range d.all {
		m := &d.all[i]
		switch {
		case loud[m.Place]:
			n += 1 + m.Alike
		case m.Alike > 0, m.Source.Attempt > 0:
			return evidence.Observation{}, false
		case m.Read:
			quiet = append(quiet, m)
		}
	}
	if n > 0 && !slices.ContainsFunc(quiet, func(m *timeline.Member) bool { return !asksToEnd.MatchString(m.LastText) }) && len(quiet) > 1 {
		return d.lastSaid(slices.MinFunc(quiet, func(a, b *timeline.Member) int { return a.LastLine.Compare(b.LastLine) })) // all were told to stop
	}
	if len(quiet) != 1 || n == 0 || n == 1 && !timeline.OfOthers(lead) {
		return evidence.Observation{}, false
	}
	m := quiet[0]
	says := lead.Signature.Title
	if !timeline.OfOthers(lead) {
		// A library that fails alike on all others was left alone; a program may fail on all but one by itself.
		if !strings.Contains(lead.Facts["frame"], "-packages/") {
			return evidence.Observation{}, false
		}
		says = lead.Facts["type"]
	}
	if m.Failed {
		return evidence.Observation{}, false
	}
	facts := map[string]string{"loud": fmt.Sprint(n), "says": says}
	if s, ok := d.lastSaid(m); ok {
		return s, true
	}
	switch {
	case !m.Done.IsZero():
		return d.silentMember(timeline.LeftEarly, m, facts), true
	case timeline.Waits(lead) || m.Running:
		return d.silentMember(timeline.Silent, m, facts), true
	}
	return d.silentMember(timeline.Vanished, m, facts), true
}

// asksToEnd is the signal by which a process is asked to end, by its name or its number.
var asksToEnd = lazy.MustCompile(`(?i)\bSIGTERM\b|\bsignal:? ?(?:15|TERM)\b`)

// lastSaid is what the last line of a member says of its end that does not complain: that it was told to stop, or, where its log
// breaks off within a traceback, that it raised something.
func (d *diagnosis) lastSaid(m *timeline.Member) (evidence.Observation, bool) {
	known := ""
	if asksToEnd.MatchString(m.LastText) {
		known = toldToStop
	}
	for i := range d.logs.Courses {
		if t := &d.logs.Courses[i]; t.Source.Place() == m.Place && t.Source.Attempt == 0 && t.Torn {
			known = subject.Exception
		}
	}
	if d.catalog == nil || known == "" {
		return evidence.Observation{}, false
	}
	s := d.catalog.ByID(known)
	if s == nil {
		return evidence.Observation{}, false
	}
	return d.missing(s, m, m.LastNumber, m.LastText, -1, nil), true
}

// toldToStop is the signature of a process that was asked to end.
const toldToStop = "signal-received"

// silentMember is a rule of package timeline about a member that says nothing, at the last line of its log.
func (d *diagnosis) silentMember(rule *signature.Signature, m *timeline.Member, facts map[string]string) evidence.Observation {
	return d.missing(rule, m, m.LastNumber, m.LastText, -1, facts)
}

// awaited is the rank that the others waited for in a collective, where what their watchdogs say together
// names one.
func (d *diagnosis) awaited(lead *evidence.Observation) (evidence.Observation, bool) {
	by := map[int]*timeline.Member{}
	for i := range d.all {
		m := &d.all[i]
		for _, c := range m.Calls {
			by[c.Rank] = m
		}
	}
	w, ok := timeline.Compare(d.calls)
	if !ok {
		return evidence.Observation{}, false
	}
	d.waited = &w
	switch {
	case len(w.Behind) > 0:
		rule := timeline.Awaited
		if w.Desync {
			rule = timeline.Desync
		}
		m := d.memberThatSaid(w.Behind[0], by)
		var said *timeline.Call
		for i := range m.Calls {
			// Its last line, but of those that name the operation where one does: what follows repeats the number alone.
			if c := &m.Calls[i]; c.Rank == w.Behind[0] && (said == nil || c.Op != "" || said.Op == "") {
				said = c
			}
		}
		if !w.Desync && (lead.Item.Source.Rank == w.Behind[0] || m.Source.Pod == "" && said.Op == "") {
			break // what it says of itself is less than the line that complains: whatBehind says which
		}
		facts := d.waitFacts(w.Why)
		if w.Desync {
			facts["runs"] = "runs " + w.Why
			if n := len(w.Behind) - 1; n > 0 {
				facts["runs"] += fmt.Sprintf(" (%d more rank%s differ%s, too)", n, words.S(n), words.Verb(n))
			}
		}
		return d.missing(rule, m, said.Line, said.Text, w.Behind[0], facts), true
	case w.Desync: // as many on each side: which is odd is not known, that they differ is
		s := *lead
		s.Signature, s.Facts = timeline.Desync, d.waitFacts(w.Why)
		s.Facts["runs"] = "ranks run different collectives: " + w.Why
		return s, true
	}
	return evidence.Observation{}, false
}

func (d *diagnosis) waitFacts(why string) map[string]string {
	return map[string]string{"waiting": fmt.Sprint(d.waited.Ranks), "seq": fmt.Sprint(d.waited.Seq), "op": d.waited.Op, "why": why}
}

// missing is a rule of package timeline about a member.
func (d *diagnosis) missing(rule *signature.Signature, m *timeline.Member, line int, text string, of int, facts map[string]string) evidence.Observation {
	source := m.Source
	for i := range d.logs.Courses {
		if t := &d.logs.Courses[i]; t.Source.Place() == m.Place && t.Source.Attempt == 0 {
			source = t.Source
		}
	}
	source.Line = line
	if of >= 0 && len(m.Calls) > 0 {
		source.Rank, source.Role = of, ""
	}
	s := evidence.Observation{
		Signature: rule, Line: strings.TrimSpace(text),
		Item:  evidence.Item{ID: source.LineID(), Kind: evidence.Log, At: m.LastLine, Clock: m.Clock, Source: source, Text: strings.TrimSpace(text), Times: 1},
		Facts: facts,
	}
	for i := range d.sightings {
		if o := &d.sightings[i]; o.Item.ID == s.Item.ID {
			s.Item.At, s.Item.Clock = o.Item.At, o.Item.Clock
		}
	}
	return s
}

// calls are what the watchdogs of all members said.
func (d *diagnosis) calls(yield func(timeline.Call) bool) {
	for i := range d.all {
		for _, c := range d.all[i].Calls {
			if !yield(c) {
				return
			}
		}
	}
	for _, c := range d.logs.Calls {
		if !yield(c.Call()) {
			return
		}
	}
}

// memberThatSaid is the member whose watchdog spoke for a rank; by are those that are known.
func (d *diagnosis) memberThatSaid(rank int, by map[int]*timeline.Member) *timeline.Member {
	if m := by[rank]; m != nil {
		return m
	}
	i := slices.IndexFunc(d.logs.Calls, func(c logscan.CallSummary) bool { return int(c.Rank) == rank })
	return d.recall(d.logs.Calls[i].Place)
}

func (d *diagnosis) isMember(place string) bool {
	_, ok := d.at[place]
	return ok
}

func (d *diagnosis) isPython(s evidence.Source) bool {
	if d.pythons == nil {
		d.pythons = attribute.FindPythons(d.Pods, d.sightings)
	}
	return d.pythons.Has(s)
}

// otherWorld is the signature of a complaint of whose two numbers one is the member's own.
const otherWorld = "gloo-other-world-size"

// elsewhere is the one member that complains as the others do, from another call or with another number, while they all stand at
// one: where every member waits in vain for another, that is the one that has left the others' way.
func (d *diagnosis) elsewhere(lead *evidence.Observation) (evidence.Observation, bool) {
	if !d.options.uses(oddMember) {
		return evidence.Observation{}, false
	}
	fact := "frame"
	if lead.Signature.ID == otherWorld {
		fact = "read"
	}
	said := map[string]*evidence.Observation{} // by member
	ways := map[string][]string{}              // members by what they say
	for i := range d.sightings {
		s := &d.sightings[i]
		if s.Over || s.Item.Source.Attempt > 0 || s.Signature.ID != lead.Signature.ID {
			continue
		}
		place := s.Item.Source.Place()
		if k, known := d.at[place]; !known || d.all[k].Alike > 0 || s.Facts[fact] == "" || said[place] != nil {
			return evidence.Observation{}, false
		}
		said[place] = s
		ways[s.Facts[fact]] = append(ways[s.Facts[fact]], place)
	}
	if len(ways) != 2 || len(said) < fewestOthers || fact == "frame" && len(said) != len(d.all) {
		return evidence.Observation{}, false
	}
	for way, members := range ways {
		if len(members) != 1 {
			continue
		}
		s := *said[members[0]]
		if fact == "frame" {
			s.Signature = timeline.Elsewhere
			for other := range ways {
				if other != way {
					s.Facts = map[string]string{"loud": fmt.Sprint(len(said) - 1), "here": way, "there": other}
				}
			}
		}
		return s, true
	}
	return evidence.Observation{}, false
}
