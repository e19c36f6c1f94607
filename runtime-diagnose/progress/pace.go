package progress

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Limits say what is long and what is slow. Zero values mean the defaults in parentheses.
type Limits struct {
	// Least and Factor: no step for so long (10 min), and for so many times the usual time between
	// two (20). Both have to pass: evaluation and saving take many steps.
	Least  time.Duration
	Factor int
	Slow   float64 // a rank whose steps take so many times the median of all is slow (1.5)
}

func (l Limits) withDefaults() Limits {
	l.Least = cmp.Or(l.Least, 10*time.Minute)
	l.Factor = cmp.Or(l.Factor, 20)
	l.Slow = cmp.Or(l.Slow, 1.5)
	return l
}

// Enough is how many steps tell a usual pace, and how many ranks a median that is no rank's own.
const Enough = 4

// Stopped says that a rank that makes a step every interval has been silent for too long.
func (l Limits) Stopped(silent, interval time.Duration) bool {
	l = l.withDefaults()
	return silent > max(l.Least, time.Duration(l.Factor)*interval)
}

// Stragglers are the ranks, by index, that take longer for a step than the rest, the slowest first:
// synchronous training waits for them at every step. seconds are those of one step, NaN where they
// are not known; usual is their median, of so many. Many slow ranks are none: they do other work.
func (l Limits) Stragglers(seconds []float64) (usual float64, slow []int, of int) {
	l = l.withDefaults()
	var known []float64
	for _, s := range seconds {
		if s > 0 { // not NaN either
			known = append(known, s)
		}
	}
	if len(known) < Enough {
		return math.NaN(), nil, len(known)
	}
	slices.Sort(known)
	usual = known[len(known)/2]
	for i, s := range seconds {
		if s > l.Slow*usual {
			slow = append(slow, i)
		}
	}
	if len(slow)*Enough > len(known) {
		return usual, nil, len(known)
	}
	slices.SortStableFunc(slow, func(a, b int) int { return -cmp.Compare(seconds[a], seconds[b]) })
	return usual, slow, len(known)
}

// pace is the median time between lines, and of one step: by the program's own word where it has
// one, else by its lines. 0 and NaN: unknown.
func pace(steps []Step) (between time.Duration, seconds float64) {
	var gaps []time.Duration
	var own, by []float64
	for i, s := range steps {
		if !math.IsNaN(s.Seconds) {
			own = append(own, s.Seconds)
		}
		if i == 0 || s.At.IsZero() || steps[i-1].At.IsZero() {
			continue
		}
		gap := s.At.Sub(steps[i-1].At)
		if gap <= 0 { // lines that came together, or a clock that was set back
			continue
		}
		gaps = append(gaps, gap)
		if d := s.Number - steps[i-1].Number; steps[i-1].Number >= 0 && d > 0 {
			by = append(by, gap.Seconds()/float64(d))
		}
	}
	if len(gaps) > 0 {
		slices.Sort(gaps)
		between = gaps[len(gaps)/2]
	}
	for _, all := range [][]float64{own, by} {
		if len(all) > 0 {
			slices.Sort(all)
			return between, all[len(all)/2]
		}
	}
	return between, math.NaN()
}
