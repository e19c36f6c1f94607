package queueing

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

var quotaExceeded = &check.Check{
	Name:     "quota-exceeded",
	Title:    "the job in sum is above a ResourceQuota of its namespace",
	Remedy:   "Ask for less, or have the quota raised.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Objects | check.Whole,
	Run: func(p *check.Pass) error {
		for _, l := range limits(p, quota.RuleQuota) {
			f := limitFinding(l)
			if l.When == quota.Now {
				f.Severity, f.Remedy = finding.Warning, "Wait for other pods of the namespace to end, or ask for less."
			}
			p.Report(f)
		}
		return nil
	},
}
