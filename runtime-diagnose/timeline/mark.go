package timeline

import (
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// nearEnd is how long before its container's end a line may stand and still be why it ended:
// tearing down a process with its communicators takes that long, seldom longer.
const nearEnd = 2 * time.Minute

// Mark gives the sightings back with Explained and Follower set where the members show it, and says what it
// made of each member. What it is given stays as it is. Passes that are named are left out: explain-ends,
// follow-told, follow-lost, follow-later.
func Mark(seen []evidence.Observation, members []Member, clocks *Clocks, without ...string) ([]evidence.Observation, Marks) {
	m := newMarker(slices.Clone(seen), members, clocks)
	m.without = without
	marks := m.mark()
	return m.seen, marks
}

func newMarker(seen []evidence.Observation, members []Member, clocks *Clocks) *marker {
	m := &marker{seen: seen, clocks: clocks, at: map[string]*about{}}
	for i := range members {
		a := &about{Member: &members[i]}
		m.all = append(m.all, a)
		m.at[a.Place] = a
	}
	for i := range seen {
		if a := m.at[seen[i].Item.Source.Place()]; a != nil {
			m.learn(a, i)
		}
	}
	return m
}

func (m *marker) mark() Marks {
	for _, a := range m.all {
		if !a.lost { // no member was gone: the wire, or what drives it here, is the cause
			a.own, a.wire = append(a.own, a.wire...), nil
		}
		m.splitOwn(a)
	}
	for _, pass := range []struct {
		name string
		mark func()
	}{{"explain-ends", m.explainEnds}, {"follow-told", m.followTold}, {"follow-lost", m.followLost}, {"follow-later", m.followLater}} {
		if !slices.Contains(m.without, pass.name) {
			pass.mark()
		}
	}
	out := Marks{States: map[string]State{}}
	for _, a := range m.all {
		out.States[a.Place] = State{Own: len(a.own) > 0, Lost: a.lost, Told: a.told, First: a.first(), Sign: a.sign}
	}
	return out
}

// Marks is what Mark made of the members.
type Marks struct {
	States map[string]State // by place
}

// State is one member in short.
type State struct {
	Own   bool   // it names a cause of its own
	Lost  bool   // it says that another went away, close before its end
	Told  bool   // it was told to stop
	First Moment // its first sign of trouble, or its end
	Sign  Moment // its first sign of trouble
}

type marker struct {
	seen   []evidence.Observation
	clocks *Clocks
	all    []*about
	at     map[string]*about
	asked  int // how often two moments were compared

	without []string // passes
}

// about is what the sightings say of one member.
type about struct {
	*Member
	index   []int
	own     []int  // sightings of causes of its own
	wire    []int  // sightings that go back to another one that was gone
	lost    bool   // it says that another went away or did not come, close before its end
	lostAt  Moment // when it first said so; zero: unknown
	told    bool   // it says that it was told to stop
	stopped bool   // and that was after others were in trouble
	exit    []int  // sightings that only say how it ended
	sign    Moment // its first sign of trouble
	explain bool   // something says more about its end than the end itself
}

// splitOwn moves what a member says of itself well after it said that another was gone to
// what it says of that: a last write that fails, a clean-up that trips.
func (m *marker) splitOwn(a *about) {
	if a.lostAt.At.IsZero() {
		return
	}
	var own []int
	for _, i := range a.own {
		if m.gap(a.lostAt, momentOf(&m.seen[i])) > lag {
			a.wire = append(a.wire, i)
			continue
		}
		own = append(own, i)
	}
	a.own = own
}

func live(s *evidence.Observation) bool {
	return !s.Over && !s.Signature.Weak && s.Signature.Role != signature.Context
}

// own is a cause that a member names as its own.
func own(s *evidence.Observation) bool {
	return live(s) && s.Signature.Role == signature.Root && s.Signature.DepthOf() > signature.Symptom && !s.Mild && !OfOthers(s)
}

// OfOthers is a complaint about other members: they went away, or did not come in time. By
// itself it says nothing about the member that makes it.
func OfOthers(s *evidence.Observation) bool {
	return live(s) && (s.Signature.SaysOf() == signature.Waited || s.Signature.Role == signature.Cascade)
}

// ofWires is a failure of the connection between two members. Both ends report one alike,
// whichever of them it was, and so does the end that is left when the other one died.
func ofWires(s *evidence.Observation) bool {
	return s.Signature.SaysOf() == signature.PeerLost && own(s)
}

// toldToStop is an end that was asked for from outside.
func toldToStop(s *evidence.Observation) bool {
	return live(s) && s.Signature.SaysOf() == signature.ToldToStop
}

func endOnly(s *evidence.Observation) bool {
	return s.Item.Kind == evidence.Exit && s.Signature.DepthOf() == signature.Symptom
}

func momentOf(s *evidence.Observation) Moment {
	return Moment{Clock: s.Item.Clock, At: s.Item.At, Since: s.Item.Carried}
}

func (m *marker) learn(a *about, i int) {
	s := &m.seen[i]
	a.index = append(a.index, i)
	if !live(s) {
		return
	}
	switch {
	case endOnly(s):
		a.exit = append(a.exit, i)
		a.told = a.told || toldToStop(s)
	case ofWires(s):
		a.wire = append(a.wire, i)
	case own(s):
		a.own = append(a.own, i)
	case OfOthers(s):
		if a.near(s) {
			a.lost = true
			if at := momentOf(s); a.lostAt.At.IsZero() || !at.At.IsZero() && at.At.Before(a.lostAt.At) {
				a.lostAt = at
			}
		}
	case toldToStop(s):
		a.told = true
	}
	if endOnly(s) || s.Signature.Role == signature.Confirmation {
		return
	}
	if !a.near(s) {
		return
	}
	a.explain = true
	if at := momentOf(s); !at.At.IsZero() && (a.sign.At.IsZero() || at.At.Before(a.sign.At)) && !s.Mild {
		a.sign = at
	}
}

// near says that a sighting is close enough to its member's end to have to do with it.
// Without times that can be compared there is no telling, and then it has.
func (a *about) near(s *evidence.Observation) bool {
	end := a.Ended
	if end.IsZero() || evidence.IsOwnClock(s.Item.Clock) {
		end = a.LastLine
	}
	return end.IsZero() || s.Item.At.IsZero() || s.Item.Source.Attempt > 0 || end.Sub(s.Item.At) <= nearEnd
}

// explainEnds: how a container ended says less than why, where its own log says why. That
// holds for every exit code: the log was written before the end.
func (m *marker) explainEnds() {
	for _, a := range m.all {
		if !a.explain {
			continue
		}
		for _, i := range a.exit {
			m.seen[i].Explained = true
		}
	}
}

// teardown is how long a container may live on after the process in it that failed: a launcher
// gives the others 30 seconds before it kills them (PyTorch's agent, "death signal"). Where a
// signal ended the container, its first process was the one that died, and lag is enough.
const (
	teardown = 35 * time.Second
	lag      = 5 * time.Second
)

func (a *about) end() Moment { return Moment{Clock: a.Clock, At: a.Ended} }

// first is a member's first sign of trouble, or its end.
func (a *about) first() Moment {
	if a.sign.At.IsZero() || (!a.Ended.IsZero() && a.Ended.Before(a.sign.At)) {
		return a.end()
	}
	return a.sign
}

// followTold: SIGTERM is what the members left over get when one has failed, from the
// operator or the launcher. A member that was told to stop goes behind one that ended by itself,
// unless it surely was the first to go.
func (m *marker) followTold() {
	free := m.earliest(func(a *about) bool { return a.Failed && !a.told && !a.lost })
	lost := m.earliest(func(a *about) bool { return a.lost && !a.first().At.IsZero() })
	for _, a := range m.all {
		if !a.told || len(a.own) > 0 {
			continue
		}
		// Whom the others miss is gone before they notice, but for the time it takes to end.
		if !slices.ContainsFunc(free, func(u *about) bool { return m.order(a.first(), u.first()) >= 0 }) &&
			!slices.ContainsFunc(lost, func(l *about) bool { return m.gap(l.first(), a.first()) > lag }) {
			continue
		}
		a.stopped = true
		for _, i := range a.index {
			// It was asked for after others were in trouble: it explains nothing.
			if s := &m.seen[i]; toldToStop(s) {
				s.Follower, s.Explained = true, true
			}
		}
	}
}

// followLost: a member that complains of others goes behind every one that went in another way and
// not surely later: one did go, and the one that complains says that it was another.
func (m *marker) followLost() {
	led := m.earliest(func(u *about) bool {
		return len(u.own) > 0 || u.Failed && !u.lost && !u.stopped && !m.explained(u)
	})
	for _, a := range m.all {
		if !a.lost || len(a.own) > 0 || !slices.ContainsFunc(led, func(u *about) bool { return u != a && m.gap(a.first(), u.first()) <= teardown }) {
			continue
		}
		for _, i := range a.index {
			if s := &m.seen[i]; OfOthers(s) || slices.Contains(a.wire, i) {
				s.Follower = true
			}
		}
	}
}

// mostLeaders bounds how many members are tried as the one that others follow: the first few decide. A
// gang may have ten thousand, and each of them asks.
const mostLeaders = 16

// earliest are the first few of some members by their first sign of trouble; those of which it is not known
// when it was come first.
func (m *marker) earliest(which func(*about) bool) []*about {
	var out []*about
	for _, a := range m.all {
		if which(a) {
			out = append(out, a)
		}
	}
	slices.SortStableFunc(out, func(a, b *about) int { return a.first().At.Compare(b.first().At) })
	return out[:min(len(out), mostLeaders)]
}

func (m *marker) order(a, b Moment) int {
	m.asked++
	return m.clocks.Order(a, b)
}

func (m *marker) gap(a, b Moment) time.Duration {
	m.asked++
	return m.clocks.Gap(a, b)
}

// explained says that a member's end counts for nothing.
func (m *marker) explained(a *about) bool {
	return len(a.exit) > 0 && !a.explain && m.seen[a.exit[0]].Explained
}

// followLater: a member that had failed for a reason of its own before another showed any
// sign of trouble was not brought down by it. The same error is one event, however many say
// it, and so follows nothing; and a lost node is reported late, by its silence.
func (m *marker) followLater() {
	type leader struct {
		a    *about
		done Moment
	}
	var leaders []leader
	for _, a := range m.all {
		if done := m.doneAt(a); !done.At.IsZero() {
			leaders = append(leaders, leader{a, done})
		}
	}
	slices.SortStableFunc(leaders, func(x, y leader) int { return x.done.At.Compare(y.done.At) })
	leaders = leaders[:min(len(leaders), mostLeaders)]
	for _, l := range leaders {
		for _, b := range m.all {
			if b == l.a || b.first().At.IsZero() || m.order(l.done, b.first()) >= 0 {
				continue
			}
			for _, i := range b.index {
				s := &m.seen[i]
				if s.Signature.Category == "node-lost" || m.sameAs(l.a, s) {
					continue
				}
				s.Follower = true
			}
		}
	}
}

// latest is the latest that a sighting can have been: its time, and of a line without one the last time in its log
// below it, else the end of its member.
func (a *about) latest(s *evidence.Observation) Moment {
	switch at := momentOf(s); {
	case at.Since && a.LastNumber > s.Item.Source.Line && a.LastLine.After(at.At):
		return Moment{Clock: at.Clock, At: a.LastLine}
	case at.Since && a.Failed && !a.Ended.IsZero():
		return a.end()
	default:
		return at
	}
}

func (m *marker) sameAs(a *about, s *evidence.Observation) bool {
	return slices.ContainsFunc(a.own, func(i int) bool { return m.seen[i].Signature.ID == s.Signature.ID })
}

// doneAt is when a member had failed for a reason of its own; the zero moment if it has not,
// or if another may have brought it there: it first says that another went away.
func (m *marker) doneAt(a *about) Moment {
	if len(a.own) == 0 || !a.Failed && !a.Ended.IsZero() || a.Running {
		return Moment{}
	}
	var last Moment
	precise := false
	for _, i := range a.own {
		s := &m.seen[i]
		if at := a.latest(s); a.near(s) && at.At.After(last.At) {
			last = at
		}
		precise = precise || s.Signature.DepthOf() >= signature.Precise
	}
	if a.lost && !precise {
		return Moment{}
	}
	if last.At.IsZero() {
		last = a.end()
	}
	if !a.Ended.IsZero() && last.At.After(a.Ended) {
		last = a.end()
	}
	return last
}
