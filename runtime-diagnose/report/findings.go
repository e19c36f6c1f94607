package report

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
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

// draft is a report while it is written.
type draft struct {
	*Findings
	root     *evidence.Observation // the answer's cause; nil: there is none
	at       map[string]int        // in Members, by place
	advice   *advice               // on the root, by its facts; nil: its signature's is all
	attempts attempts
	remarks  []string
	fit      func() (fit.Result, bool) // of the whole job; see fitOfJob
}

// Write writes the report.
func Write(ctx context.Context, f *Findings) Report {
	d := &draft{Findings: f, at: make(map[string]int, len(f.Members)), remarks: f.Notes}
	d.fit = sync.OnceValues(func() (fit.Result, bool) { return d.fitOfJob(ctx) })
	if f.Answer.Cause != nil {
		d.root = &f.Answer.Cause.Observation
		d.advice = adviceFor(d.root)
	}
	for i := range f.Members {
		d.at[f.Members[i].Place] = i
	}
	d.compareAttempts()
	d.remarkAll()
	r := Report{Observed: d.Now, Excerpts: d.Read.Excerpts, Coverage: d.coverage()}
	if d.Job != nil {
		r.Job = d.Job.Ref
	}
	r.Waiting, r.Remarks = d.waiting(), d.remarks
	d.judge(&r)
	if r.Verdict != Healthy {
		r.Candidates, r.Confidence = d.Answer.Candidates, d.Answer.Confidence
	}
	d.sayOrder(&r)
	d.collectEvidence(&r)
	r.Hypotheses = d.hypotheses(&r)
	d.say(&r)
	return r
}

func (d *draft) remarkAll() {
	d.remarkHalfStarted()
	d.remarks = append(d.remarks, d.Seen.Notes...)
	d.remarkUnused()
	d.remarkCounts()
	d.remarkRestarts()
	if d.Retried != "" {
		d.remark("The job was %s.", d.Retried)
	}
	d.remarkDebugged()
	d.remarkSituation()
}

func (d *draft) coverage() Coverage {
	c := Coverage{PodsSeen: len(d.Seen.Pods), BytesRead: d.Read.BytesRead, BytesSkipped: d.Read.BytesSkipped}
	c.PodsRead = d.Read.Pods
	if d.Job != nil && !d.Job.Suspended {
		c.PodsExpected = d.Job.MaxPods()
	}
	c.Missing = append(append([]string{}, d.Missing...), d.Read.Missing...)
	return c
}

// when orders two items by the clocks that dated them.
func (d *draft) when(a, b evidence.Item) int {
	return d.Clocks.Order(timeline.Moment{Clock: a.Clock, At: a.At}, timeline.Moment{Clock: b.Clock, At: b.At})
}
