package counts

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var gangMinAboveReplicas = &check.Check{
	Name:     "gang-min-above-replicas",
	Title:    "the gang waits for more members than the job declares",
	Remedy:   "Lower the minimum to the number of pods, or add replicas.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		if most := p.Job.MaxPods(); p.Job.Gang.MinMembers > most && len(p.Job.Roles) > 0 {
			p.ReportAs(finding.Finding{
				Path:  p.Job.Gang.Path,
				Facts: []finding.Fact{{Name: "minimum", Value: int64(p.Job.Gang.MinMembers)}, {Name: "pods", Value: int64(most)}},
			}, "the gang waits for %d members, but the roles add up to %s", p.Job.Gang.MinMembers, facts.Count(most, "pod"))
		}
	},
}
