package counts

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var gangMinBelowPods = &check.Check{
	Name:     "gang-min-below-pods",
	Title:    "the gang starts before all pods that train together have a place",
	Remedy:   "Raise the minimum to the number of pods, or leave it out.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.Collective },
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		g, pods := p.Job.Gang, p.Job.MaxPods()
		gpus, needed := p.Job.GPUs(), pods
		if launcher := p.Operator.Role(p.Job, kinds.Launcher); launcher != nil {
			needed -= launcher.Replicas.Max // it waits for the workers
		}
		if g.MinMembers < 1 || g.MinMembers >= needed || gpus == 0 || p.Job.Field("spec.elasticPolicy") != nil {
			return
		}
		p.ReportAs(finding.Finding{Path: g.Path, Facts: []finding.Fact{{Name: "minimum", Value: int64(g.MinMembers)}, {Name: "pods", Value: int64(pods)}}},
			"the gang starts with %d of %s; those that start hold GPUs and wait for the others", g.MinMembers, facts.Count(pods, "pod"))
	},
}
