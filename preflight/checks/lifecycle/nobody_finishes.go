package lifecycle

import (
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var nobodyFinishes = &check.Check{
	Name:     "nobody-finishes",
	Title:    "the TFJob has no role whose end is the job's",
	Remedy:   "Add a Chief or a Worker.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"TFJob.kubeflow.org"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		ends := slices.ContainsFunc(p.Job.Roles, func(r job.Role) bool { return r.Replicas.Max > 0 && p.Operator.Trains(&r) })
		if len(p.Job.Roles) > 0 && !ends {
			p.Reportf("spec.tfReplicaSpecs", "none of the job's %s is a Chief, Master or Worker: the job succeeds when one of those does, so never", facts.Count(p.Job.MaxPods(), "pod"))
		}
	},
}
