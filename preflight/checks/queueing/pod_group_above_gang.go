package queueing

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

var podGroupAboveGang = &check.Check{
	Name:     "pod-group-above-gang",
	Title:    "a pod group waits for more pods than the job has",
	Remedy:   "Lower the minimum of the pod group to the number of pods, or add pods.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Objects | check.Whole,
	Run: func(p *check.Pass) error {
		for _, l := range limits(p, quota.RuleMembers) {
			p.Report(limitFinding(l))
		}
		return nil
	},
}
