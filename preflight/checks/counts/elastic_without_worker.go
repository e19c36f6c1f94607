package counts

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var elasticWithoutWorker = &check.Check{
	Name:     "elastic-without-worker",
	Title:    "the job is elastic and has no role that may grow",
	Remedy:   "Put the pods that train into Worker, or remove elasticPolicy.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"PyTorchJob.kubeflow.org"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		const at = job.Path("spec.elasticPolicy")
		if p.Job.Field(at) != nil && p.Operator.Role(p.Job, kinds.Worker) == nil && len(p.Job.Roles) > 0 {
			p.Reportf(at, "elasticPolicy is set, but the job has no Worker; the operator rejects it")
		}
	},
}
