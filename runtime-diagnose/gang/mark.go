package gang

import (
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/rank"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// nearEnd is how long before its container's end a line may stand and still be why it ended:
// tearing down a process with its communicators takes that long, seldom longer.
const nearEnd = 2 * time.Minute

// Mark sets Explained and Follower on sightings, where the members show it, and says what it
// made of each member.
func Mark(seen []rank.Sighting, members []Member, clocks *Clocks) Marks {
	m := &marker{seen: seen, clocks: clocks, at: map[string]*about{}}
	for i := range members {
		a := &about{Member: &members[i]}
		m.all = append(m.all, a)
		m.at[a.Place] = a
	}
	for i := range seen {
		if a := m.at[PlaceOf(seen[i].Item.Source)]; a != nil {
			m.learn(a, i)
		}
	}
	m.explainEnds()
	m.doubtUnread()
	m.followTold()
	m.followLater()
	out := Marks{Unread: m.unread, States: map[string]State{}}
	for _, a := range m.all {
		out.States[a.Place] = State{Own: len(a.own) > 0, Lost: a.lost, Told: a.told, First: a.first()}
	}
	return out
}

// Marks is what Mark made of the members.
type Marks struct {
	// Unread are members that ended as others did, but whose log was not read: theirs may hold
	// the cause.
	Unread []string
	States map[string]State // by place
}

// State is one member in short.
type State struct {
	Own   bool   // it names a cause of its own
	Lost  bool   // it says that another went away, close before its end
	Told  bool   // it was told to stop
	First Moment // its first sign of trouble, or its end
}

type marker struct {
	seen   []rank.Sighting
	clocks *Clocks
	all    []*about
	at     map[string]*about
	unread []string
}

// about is what the sightings say of one member.
type about struct {
	*Member
	index   []int
	own     []int  // sightings of causes of its own
	lost    bool   // it says that another went away, close before its end
	told    bool   // it says that it was told to stop
	exit    []int  // sightings that only say how it ended
	sign    Moment // its first sign of trouble
	explain bool   // something says more about its end than the end itself
}

func live(s *rank.Sighting) bool {
	return !s.Over && !s.Signature.Weak && s.Signature.Role != signature.Context
}

// own is a cause that a member names as its own.
func own(s *rank.Sighting) bool {
	return live(s) && s.Signature.Role == signature.Root && s.Signature.DepthOf() > signature.Symptom && !s.Mild
}

// toldToStop is an end that somebody else asked for.
func toldToStop(s *rank.Sighting) bool {
	return live(s) && s.Signature.Category == "sigterm-preempted" && s.Signature.DepthOf() == signature.Symptom
}

func endOnly(s *rank.Sighting) bool {
	return s.Item.Kind == evidence.Exit && s.Signature.DepthOf() == signature.Symptom
}

func momentOf(s *rank.Sighting) Moment { return Moment{s.Item.Clock, s.Item.At} }

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
	case own(s):
		a.own = append(a.own, i)
	case s.Signature.Role == signature.Cascade:
		a.lost = a.lost || a.near(s)
	case toldToStop(s):
		a.told = true
	}
	if endOnly(s) || s.Signature.Role == signature.Confirmation {
		return
	}
	a.explain = a.explain || a.near(s)
	if at := momentOf(s); !at.At.IsZero() && (a.sign.At.IsZero() || at.At.Before(a.sign.At)) && !s.Mild {
		a.sign = at
	}
}

// near says that a sighting is close enough to its member's end to have to do with it.
// Without times that can be compared there is no telling, and then it has.
func (a *about) near(s *rank.Sighting) bool {
	end := a.Ended
	if end.IsZero() || strings.HasPrefix(s.Item.Clock, ownPrefix) {
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

// doubtUnread: a member whose log was not read and that ended with the same code as members
// who say that another went away is most likely one more of them, unless it surely ended
// first. Taking it for the cause would be a guess by absence.
func (m *marker) doubtUnread() {
	lost := map[int32]bool{}
	for _, a := range m.all {
		if a.lost && len(a.own) == 0 && a.Failed {
			lost[a.ExitCode] = true
		}
	}
	for _, a := range m.all {
		if a.Read || !a.Failed || a.explain || len(a.exit) == 0 || !lost[a.ExitCode] || m.surelyFirst(a) {
			continue
		}
		m.unread = append(m.unread, a.Place)
		for _, i := range a.exit {
			m.seen[i].Explained = true
		}
	}
}

func (a *about) end() Moment { return Moment{a.Clock, a.Ended} }

// surelyFirst says that a member ended before any other showed a sign of trouble or ended.
func (m *marker) surelyFirst(a *about) bool {
	if a.Ended.IsZero() {
		return false
	}
	others := false
	for _, b := range m.all {
		if b == a || !b.Failed && b.sign.At.IsZero() {
			continue
		}
		others = true
		if m.clocks.Order(a.end(), b.first()) >= 0 {
			return false
		}
	}
	return others
}

// first is a member's first sign of trouble, or its end.
func (a *about) first() Moment {
	if a.sign.At.IsZero() || (!a.Ended.IsZero() && a.Ended.Before(a.sign.At)) {
		return a.end()
	}
	return a.sign
}

// followTold: SIGTERM is what the members left over get when one has failed, from the
// operator or the launcher. Who was told to stop goes behind a member that ended by itself,
// unless it surely was the first to go.
func (m *marker) followTold() {
	var free []*about
	for _, a := range m.all {
		if a.Failed && !a.told && !a.lost {
			free = append(free, a)
		}
	}
	if len(free) == 0 {
		return
	}
	for _, a := range m.all {
		if !a.told || len(a.own) > 0 {
			continue
		}
		first := true
		for _, u := range free {
			first = first && m.clocks.Order(a.first(), u.first()) < 0
		}
		if first {
			continue
		}
		for _, i := range a.index {
			if toldToStop(&m.seen[i]) {
				m.seen[i].Follower = true
			}
		}
	}
}

// mostLeaders bounds how many members are tried as the one that others follow: the first few
// that ended decide.
const mostLeaders = 16

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
			if b == l.a || b.first().At.IsZero() || m.clocks.Order(l.done, b.first()) >= 0 {
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

func (m *marker) sameAs(a *about, s *rank.Sighting) bool {
	return slices.ContainsFunc(a.own, func(i int) bool { return m.seen[i].Signature.ID == s.Signature.ID })
}

// doneAt is when a member had failed for a reason of its own; the zero moment if it has not,
// or if another may have brought it there: it first says that somebody went away.
func (m *marker) doneAt(a *about) Moment {
	if len(a.own) == 0 || !a.Failed && !a.Ended.IsZero() || a.Running {
		return Moment{}
	}
	var last Moment
	precise := false
	for _, i := range a.own {
		s := &m.seen[i]
		if at := momentOf(s); a.near(s) && at.At.After(last.At) {
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
