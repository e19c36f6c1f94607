package queueing

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

var queueClosed = &check.Check{
	Name:     "queue-closed",
	Title:    "the queue of the job takes no jobs",
	Remedy:   "Ask who stopped the queue, or name another one.",
	Severity: finding.Warning, Since: "0.1",
	Needs: check.Objects | check.Whole,
	Run: func(p *check.Pass) error {
		for _, l := range limits(p, quota.RuleQueueClosed) {
			p.Report(limitFinding(l))
		}
		return nil
	},
}
