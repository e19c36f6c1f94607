package lifecycle

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var deadlineNotPositive = &check.Check{
	Name:     "deadline-not-positive",
	Title:    "the deadline has passed when the job begins",
	Remedy:   "Write how many seconds the job may run, or leave the deadline out.",
	Severity: finding.Error, Refuses: true, Since: "0.1",
	Run: func(p *check.Pass) {
		var places []job.Path
		if at := p.Operator.Deadline; at != "" {
			places = append(places, at)
		}
		for r := range p.Job.EachRole() {
			if spec, ok := p.Operator.JobSpec(r); ok && spec.Child("activeDeadlineSeconds") != p.Operator.Deadline {
				places = append(places, spec.Child("activeDeadlineSeconds"))
			}
			places = append(places, r.Pod.At("activeDeadlineSeconds"))
		}
		for _, at := range places {
			if seconds, ok := facts.Number(p.Job, at); ok && seconds < 1 {
				p.Reportf(at, "activeDeadlineSeconds is %d; it must be 1 or more, or the job ends as it begins", seconds)
			}
		}
	},
}
