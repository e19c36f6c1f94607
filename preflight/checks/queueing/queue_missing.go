package queueing

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

var queueMissing = &check.Check{
	Name:     "queue-missing",
	Title:    "the queue of the job does not exist or does not take it",
	Remedy:   "Name a queue that takes jobs of the namespace.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Objects | check.Whole,
	Run: func(p *check.Pass) error {
		for _, l := range limits(p, quota.RuleQueueMissing) {
			p.Report(limitFinding(l))
		}
		return nil
	},
}
