package timeline

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// Drift is how far ahead or behind a clock is taken to be where nothing was seen of it:
// machines of one cluster keep time by NTP, and two of them are then within twice this.
const Drift = time.Second

// Skew is how far the clocks of two nodes may be apart before an order of events counts, where nothing was
// seen of either.
const Skew = 2 * Drift

// Moment is a time as a clock showed it. Times that name no fraction of a second were cut to
// the second: the truth may be up to one second later.
type Moment struct {
	Clock string // "" is the API server's
	At    time.Time
	Since bool // At is that of a line above: it was no earlier, and how much later is not known
}

// window is when it may have been by that clock.
func (m Moment) window() (from, to time.Time) {
	if m.At.Nanosecond() == 0 {
		return m.At, m.At.Add(time.Second)
	}
	return m.At, m.At
}

// Clocks holds what is known of how far clocks are apart. The zero value knows nothing; it
// takes every clock to be within Drift of the API server's.
type Clocks struct {
	shifts map[string][]shift  // of the gang's own median, by clock
	meets  map[string][]Moment // what happened to all at once, by name
	lower  map[string]time.Duration
	upper  map[string]time.Duration
}

// Bound is how far a clock is ahead: at least Low and at most High, negative where behind.
type Bound struct{ Low, High time.Duration }

type shift struct{ by, give time.Duration }

// Follows notes that something the clock dated at happened after the API server had dated
// its occasion: a kubelet accepts a pod after the scheduler has bound it. From that a clock
// that is behind gives itself away.
func (c *Clocks) Follows(clock string, at, server time.Time) {
	if clock == "" || at.IsZero() || server.IsZero() {
		return
	}
	if c.upper == nil {
		c.upper = map[string]time.Duration{}
	}
	// at - ahead >= server, and at was cut to the second.
	most := at.Sub(server) + time.Second
	if old, ok := c.upper[clock]; !ok || most < old {
		c.upper[clock] = most
	}
}

// Precedes notes that something the clock dated at happened before the API server dated the
// report of it: a kubelet reports an end after it has seen it. From that a clock that is
// ahead gives itself away.
func (c *Clocks) Precedes(clock string, at, server time.Time) {
	if clock == "" || at.IsZero() || server.IsZero() {
		return
	}
	if c.lower == nil {
		c.lower = map[string]time.Duration{}
	}
	// at - ahead <= server, and server was cut to the second.
	least := at.Sub(server) - time.Second
	if old, ok := c.lower[clock]; !ok || least > old {
		c.lower[clock] = least
	}
}

// Meets notes one member's time of something that all members do together: a step of synchronous training.
func (c *Clocks) Meets(name string, m Moment) {
	if m.At.IsZero() || m.Clock == "" {
		return
	}
	if c.meets == nil {
		c.meets = map[string][]Moment{}
	}
	c.meets[name] = append(c.meets[name], m)
}

// fewest and widest bound which meetings say something: with fewer members their median is
// no member's, and where they are further apart than any clock it was no meeting.
const (
	fewestAtMeeting = 3
	widestMeeting   = 6 * time.Hour
)

// Settle works out what was noted. give is how far apart members of one meeting may really
// be, as one step of training.
func (c *Clocks) Settle(give time.Duration) {
	c.shifts = map[string][]shift{}
	for _, name := range slices.Sorted(maps.Keys(c.meets)) {
		all := c.meets[name]
		times := make([]time.Time, 0, len(all))
		clocks := map[string]bool{}
		for _, m := range all {
			times = append(times, m.At)
			clocks[m.Clock] = true
		}
		if len(clocks) < fewestAtMeeting {
			continue
		}
		slices.SortFunc(times, time.Time.Compare)
		if times[len(times)-1].Sub(times[0]) > widestMeeting {
			continue
		}
		middle := times[len(times)/2]
		for _, m := range all {
			c.shifts[m.Clock] = append(c.shifts[m.Clock], shift{m.At.Sub(middle), give})
		}
	}
	for clock, all := range c.shifts {
		slices.SortFunc(all, func(a, b shift) int { return cmp.Compare(a.by, b.by) })
		by := all[len(all)/2].by
		wide := give + max(all[len(all)-1].by-by, by-all[0].by)
		c.shifts[clock] = []shift{{by, wide}}
	}
}

// Ahead is how far a clock is ahead of the API server's. What was noted is believed; where
// it leaves a side open, the clock is taken to be near the side that is known.
func (c *Clocks) Ahead(clock string) Bound {
	if clock == "" {
		return Bound{}
	}
	usual := Bound{-Drift, Drift}
	low, haveLow := c.lower[clock]
	high, haveHigh := c.upper[clock]
	switch {
	case haveHigh && high < usual.Low: // surely behind
		b := Bound{high - 4*Drift, high}
		if haveLow {
			b.Low = max(b.Low, min(low, high))
		}
		return b
	case haveLow && low > usual.High: // surely ahead
		b := Bound{low, low + 4*Drift + reportLag}
		if haveHigh {
			b.High = min(b.High, max(low, high))
		}
		return b
	default:
		return usual
	}
}

// reportLag is how much later than a container's end a kubelet may report it: it batches and
// retries its writes of status.
const reportLag = 10 * time.Second

// Order says which of two moments was first: -1 a, 1 b, 0 where that is not sure.
func (c *Clocks) Order(a, b Moment) int {
	if a.At.IsZero() || b.At.IsZero() {
		return 0
	}
	early, late := c.apart(a, b)
	switch {
	case early > 0:
		return -1
	case late < 0:
		return 1
	default:
		return 0
	}
}

// Gap is by how much b surely was later than a; negative or zero where that is not sure.
func (c *Clocks) Gap(a, b Moment) time.Duration {
	if a.At.IsZero() || b.At.IsZero() {
		return 0
	}
	least, _ := c.apart(a, b)
	return least
}

// Between is how much later b was than a: the best guess, and by how much it may be wrong.
// Known is false where the two cannot be compared at all.
func (c *Clocks) Between(a, b Moment) (later, give time.Duration, known bool) {
	if a.At.IsZero() || b.At.IsZero() {
		return 0, 0, false
	}
	least, most := c.apart(a, b)
	if least == math.MinInt64 || most == math.MaxInt64 {
		return 0, 0, false
	}
	return least + (most-least)/2, (most - least) / 2, true
}

// aged says that a moment is an age that was taken from now.
func aged(m Moment) bool { return evidence.IsAgeClock(m.Clock) }

// apart is how much later b was than a: at least and at most.
func (c *Clocks) apart(a, b Moment) (least, most time.Duration) {
	aFrom, aTo := a.window()
	bFrom, bTo := b.window()
	least, most = bFrom.Sub(aTo), bTo.Sub(aFrom)
	if a.Since || b.Since {
		defer func() {
			if a.Since {
				least = math.MinInt64
			}
			if b.Since {
				most = math.MaxInt64
			}
		}()
	}
	if a.Clock == b.Clock {
		return least, most
	}
	if aged(a) || aged(b) { // the latest that it can have been: how much earlier is not known
		if aged(b) {
			least = math.MinInt64
		}
		if aged(a) {
			most = math.MaxInt64
		}
		return least, most
	}
	x, y := c.Ahead(a.Clock), c.Ahead(b.Clock)
	// b's truth is b - y, a's is a - x.
	low, high := least-y.High+x.Low, most-y.Low+x.High
	if s, t := c.shifts[a.Clock], c.shifts[b.Clock]; len(s) > 0 && len(t) > 0 {
		give := s[0].give + t[0].give
		// Two sources about the same clocks: where they contradict each other, the members' own
		// word is the nearer one.
		mLow, mHigh := least-t[0].by+s[0].by-give, most-t[0].by+s[0].by+give
		if l, h := max(low, mLow), min(high, mHigh); l <= h {
			return l, h
		}
		return mLow, mHigh
	}
	if evidence.IsOwnClock(a.Clock) != evidence.IsOwnClock(b.Clock) {
		return math.MinInt64, math.MaxInt64 // local time of some zone against a node's
	}
	return low, high
}
