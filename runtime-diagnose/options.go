package diagnose

import (
	"cmp"
	"slices"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/logscan"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// Options bound a diagnosis. Zero values mean defaults.
type Options struct {
	LogBudget int // bytes of text kept of one log (32 KiB)
	Evidence  int // items in the result (40)
	Apart     int // logs that are kept apart; of more, those that say what others said are counted (1024)
	Running   timeline.Thresholds
	Weights   *attribute.Table // points of features; nil: those in use
	Without   []Heuristic      // left out, to measure what they are worth
	Nominees  bool             // of an inconclusive job the lines are tested that a model may name as the cause
}

// Heuristics are all of them, in the order in which they are asked.
func Heuristics() []Heuristic {
	return append(logscan.Heuristics(), "explain-ends", "follow-told", "follow-lost", "follow-later", watchdogs, quietMember, oddMember, newLine)
}

const (
	watchdogs   Heuristic = "watchdogs"    // sequence numbers of collectives name which rank was behind
	quietMember Heuristic = "quiet-member" // the member that does not say what all others say
	oddMember   Heuristic = "odd-member"   // the member that waits elsewhere than all others
	newLine     Heuristic = "new-line"     // what only the log of the one that ended says
)

// scan are those of reading.
func (o *Options) scan() logscan.Options {
	return logscan.Options{LogBudget: o.LogBudget, Apart: o.Apart, Without: o.Without}
}

func (o *Options) uses(h Heuristic) bool { return !slices.Contains(o.Without, h) }

func (o Options) withDefaults() Options {
	o.Evidence = cmp.Or(o.Evidence, 40)
	return o
}
