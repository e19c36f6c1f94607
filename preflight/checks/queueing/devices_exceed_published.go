package queueing

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

var devicesExceedPublished = &check.Check{
	Name:     "devices-exceed-published",
	Title:    "the pods claim more devices than the nodes publish",
	Remedy:   "Claim no more devices than one node has, and spread the work over more pods.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Objects | check.Whole,
	Run: func(p *check.Pass) error {
		for _, l := range limits(p, quota.RuleDevices) {
			p.Report(limitFinding(l))
		}
		return nil
	},
}
