package lifecycle

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var frameworkFailuresHidden = &check.Check{
	Name:     "framework-failures-hidden",
	Title:    "failed tasks end in a job that says Succeeded",
	Remedy:   "Write minFailedTaskCount: 1 for the roles whose failure fails the job.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"Framework.frameworkcontroller.microsoft.com"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		const roles = job.Path("spec.taskRoles")
		list, _ := p.Job.Field(roles).([]any)
		for i := range list {
			least, _ := facts.Number(p.Job, roles.Index(i).Child("frameworkAttemptCompletionPolicy", "minFailedTaskCount"))
			if least >= 1 {
				return
			}
		}
		if tasks := p.Job.MaxPods(); len(list) > 0 && tasks > 0 {
			p.Reportf(roles, "no role has a minFailedTaskCount of 1 or more: when all %s have ended, the Framework succeeds even if every one of them failed", facts.Count(tasks, "task"))
		}
	},
}
