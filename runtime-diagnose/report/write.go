package report

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// draft is a report while it is written.
type draft struct {
	*Findings
	root     *evidence.Observation // the answer's cause; nil: there is none
	at       map[string]int        // in Members, by place
	advice   *advice               // on the root, by its facts; nil: its signature's is all
	attempts attempts
	remarks  []string
	leftOut  int                       // remarks beyond mostRemarks
	fit      func() (fit.Result, bool) // of the whole job; see fitOfJob
}

// Write writes the report.
func Write(ctx context.Context, f *Findings) Report {
	d := &draft{Findings: f, at: make(map[string]int, len(f.Members)), remarks: f.Notes}
	d.fit = sync.OnceValues(func() (fit.Result, bool) { return d.fitOfJob(ctx) })
	if f.Answer.Cause != nil {
		d.root = &f.Answer.Cause.Observation
		if facts := d.barrierFacts(d.root); facts != nil {
			root := *d.root
			root.Facts = facts
			d.root = &root
		}
		d.advice = cmp.Or(d.noneOffers(), adviceFor(d.root), d.preemptedAdvice())
		if node := d.nodeOf(d.root.Item.Source); d.advice != nil && node != "" {
			d.advice.says = strings.Replace(d.advice.says, "the node ran", "node "+node+" ran", 1)
		}
	}
	for i := range f.Members {
		d.at[f.Members[i].Place] = i
	}
	d.compareAttempts()
	d.remarkAll()
	r := Report{Observed: d.Now, Excerpts: d.Read.Excerpts, Coverage: d.coverage(), Attempts: d.Ledger}
	if d.Job != nil {
		r.Job = d.Job.Ref
	}
	r.Waiting = d.waiting()
	d.judge(&r)
	if d.leftOut > 0 {
		d.remarks = append(d.remarks, fmt.Sprintf("%s %s left out.", words.Count(d.leftOut, "more remark", "more remarks"), words.Is(d.leftOut)))
	}
	r.Remarks = d.remarks
	if r.Verdict != Healthy {
		r.Candidates, r.Confidence = d.Answer.Candidates, d.Answer.Confidence
	}
	d.sayOrder(&r)
	d.collectEvidence(&r)
	r.Hypotheses, r.MoreGuesses = d.hypotheses(&r)
	d.say(&r)
	r.Solution = d.asFarAsAllowed(r.Solution)
	return r
}

func (d *draft) remarkAll() {
	d.remarkHalfStarted()
	d.remarks = append(d.remarks, d.Seen.Notes...)
	d.remarkUnused()
	d.remarkCounts()
	d.remarkRestarts()
	d.remarkCrashLoop()
	if d.Retried != "" {
		d.remark("%s.", d.Retried)
	}
	if said := d.Ledger.Sentences(); len(said) > 0 {
		d.remark("%s", strings.Join(said, " "))
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
