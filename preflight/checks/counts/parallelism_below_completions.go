package counts

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var parallelismBelowCompletions = &check.Check{
	Name:     "parallelism-below-completions",
	Title:    "not all pods of a slice of TPUs run together",
	Remedy:   "Let parallelism and completions both be the number of hosts in the slice.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.Jobs != nil },
	Needs: check.Whole,
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		spec, _ := p.Operator.JobSpec(r)
		completions, written := facts.Number(p.Job, spec.Child("completions"))
		together, ok := facts.Number(p.Job, spec.Child("parallelism"))
		if !ok {
			together = 1
		}
		if mode, _ := facts.Text(p.Job, spec.Child("completionMode")); mode == "NonIndexed" || mode == "" && !p.Operator.Jobs.Indexed {
			return
		}
		switch {
		case !written || r.Pod.Requests["google.com/tpu"] == 0:
		case together > completions:
			p.Reportf(spec.Child("completions"), "parallelism is %d, but completions are %d, and no more pods run; the hosts of a slice find each other only if all of them run", together, completions)
		case together < completions:
			p.Reportf(spec.Child("completions"), "completions is %d, but only %d pods run at a time; the hosts of a slice find each other only if all of them run", completions, together)
		}
	}),
}
