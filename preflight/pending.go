package preflight

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// Pending is a review between its stages: Begin, Check, Conclude. It is a value: a stage returns
// the next one and leaves its own as it was, so that a caller that waits no longer for a stage still has
// what stood before it.
type Pending struct {
	reviewer *Reviewer
	req      Request
	kind     *kinds.Kind
	job      *job.Job // nil: there is nothing to check
	half     bool     // the job was not read whole
	policies Policies // nil: none
	report   Report
	lacks    []Lack
	silenced []finding.Finding // by the author of the job: policies hear of them
	old      *job.Job          // before an update; nil: no rule reads it
	before   *job.Job          // only annotations were changed: the job as it was
}

// Begin reads the job and asks the policies that need neither the checks nor the fit: nothing
// that is slow stands before them. The only error is an *UnknownKindError.
func (r *Reviewer) Begin(ctx context.Context, req Request) (_ Pending, err error) {
	p := Pending{reviewer: r, req: req}
	if req.Object == nil {
		return p, &UnknownKindError{Covered: covered()}
	}
	if p.kind = kinds.For(req.Object.GroupVersionKind()); p.kind == nil {
		return p, &UnknownKindError{GVK: req.Object.GroupVersionKind(), Covered: covered()}
	}
	p.report = Report{Job: refOf(req.Object), Source: req.Source, Decision: Allowed}
	if r.Policies != nil {
		p.policies = r.Policies.InForce()
	}
	why := needless(req)
	annotated := why == sameWork && p.policies != nil && slices.ContainsFunc(changedAnnotations(req.Old, req.Object), p.policies.ReadsAnnotation)
	if why != "" && !annotated {
		p.report.Skipped = []Skip{{Check: all, Reason: why}}
		return p, nil
	}
	if p.policies != nil {
		p.report.Revision = p.policies.Revision()
	}
	if note, ok := oddMode(req.Namespace); ok {
		p.report.Findings = append(p.report.Findings, note)
	}
	switch {
	case req.Cluster == nil:
		p.lacks = append(p.lacks, Lack{"cluster", "no cluster was looked at"})
	case req.Cluster.Incomplete() != "":
		p.lacks = append(p.lacks, Lack{"cluster", req.Cluster.Incomplete()})
	}
	p.lacks = append(p.lacks, unsaid(req)...)
	p.read()
	if annotated && p.job != nil {
		was := *p.job
		was.Source, p.before = req.Old, &was
	}
	read := func(part string) bool { return p.reads(OnTheJob)(part) || p.reads(OnTheReview)(part) }
	p.lacks = append(p.lacks, unseen(req.Cluster, p.job, read)...)
	if read("earlier") {
		p.req.Earlier = earlierIn(req).inNamespace(req.Cluster, req.Object.GetNamespace())
		req.Earlier = p.req.Earlier
		p.lacks = append(p.lacks, req.Earlier.lack()...)
	}
	if p.job == nil {
		p.unasked(OnTheJob, "the job could not be read")
		p.unasked(OnTheReview, "the job could not be read")
	} else {
		if read("old_job") && req.Old != nil {
			if p.old, err = oldJob(p.kind, req); err != nil {
				p.lacks = append(p.lacks, Lack{"old_job", err.Error()})
			}
		}
		p.ask(ctx, OnTheJob, fit.Result{}, nil)
	}
	p.settle()
	return p, nil
}

// read reads the job and reports what kept it from being read whole.
func (p *Pending) read() {
	j, err := read(p.kind, p.req.Object, p.req.Cluster)
	unread, half := errors.AsType[*kinds.ReadError](err)
	if err != nil && !half { // a fault of ours is part of the report
		p.report.Skipped = []Skip{{Check: all, Reason: err.Error(), Failed: true}}
		return
	}
	p.report.Findings = append(p.report.Findings, unreadable(unread, p.req.Object)...)
	if p.half = half; half {
		for _, problem := range unread.Problems {
			p.report.Unread = append(p.report.Unread, problem.Path)
		}
		p.lacks = append(p.lacks, Lack{"job", fmt.Sprintf("%s could not be read", p.report.Unread[0])})
	}
	if j == nil {
		p.report.Skipped = []Skip{{Check: all, Reason: "the job could not be read"}}
		return
	}
	p.report.Job, j.DuplicateKeys, p.job = j.Ref, p.req.DuplicateKeys, j
	if unread := j.RuntimeUnread(); unread != nil {
		for _, part := range []string{"job.roles", "job.gpus", "job.pods"} {
			p.lacks = append(p.lacks, Lack{part, unread.String()})
		}
	}
	if why := uncounted(j); why != "" {
		p.lacks = append(p.lacks, Lack{"job.gpus", why})
	}
}

// Check runs the checks and asks for the fit.
func (p Pending) Check(ctx context.Context) Pending {
	if p.job == nil || p.before != nil && !p.asks(OnTheReview) {
		return p
	}
	p.own()
	p.check(ctx)
	for _, s := range p.report.Skipped {
		if s.Failed {
			p.lacks = append(p.lacks, Lack{"findings", fmt.Sprintf("%s did not run: %s", s.Check, s.Reason)})
			break
		}
	}
	switch answer := p.report.Fit; {
	case answer == nil:
		p.lacks = append(p.lacks, Lack{"cluster.fit", "the deadline passed before the fit"})
	case answer.Verdict == fit.Unknown:
		p.lacks = append(p.lacks, Lack{"cluster.fit", strings.Join(answer.Assumed, "; ")})
	}
	p.settle()
	return p
}

// Conclude asks the policies that read findings or the fit.
func (p Pending) Conclude(ctx context.Context) Pending {
	if p.job == nil {
		return p
	}
	p.own()
	p.ask(ctx, OnTheReview, ptr.Deref(p.report.Fit, fit.Result{}), slices.Concat(p.report.Findings, p.silenced))
	p.settle()
	return p
}

// Cut ends a review before its checks or its last policies: those are undecided.
func (p Pending) Cut(why string) Report {
	if p.job != nil {
		p.own()
		p.unasked(OnTheReview, why)
		p.settle()
	}
	return p.Report()
}

// Unasked is the report about a job of which nothing could be read, and why: what its policies say
// to that.
func (r *Reviewer) Unasked(req Request, why string) Report {
	p := Pending{reviewer: r, req: req, report: Report{Decision: Allowed}}
	if r.Policies == nil || ModeOf(req.Namespace) == ModeOff {
		return p.report
	}
	p.policies = r.Policies.InForce()
	p.report.Revision = p.policies.Revision()
	p.unasked(OnTheJob, why)
	p.unasked(OnTheReview, why)
	p.settle()
	return p.report
}

// Report is what was found out. Where only annotations were changed, what was found was found before, too.
func (p Pending) Report() Report {
	if p.before != nil {
		p.report.Findings, p.report.Skipped, p.report.Fit = nil, nil, nil
		p.report.Decision = decide(nil, p.report.Rulings)
	}
	return p.report
}

// own makes what this stage appends its own: the value before it may be in use elsewhere.
func (p *Pending) own() {
	r := &p.report
	r.Findings, r.Rulings = slices.Clip(slices.Clone(r.Findings)), slices.Clip(r.Rulings)
	r.Skipped, r.Undecided, p.lacks = slices.Clip(r.Skipped), slices.Clip(r.Undecided), slices.Clip(p.lacks)
}

func (p *Pending) settle() {
	sortFindings(p.report.Findings)
	p.report.Decision = decide(p.report.Findings, p.report.Rulings)
}

// ask asks the policies of a stage. An engine that fails or panics leaves all its rules unasked.
func (p *Pending) ask(ctx context.Context, stage Stage, answer fit.Result, findings []finding.Finding) {
	if !p.asks(stage) {
		return
	}
	failed := func(why string) {
		p.report.Undecided = append(p.report.Undecided, "engine: "+why)
		p.unasked(stage, "the engine failed")
	}
	defer func() {
		if v := recover(); v != nil {
			failed(fmt.Sprintf("panic: %v", v))
		}
	}()
	q := Question{Stage: stage, Lacks: p.lacks}
	if p.before != nil {
		req := p.req
		req.Object = req.Old
		q.Before = new(inputOf(p.before, req, answer, findings, p.reads(stage)))
		q.Before.OldJob = p.oldView()
	}
	in := inputOf(p.job, p.req, answer, findings, p.reads(stage))
	in.OldJob = p.oldView()
	ruled, err := p.policies.Decide(ctx, in, q)
	if err != nil {
		failed(err.Error())
		return
	}
	p.add(ruled)
}

// oldView is the job before an update, where a rule reads it.
func (p *Pending) oldView() *OldJobView {
	if p.old == nil {
		return nil
	}
	return &OldJobView{Pods: p.old.MaxPods(), GPUs: allGPUs(p.old), Suspended: p.old.Suspended}
}

// asks says whether a rule of the stage may have something to say.
func (p *Pending) asks(stage Stage) bool {
	s, selective := p.policies.(Selective)
	return p.policies != nil && (!selective || s.Asks(stage))
}

// reads says which parts of the input the rules of a stage read.
func (p *Pending) reads(stage Stage) func(part string) bool {
	s, selective := p.policies.(Selective)
	return func(part string) bool { return p.policies != nil && (!selective || s.Reads(stage, part)) }
}

// unasked files the rules of a stage as undecided.
func (p *Pending) unasked(stage Stage, why string) {
	if p.policies == nil {
		return
	}
	p.add(p.policies.Unasked(ModeOf(p.req.Namespace), stage, why))
}

func (p *Pending) add(ruled Ruled) {
	p.report.Rulings = slices.Grow(p.report.Rulings, len(ruled.Rulings))
	for _, r := range ruled.Rulings {
		if r.Effect == Mute {
			p.mute(r)
		} else {
			p.report.Rulings = append(p.report.Rulings, r)
		}
	}
	slices.SortStableFunc(p.report.Rulings, byPolicy)
	p.report.Exempted = append(slices.Clip(p.report.Exempted), ruled.Exempted...)
	for _, u := range ruled.Undecided {
		if !slices.Contains(p.report.Undecided, u) {
			p.report.Undecided = append(p.report.Undecided, u)
		}
	}
}

// mute takes back what a check found at a place and below it, and says so. What other policies say
// of it stands.
func (p *Pending) mute(r Ruling) {
	left := slices.DeleteFunc(slices.Clone(p.report.Findings), func(f finding.Finding) bool {
		return f.Check == r.Check && (r.Path == "" || f.Path.Within(r.Path))
	})
	if n := len(p.report.Findings) - len(left); n > 0 {
		p.report.Findings = left
		p.report.Exempted = append(slices.Clip(p.report.Exempted), fmt.Sprintf("%s: %s is muted: %s", r.Policy, r.Check, r.Message))
	}
}
