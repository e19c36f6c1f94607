package counts

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var elasticCountsOnlyWorkers = &check.Check{
	Name:     "elastic-counts-only-workers",
	Title:    "the master is one node more than the elastic bounds take",
	Remedy:   "Leave the Master out of an elastic job, or raise maxReplicas by one.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"PyTorchJob.kubeflow.org"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		const policy = job.Path("spec.elasticPolicy")
		master, worker := p.Operator.Role(p.Job, kinds.Leader), p.Operator.Role(p.Job, kinds.Worker)
		if p.Job.Field(policy) == nil || master == nil || worker == nil {
			return
		}
		for _, r := range []*job.Role{master, worker} {
			if r.Launch.Program != "torchrun" || r.Launch.Has("nnodes", "standalone") {
				return
			}
		}
		pods := facts.PodsThatJoin(p.Job, worker)[0]
		most, at := int64(pods-1), policy // the operator's default: as many as there are Workers
		for _, bound := range []string{"minReplicas", "maxReplicas"} {
			if n, ok := facts.Number(p.Job, policy.Child(bound)); ok {
				most, at = n, policy.Child(bound)
			}
		}
		if int64(pods) > most {
			p.Reportf(at, "%s run torchrun (1 Master + %s), but at most %s may join: the others wait for a place that never comes", facts.Count(pods, "pod"), facts.Count(pods-1, "Worker"), facts.Count(most, "node"))
		}
	},
}
