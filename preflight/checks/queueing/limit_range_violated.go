package queueing

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

var limitRangeViolated = &check.Check{
	Name:     "limit-range-violated",
	Title:    "a pod or container is outside the LimitRange of its namespace",
	Remedy:   "Keep the amount within the bounds of the LimitRange, or have them widened.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Objects | check.Whole,
	Run: func(p *check.Pass) error {
		for _, l := range limits(p, quota.RuleRange) {
			p.Report(limitFinding(l))
		}
		return nil
	},
}
