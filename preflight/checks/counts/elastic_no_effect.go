package counts

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var elasticNoEffect = &check.Check{
	Name:     "elastic-no-effect",
	Title:    "the runtime is called elastic, and nothing grows or shrinks",
	Remedy:   "Write numNodes as the number of nodes that is wanted; it alone counts.",
	Severity: finding.Note, Since: "0.1",
	Kinds: []string{"TrainJob.trainer.kubeflow.org"},
	Needs: check.Objects,
	Run: func(p *check.Pass) {
		const policy = job.Path("spec.mlPolicy.torch.elasticPolicy")
		bounds, name := facts.Runtime(p)
		if bounds == nil || bounds.Field(policy) == nil {
			return
		}
		most, written := facts.Number(bounds, policy.Child("maxNodes"))
		nodes := p.Job.MaxPods()
		if written {
			p.Reportf("spec.runtimeRef", "runtime %s has an elasticPolicy of up to %s, which no version of Trainer reads: the job starts %s and never changes that", name, facts.Count(most, "node"), facts.Count(nodes, "pod"))
			return
		}
		p.Reportf("spec.runtimeRef", "runtime %s has an elasticPolicy, which no version of Trainer reads: the job starts %s and never changes that", name, facts.Count(nodes, "pod"))
	},
}
