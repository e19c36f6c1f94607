package check

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

// Input is what a set looks at.
type Input struct {
	Job, Old  *job.Job          // Old only on update
	Partial   bool              // the job could not be read whole: its numbers may be wrong
	Cluster   *cluster.Snapshot // nil: no cluster view
	Namespace map[string]string // labels; nil: unknown
	// Live says that the view is one that is kept up to date: what it lacks is our fault.
	Live bool
	// Admission says that an API server asks: the namespace of the job is there, whether the view has seen it or not, and
	// the view holds more than the author of the job may read, so that what other namespaces have is not told.
	Admission bool
	// Answers says what else refuses what kinds.Validation.Refuses names, before the job is stored:
	// the API server, or the operator's webhook. Empty: none is known.
	Answers string
	// Fit answers for the whole job; nil: asked of Cluster when the first check wants to know.
	Fit func() fit.Result
	// Limits answers what lies before the nodes; nil: asked of Cluster, as with Fit.
	Limits func() []quota.Violation
	// Silenced says that checks run which the author of the job silences: policies hear of what they find.
	Silenced bool
}

// Outcome is what became of one check.
type Outcome struct {
	Check    string
	Findings []finding.Finding // sorted; of a check that is Ignored, what only policies are told
	Skipped  Skip              // why it did not run; zero: it ran
	Err      error             // the check itself failed; the job is not blamed
	// Failed says that the fault is ours: the check failed, ran out of time, or a live view
	// of the cluster was not to be trusted. The author of the job can do nothing about it
	// and must not take silence for health.
	Failed bool
}

// Run runs the checks one after the other, those that need the cluster last, and answers
// in the order of the set; a last outcome named ignore-annotation is added where the
// annotation has no effect. A panic is that check's Err. Once the context is done, what is
// left is skipped.
func (s *Set) Run(ctx context.Context, in Input) []Outcome { return s.RunInto(ctx, in, nil) }

// RunInto is Run whose outcomes stand in the room that is there for them: of two hundred checks they are a tenth of what a
// review leaves for the garbage collector.
func (s *Set) RunInto(ctx context.Context, in Input, room []Outcome) []Outcome {
	if in.Job == nil {
		return nil
	}
	if in.Fit == nil {
		in.Fit = sync.OnceValue(func() fit.Result { return whatif.Answer(ctx, in.Cluster, gang.Of(in.Job)) })
	}
	if in.Limits == nil {
		in.Limits = sync.OnceValue(func() []quota.Violation { return quota.Violations(in.Cluster, gang.Of(in.Job)) })
	}
	ignored, notes := s.ignored(in.Job)
	group, _, _ := strings.Cut(in.Job.Ref.APIVersion, "/")
	who := kindOf{groupKind: in.Job.Ref.Kind + "." + group, operator: kinds.Of(in.Job.Ref)}
	out := room[:0]
	if cap(out) < len(s.entries) {
		out = make([]Outcome, 0, len(s.entries)+1)
	}
	out = out[:len(s.entries)]
	clear(out)
	pass := &Pass{Job: in.Job, Old: in.Old, Operator: who.operator, Cluster: in.Cluster, Namespace: in.Namespace, Admission: in.Admission, fit: in.Fit, limits: in.Limits, overdue: func() bool { return ctx.Err() != nil }}
	// What needs the cluster costs most and goes last: a deadline that passes in the fit
	// must not silence what reads only the job.
	for _, costly := range []bool{false, true} {
		for i := range s.entries {
			if e := &s.entries[i]; costly == (e.check.Needs&Cluster != 0) {
				e.run(ctx, &in, who, ignored[e.check.Name], pass, &out[i])
			}
		}
	}
	s.eclipse(out)
	for i := range out {
		finding.Sort(out[i].Findings)
	}
	if len(notes) > 0 {
		out = append(out, Outcome{Check: ignoreCheck, Findings: notes})
	}
	return out
}

// kindOf is the kind of a job, as checks are chosen by it.
type kindOf struct {
	groupKind string
	operator  *kinds.Operator
}

// run runs the check with a pass that serves one check after the other.
func (e *entry) run(ctx context.Context, in *Input, who kindOf, ignored string, pass *Pass, out *Outcome) {
	out.Check = e.check.Name
	out.Skipped = e.skip(in, who)
	switch {
	case out.Skipped.Reason == OperatorAnswers: // what it refuses; what the check says besides it lets through
	case out.Skipped.Reason != Ran:
		out.Failed = in.Live && out.Skipped.Reason == ViewUntrusted
		return
	case ignored != "" && !in.Silenced:
		out.Skipped = Skip{Ignored, ignored}
		return
	case ctx.Err() != nil:
		out.Skipped, out.Failed = Skip{Reason: DeadlinePassed}, true
		return
	case ignored != "":
		out.Skipped = Skip{Ignored, ignored}
	}
	defer func() {
		if r := recover(); r != nil {
			out.Findings, out.Failed = nil, true
			out.Err = fmt.Errorf("run check %s: panic: %v at %s", e.check.Name, r, panickedAt())
		}
	}()
	params, err := e.decodeParams()
	if err != nil {
		out.Err, out.Failed = err, true
		return
	}
	pass.Params, pass.check, pass.severity, pass.sink, pass.cut, pass.unheld = params, e.check, e.severity, &out.Findings, false, nil
	pass.said, pass.unheldHas, pass.failed = nil, nil, nil
	pass.answered = out.Skipped.Reason == OperatorAnswers
	if e.check.Run(pass); pass.failed != nil {
		out.Findings, out.Failed = nil, true
		out.Err = fmt.Errorf("run check %s: %w", e.check.Name, pass.failed)
	}
	if len(pass.unheld) > 0 && out.Skipped.Reason == Ran {
		out.Skipped = Skip{NotHeld, pass.lacks()}
	}
	if pass.cut { // of what it found so far, the rest may be the cause
		out.Findings, out.Skipped, out.Failed = nil, Skip{Reason: DeadlinePassed}, true
	}
}

func (e *entry) skip(in *Input, who kindOf) Skip {
	needs := func(n Needs) bool { return e.check.Needs&n != 0 }
	switch {
	case !e.check.covers(who.groupKind, who.operator):
		return Skip{Reason: KindNotCovered}
	case needs(Update) && in.Old == nil:
		return Skip{Reason: NothingChanged}
	case needs(Cluster|Objects) && in.Cluster == nil:
		return Skip{Reason: NoCluster}
	case needs(Cluster) && in.Cluster.Incomplete() != "":
		return Skip{ViewUntrusted, in.Cluster.Incomplete()}
	case needs(Cluster|Whole) && in.Partial:
		return Skip{Reason: JobPartial}
	case needs(Namespace) && in.Namespace == nil:
		return Skip{Reason: LabelsUnknown}
	case in.Answers != "" && slices.Contains(who.operator.Validates.Refuses, e.check.Name):
		return Skip{OperatorAnswers, in.Answers}
	}
	return Skip{}
}

// eclipse drops findings that are a consequence of another check's at or above them.
func (s *Set) eclipse(out []Outcome) {
	type shadow struct {
		on    string
		below job.Path
	}
	var shadows []shadow
	for i, e := range s.entries {
		if out[i].Skipped.Reason == Ignored {
			continue
		}
		for _, name := range e.check.Eclipses {
			for _, f := range out[i].Findings {
				shadows = append(shadows, shadow{name, f.Path})
			}
		}
	}
	for i := range out {
		out[i].Findings = slices.DeleteFunc(out[i].Findings, func(f finding.Finding) bool {
			return slices.ContainsFunc(shadows, func(s shadow) bool { return s.on == f.Check && f.Path.Within(s.below) })
		})
	}
}

// panickedAt is the first frame below a recovered panic that is not the runtime's:
// "file.go:12 (package.Function)".
func panickedAt() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s:%d (%s)", base(f.File), f.Line, base(f.Function))
		}
		if !more {
			return "an unknown place"
		}
	}
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
