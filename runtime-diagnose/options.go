package diagnose

import (
	"cmp"
	"slices"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
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

// Heuristic is one rule that may be wrong, by name.
type Heuristic string

// Heuristics are all of them, in the order in which they are asked.
func Heuristics() []Heuristic {
	return []Heuristic{
		unwraps, translates, asksRaiser, lastLaunch, harmless, lastWords, success, survival, calmEnd, platformsWord,
		"explain-ends", "follow-told", "follow-lost", "follow-later", watchdogs, quietMember, newLine,
	}
}

const (
	unwraps       Heuristic = "unwrap"         // an exception that hands on another one gives way to it
	translates    Heuristic = "translate"      // an exception that is the direct cause of a known one gives way to it
	asksRaiser    Heuristic = "raiser"         // who raised an exception says what its words do not
	lastLaunch    Heuristic = "last-launch"    // of several runs in one file the last one counts
	harmless      Heuristic = "harmless"       // what a context says is harmless below it
	lastWords     Heuristic = "last-resort"    // a line that its program calls an error, where nothing else speaks
	success       Heuristic = "success"        // a process that says that it ended well takes back what it said before
	survival      Heuristic = "survival"       // what training goes on after was survived
	calmEnd       Heuristic = "calm-end"       // a log without complaint whose last lines say what was done, or its results, is of a run that went well
	platformsWord Heuristic = "platforms-word" // what the platform says of a container outranks its log
	watchdogs     Heuristic = "watchdogs"      // sequence numbers of collectives name who was behind
	quietMember   Heuristic = "quiet-member"   // the member that does not say what all others say
	newLine       Heuristic = "new-line"       // what only the log of the one that ended says
)

func (o *Options) uses(h Heuristic) bool { return !slices.Contains(o.Without, h) }

func (o Options) withDefaults() Options {
	o.Evidence = cmp.Or(o.Evidence, 40)
	return o
}
