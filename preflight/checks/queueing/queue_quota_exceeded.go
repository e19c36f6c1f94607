package queueing

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

var queueQuotaExceeded = &check.Check{
	Name:     "queue-quota-exceeded",
	Title:    "the job asks for more than its queue could ever give",
	Remedy:   "Ask for less, or name a queue with more quota.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Objects | check.Whole,
	Run: func(p *check.Pass) error {
		for _, l := range limits(p, quota.RuleQueueQuota) {
			if l.When != quota.Never {
				continue // waiting is what a queue is for
			}
			p.Report(limitFinding(l))
		}
		return nil
	},
}
