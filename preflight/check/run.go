package check

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/signalbox-dev/signalbox/preflight/capacity"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Input is what a set looks at.
type Input struct {
	Job, Old  *job.Job           // Old only on update
	Partial   bool               // the job could not be read whole: its numbers may be wrong
	Cluster   *capacity.Snapshot // nil: no cluster view
	Namespace map[string]string  // labels; nil: unknown
	Live      bool               // the operator's own webhooks answer too
	// Fit answers for the whole job; nil: asked of Cluster when the first check wants to know.
	Fit func() capacity.Result
	// Limits answers what lies before the nodes; nil: asked of Cluster, as with Fit.
	Limits func() []capacity.Limit
}

// Outcome is what became of one check.
type Outcome struct {
	Check    string
	Findings []finding.Finding // sorted
	Skipped  string            // why it did not run; empty: it ran
	Err      error             // the check itself failed; the job is not blamed
	// Failed says that the fault is ours: the check failed, ran out of time, or a live view
	// of the cluster was not to be trusted. The author of the job can do nothing about it
	// and must not take silence for health.
	Failed bool
}

// Reasons why a check does not run. Those that do not concern the job are not worth a
// line in a report; see Concerns.
const (
	SkippedKind     = "kind not covered"
	SkippedUpdate   = "nothing was changed: there is no object before"
	SkippedOperator = "the operator's own webhook answers"
	SkippedCluster  = "needs a cluster view; none given"
	SkippedLabels   = "needs the labels of the namespace; unknown"
	SkippedPartial  = "needs all of the job; not all of it could be read"
	SkippedDeadline = "deadline passed before it ran"

	skippedView = "needs a cluster view: " // and why the one given is not to be trusted
)

// Concerns says whether a skipped check might have had something to say, had we known more.
func (o Outcome) Concerns() bool {
	switch o.Skipped {
	case "", SkippedKind, SkippedUpdate, SkippedOperator:
		return false
	}
	return true
}

// Run runs the checks one after the other, those that need the cluster last, and answers
// in the order of the set; a last outcome named ignore-annotation is added where the
// annotation has no effect. A panic is that check's Err. Once the context is done, what is
// left is skipped.
func (s *Set) Run(ctx context.Context, in Input) []Outcome {
	if in.Job == nil {
		return nil
	}
	if in.Fit == nil {
		in.Fit = sync.OnceValue(func() capacity.Result { return in.Cluster.Fit(ctx, capacity.GangOf(in.Job)) })
	}
	if in.Limits == nil {
		in.Limits = sync.OnceValue(func() []capacity.Limit { return in.Cluster.Limits(capacity.GangOf(in.Job)) })
	}
	ignored, notes := s.ignored(in.Job)
	out := make([]Outcome, len(s.entries))
	// What needs the cluster costs most and goes last: a deadline that passes in the fit
	// must not silence what reads only the job.
	for _, costly := range []bool{false, true} {
		for i := range s.entries {
			if e := &s.entries[i]; costly == (e.check.Needs&Cluster != 0) {
				out[i] = e.run(ctx, in, ignored[e.check.Name])
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

func (e *entry) run(ctx context.Context, in Input, ignored string) (out Outcome) {
	out.Check = e.check.Name
	out.Skipped = e.skip(in)
	switch {
	case out.Skipped != "":
		out.Failed = in.Live && strings.HasPrefix(out.Skipped, skippedView)
		return out
	case ignored != "":
		out.Skipped = ignored
		return out
	case ctx.Err() != nil:
		out.Skipped, out.Failed = SkippedDeadline, true
		return out
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
		return out
	}
	pass := &Pass{
		Job: in.Job, Old: in.Old, Cluster: in.Cluster, Namespace: in.Namespace, Params: params,
		fit: in.Fit, limits: in.Limits, check: e.check, severity: e.severity, sink: &out.Findings,
	}
	if err := e.check.Run(pass); err != nil {
		out.Findings, out.Failed = nil, true
		out.Err = fmt.Errorf("run check %s: %w", e.check.Name, err)
	}
	return out
}

func (e *entry) skip(in Input) string {
	needs := func(n Needs) bool { return e.check.Needs&n != 0 }
	switch {
	case !e.check.Covers(in.Job.Ref.Kind):
		return SkippedKind
	case in.Live && slices.Contains(e.check.OperatorRejects, in.Job.Ref.Kind):
		return SkippedOperator
	case needs(Update) && in.Old == nil:
		return SkippedUpdate
	case needs(Cluster|Objects) && in.Cluster == nil:
		return SkippedCluster
	case needs(Cluster) && in.Cluster.Incomplete() != "":
		return skippedView + in.Cluster.Incomplete()
	case needs(Cluster|Whole) && in.Partial:
		return SkippedPartial
	case needs(Namespace) && in.Namespace == nil:
		return SkippedLabels
	}
	return ""
}

// eclipse drops findings that are a consequence of another check's at or above them.
func (s *Set) eclipse(out []Outcome) {
	type shadow struct {
		on    string
		below job.Path
	}
	var shadows []shadow
	for i, e := range s.entries {
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
