package checks

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var frameworkNoTasks = &check.Check{
	Name:     "framework-no-tasks",
	Title:    "the framework has no tasks and never ends",
	Doc:      readme("framework-no-tasks"),
	Remedy:   "Write a taskNumber of 1 or more.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"Framework"},
	Needs: check.Whole,
	Run: func(p *check.Pass) error {
		const roles = job.Path("spec.taskRoles")
		list, _ := field(p.Job, roles).([]any)
		if tasks := p.Job.MaxPods(); tasks == 0 {
			p.Reportf(roles, "%s with %d tasks: an omitted taskNumber is 0, and an attempt without tasks never completes by itself", count(len(list), "role"), tasks)
		}
		return nil
	},
}
