package counts

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var frameworkNoTasks = &check.Check{
	Name:     "framework-no-tasks",
	Title:    "the framework has no tasks and never ends",
	Remedy:   "Write a taskNumber of 1 or more.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"Framework.frameworkcontroller.microsoft.com"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		const roles = job.Path("spec.taskRoles")
		if p.Job.MaxPods() == 0 {
			p.Reportf(roles, "the taskRoles have 0 tasks (a taskNumber that is left out is 0), and an attempt without tasks never completes by itself")
		}
	},
}
