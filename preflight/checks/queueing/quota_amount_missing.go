package queueing

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

var quotaAmountMissing = &check.Check{
	Name:     "quota-amount-missing",
	Title:    "a container does not say an amount that a ResourceQuota needs",
	Remedy:   "Write the amount for every container, or have a LimitRange fill it in.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Objects | check.Whole,
	Run: func(p *check.Pass) error {
		for _, l := range limits(p, quota.RuleAmount) {
			p.Report(limitFinding(l))
		}
		return nil
	},
}
