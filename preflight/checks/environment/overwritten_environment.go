package environment

import (
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var overwrittenEnvironment = &check.Check{
	Name:     "overwritten-environment",
	Title:    "the operator overwrites a variable that the job sets",
	Remedy:   "Remove the variable, or give it another name if the program needs its own value.",
	Severity: finding.Note, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.Env != nil },
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		for k, c := range r.Pod.Spec.Containers {
			reserved := facts.SetByOperator(p.Job, r, k)
			for n, e := range c.Env {
				if slices.Contains(reserved, e.Name) && e.ValueFrom == nil && !(e.Value != "" && e.Value == p.Operator.EnvValues[e.Name]) {
					p.Reportf(r.Pod.At(job.Path("containers").Index(k).Child("env").Index(n)), "%s is set to %s in %s, but the operator appends its own value, which wins", e.Name, facts.Quoted(e.Value), r.Name)
				}
			}
		}
	}),
}
