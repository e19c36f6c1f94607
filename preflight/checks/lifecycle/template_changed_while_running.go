package lifecycle

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var templateChangedWhileRunning = &check.Check{
	Name:     "template-changed-while-running",
	Title:    "pods that run keep the template that was changed",
	Remedy:   "Suspend the job before the change, or create it anew.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.KeepsTemplates || o.KeptFields != nil },
	Needs: check.Update,
	Run: func(p *check.Pass) {
		if p.Old.Suspended || p.Job.Suspended {
			return
		}
		for _, at := range p.Operator.KeptFields {
			if where, was, is, changed := firstDifference(at, p.Old.Field(at), p.Job.Field(at)); changed {
				reportKept(p, where, was, is, p.Operator.KeptWhy)
			}
		}
		if !p.Operator.KeepsTemplates {
			return
		}
		for r := range p.Job.EachRole() {
			at := r.Path.Child("template")
			if where, was, is, changed := firstDifference(at, p.Old.Field(at), p.Job.Field(at)); changed && p.Old.Field(at) != nil {
				reportKept(p, where, was, is, "running pods of "+r.Name+" keep the old value")
			}
		}
	},
}

func reportKept(p *check.Pass, where job.Path, was, is, why string) {
	p.Reportf(where, "%s %s, but %s", facts.LastStep(where), facts.Changed(where, was, is), why)
}
