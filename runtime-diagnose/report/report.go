// Package report tells what a diagnosis has found: one Report, and the ways to print it. It judges what the
// findings amount to for a reader; it reads no log and finds no cause.
//
// Start reading at Write.
package report

import (
	"time"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/familiar"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/ledger"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// Verdict is what a diagnosis amounts to.
type Verdict string

// The verdicts.
const (
	Unknown      Verdict = "unknown"      // too little was seen
	Healthy      Verdict = "healthy"      // seen, and nothing is wrong
	Diagnosed    Verdict = "diagnosed"    // something is wrong and Root says what
	Inconclusive Verdict = "inconclusive" // something is wrong; the evidence does not decide what
)

// Standing is how well a cause is supported.
type Standing = attribute.Standing

// The standings, weakest first.
const (
	Hypothesis  = attribute.Hypothesis
	Supported   = attribute.Supported
	Established = attribute.Established
)

// Report is a diagnosis. It is complete without a model.
type Report struct {
	Job        job.Ref
	Verdict    Verdict
	Waiting    string // why the job has not started, with numbers; empty when it has, or that is not known
	Category   string // slug of the cause; "healthy" when Verdict is Healthy
	Error      string // one sentence
	Analysis   string
	Solution   []string // steps, imperative
	Remarks    []string // what is worth knowing and no failure: a straggler, devices that idle
	Root       *Cause
	Effects    []Cause            // what Root explains; never competing roots
	Evidence   []evidence.Item    // every ID cited above is here
	Excerpts   []evidence.Excerpt // of the logs that say something: for reading in context and for a model
	Ending     evidence.Excerpt   // the end of the log that a bare exit code is the last word of; no lines: none
	Order      *Order             // which member went first, by what; nil: one member, or nothing failed
	Followers  []Followers        // what became of the other members, most frequent first
	Members    []timeline.Member  // all of them, by role and index
	Story      *Story             // nil: no model, it failed, or it cited nothing; never required
	Coverage   Coverage
	Observed   time.Time
	Missing    []string // members that the others waited for, or lost
	Hypotheses []Guess  // where it is not sure: what fits, the best first
	// MoreGuesses counts the hypotheses that are left out.
	MoreGuesses int
	// Candidates are all that could be the cause, the best first, with what speaks for and against each.
	Candidates []attribute.Candidate
	Confidence attribute.Confidence
	Why        bool      // JSON shows the candidates
	Printed    *Printed  // of a job that ended well, to compare the next run with; nil: nothing
	Nominees   []Nominee // of an inconclusive job, where they were asked for: lines that a model may name
	Untested   Untested  // what the lines are of that no model may name

	Attempts ledger.Ledger // that failed, of all there were

	Runbook string // the address of a page about the category; empty: none is configured

	Plain string // Analysis without what Text shows in another form
}

// Untested is what is beyond the bounds of what is tested as the cause: logs, and events that no signature knows.
type Untested struct{ Logs, Events int }

// Cause is one thing that went wrong.
type Cause struct {
	Signature string
	Title     string // what the signature says in words
	Category  string
	Standing  Standing
	Owner     signature.Domain
	Retry     signature.Retry
	Source    evidence.Source // its Rank is the replica's index where it has a Role, else that of the process
	Role      string          // of the pod
	Index     int             // of the replica in its role; -1: unknown
	At        time.Time
	Carried   bool   // At is that of a line above: it was no earlier
	Line      string // the one decisive line, masked
	Said      int    // where in Line the words begin that decide, in bytes
	Facts     map[string]string
	Cites     []evidence.ID
	Beside    string // the only pod of the job on the node that the cause is of, where it is of no pod
}

// Order says how it is known that the root's member went first.
type Order struct {
	Ahead  time.Duration // at least so long before the next sign of trouble; 0: times do not show it
	Skew   time.Duration // how wrong the time between the two may be, both ways together
	Why    string        // one sentence
	Decide string        // what would decide, where nothing that was seen does; else empty
	Known  bool          // the others went after it
}

// Followers are members that ended, or complained, in one way, and are not the root's: after it where Order.Known.
type Followers struct {
	Says    string // what they say, in words
	Places  []string
	First   time.Time // of them; zero: unknown
	Carried bool      // First is that of a line above: it was no earlier
}

// Story is what a model wrote about a diagnosis, reduced to what it could cite.
type Story struct {
	Text, Model string
	Prompt      string // the template that asked, with the digest of its text; see prompt.Template.Version
	Cites       []evidence.ID
	Unsupported []string // sentences that nothing which was read supports, or contradicts
	Dropped     int      // sentences that are not shown: the evidence contradicts them, or they are no claims
	LeftOut     string   // how many sentences are not in Text and why; empty: none

	Nominated *Nominated // the line that it took for the cause, after the rules tested it; nil: none
	Refused   string     // why the rules refused what it took for the cause; empty: they did not
}

// Coverage says how much was looked at.
type Coverage struct {
	PodsExpected int      `json:"podsExpected"`
	PodsSeen     int      `json:"podsSeen"`
	PodsRead     int      `json:"podsRead"`
	BytesRead    int64    `json:"bytesRead"`
	BytesSkipped int64    `json:"bytesSkipped"`
	Missing      []string `json:"missing"` // sources that failed or are gone
}

// Guess is one of the causes that fit what was seen, where nothing that was read decides between them.
type Guess struct {
	Cause
	Points  int
	Decides string // what would tell whether it is the cause, as a clause
	Command string // that shows it; empty: there is none to type
}

// Nominee is a line that was read, and what the rules say to it as the cause.
type Nominee struct {
	Item     evidence.Item
	Why      string   // it is not the cause; empty: nothing contradicts it
	Suspect  bool     // its words say that something is wrong
	Supports []string // what speaks for it, each independent of the others
}

// Nominated is a line that a model has named as the cause of a failure that no rule explains, after the rules
// have tested it. Verdict, root, owner, retry and category are those of the rules all the same.
type Nominated struct {
	Item     evidence.Item
	Category string   // that the model named, of the list
	Standing Standing // Hypothesis, or Supported where two supports are independent
	Supports []string
	Model    string
}

// Printed is what the logs of a job that ended well printed, for its next run.
type Printed struct {
	Lines familiar.Lines
	Pods  int  // whose logs were read
	Whole bool // all lines of them were
}
