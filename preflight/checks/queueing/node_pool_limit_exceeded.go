package queueing

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

var nodePoolLimitExceeded = &check.Check{
	Name:     "node-pool-limit-exceeded",
	Title:    "the job asks for more than the node pools may ever add",
	Remedy:   "Ask for less, or have the limits of the node pools raised.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Objects | check.Whole,
	Run: func(p *check.Pass) error {
		for _, l := range limits(p, quota.RulePool) {
			p.Report(limitFinding(l))
		}
		return nil
	},
}
