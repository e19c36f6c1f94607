package report

import (
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Chart is the timeline for a caller that draws it otherwise than in text: the same rows on the same axis.
type Chart struct {
	From, To time.Time // of the axis
	Zero     time.Time // when the first cause showed itself; zero: no cause has a time
	Clocks   string    // how wrong the times of two members may be against each other, "±2s"; empty: unknown
	Lanes    []Lane
}

// Lane is one member, or several that look alike.
type Lane struct {
	Name, Node, Says         string
	First                    bool      // the first cause is in it
	Start, Step, Sign, Ended time.Time // its beginning, last step, first sign of trouble and end; zero: unknown or none
	End                      LaneEnd
}

// LaneEnd is how a lane ends.
type LaneEnd string

// The ends.
const (
	EndFailed  LaneEnd = "failed"
	EndWell    LaneEnd = "ended well"
	EndRuns    LaneEnd = "runs"
	EndWaits   LaneEnd = "waits"
	EndUnknown LaneEnd = "last seen" // its last line; what became of it is not said
)

var laneEnds = map[rune]LaneEnd{cellFail: EndFailed, cellWell: EndWell, cellRuns: EndRuns, cellWaits: EndWaits, cellLives: EndUnknown}

// chartColumns is the resolution by which members are told apart: two that end within a twentieth of
// the axis and say the same are one lane, as in the text.
const chartColumns = 120

// ChartOf is the timeline of a report; false where nothing that was read carries a time.
func ChartOf(r Report) (Chart, bool) {
	bars, waiting := barsOf(r)
	if len(bars) == 0 {
		return Chart{}, false
	}
	s := scaleOf(bars, chartColumns)
	bars = append(fold(bars, s), foldBy(waiting, func(bar) string { return "" })...)
	c := Chart{From: s.from, To: s.to}
	if first := slices.IndexFunc(bars, func(b bar) bool { return b.first }); first >= 0 {
		c.Zero = bars[first].trouble()
	}
	if r.Order != nil && r.Order.Skew > 0 {
		c.Clocks = "±" + words.Short(r.Order.Skew/2)
	}
	for _, b := range bars {
		c.Lanes = append(c.Lanes, Lane{
			Name: b.label(), Node: b.node(), Says: b.says, First: b.first,
			Start: b.start, Step: b.step, Sign: b.sign, Ended: b.end, End: laneEnds[b.mark],
		})
	}
	return c, true
}

// SecondsFrom is how long before or after the zero of a chart a time is: "+4s", "−12s".
func (c Chart) SecondsFrom(at time.Time) string { return secondsFrom(c.Zero, at) }
