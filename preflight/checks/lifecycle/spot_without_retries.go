package lifecycle

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var spotWithoutRetries = &check.Check{
	Name:     "spot-without-retries",
	Title:    "pods on spot nodes, and the first that is lost ends the job",
	Remedy:   "Allow retries for what the cloud takes back, or select nodes that stay.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.Jobs != nil },
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		restarts, _ := facts.Number(p.Job, "spec.failurePolicy.maxRestarts")
		if restarts > 0 || p.Job.Field("spec.failurePolicy.rules") != nil {
			return
		}
		for r := range p.Job.EachRole() {
			spec, _ := p.Operator.JobSpec(r)
			_, what := facts.SpotSelection(&r.Pod.Spec)
			tries, written := facts.Number(p.Job, spec.Child("backoffLimit"))
			if what == "" || !written || tries > 0 || r.Replicas.Max == 0 || p.Job.Field(spec.Child("podFailurePolicy")) != nil {
				continue
			}
			p.Reportf(spec.Child("backoffLimit"), "backoffLimit is %d, and %s runs on spot nodes (%s): the first of %s whose node is taken back ends the job", tries, r.Name, what, facts.Count(p.Job.MaxPods(), "pod"))
		}
	},
}
