package report

import (
	"iter"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/ledger"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// Findings are all that the stages of a diagnosis have found out of a job. A report is written from them and
// changes nothing of them.
type Findings struct {
	evidence.Bundle
	Seen         control.Seen
	Observations []evidence.Observation
	Read         Reading
	Failed       bool // something other than a log shows a failure
	Members      []timeline.Member
	Groups       []Group
	Clocks       *timeline.Clocks
	Marks        timeline.Marks
	Answer       attribute.Answer
	Waited       *timeline.Waited // what the watchdogs of all ranks say together; nil: nothing
	Compared     string           // how the decisive line compares with the last good run
	End          evidence.Excerpt // of the log that a bare exit code is the last word of
	Notes        []string         // what is worth knowing and no failure
	Ledger       ledger.Ledger    // of the attempts that failed
	Retried      string           // how often the operator tried again; empty: never
	HalfStarted  time.Duration    // from when on a gang that holds devices and cannot begin is remarked; 0: it does not run
	MostEvidence int              // items in the report
}

// Reading is what reading the logs amounts to.
type Reading struct {
	Excerpts     []evidence.Excerpt
	Idle         []evidence.Excerpt // lines that say that a program uses no device
	Pods         int                // whose logs were read
	Ended        int                // logs that say that they ended well
	Advance      int                // logs that show that training advances
	Done         int                // logs that end without complaint, with what was done or found
	Broken       string             // the first log that could not be read to its end
	Missing      []string           // sentences about logs that could not be read
	BytesRead    int64
	BytesSkipped int64
	BadEnd       *BadEnd // nil: no log ends as those of failures do

	// Suspect is the last line of an excerpt that says, in words that no signature knows, that something is
	// wrong; -1: none does.
	Suspect func(evidence.Excerpt) int
}

// BadEnd is a log that ends as logs of failures do, though no signature knows the words.
type BadEnd struct {
	Source evidence.Source // its last line
	Text   string
	Torn   bool // it ends within a traceback
}

// Group is members of which no more is known than that their logs say what the one of another member says:
// its exemplar.
type Group struct {
	Exemplar string // its place; empty: none was kept
	Told     []evidence.Observation
	Count    int
	Sources  iter.Seq[evidence.Source]
}

// says that the group says what an observation says, in whose places its exemplar is.
func (g *Group) says(s *evidence.Observation, in map[string]bool) bool {
	return in[g.Exemplar] && g.told(s.Signature)
}

func (g *Group) told(of *signature.Signature) bool {
	return slices.ContainsFunc(g.Told, func(s evidence.Observation) bool { return s.Signature == of })
}

// when orders two items by the clocks that dated them.
func (d *draft) when(a, b evidence.Item) int {
	return d.Clocks.Order(timeline.Moment{Clock: a.Clock, At: a.At, Since: a.Carried}, timeline.Moment{Clock: b.Clock, At: b.At, Since: b.Carried})
}
