package queueing

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var priorityOutOfRange = &check.Check{
	Name:     "priority-out-of-range",
	Title:    "the scheduler of T9k does not have this priority",
	Remedy:   "Write a priority from 0 to 100.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"ColossalAIJob.batch.tensorstack.dev"},
	Run: func(p *check.Pass) {
		const at = job.Path("spec.scheduler.t9kScheduler.priority")
		if n, ok := facts.Number(p.Job, at); ok && (n < 0 || n > 100) {
			p.Reportf(at, "priority is %d; the scheduler takes 0 to 100", n)
		}
	},
}
