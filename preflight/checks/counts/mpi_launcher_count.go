package counts

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var mpiLauncherCount = &check.Check{
	Name:     "mpi-launcher-count",
	Title:    "the MPIJob does not have exactly one launcher",
	Remedy:   "Declare one Launcher with replicas 1.",
	Severity: finding.Error, Refuses: true, Since: "0.1",
	Kinds: []string{"MPIJob.kubeflow.org"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		if len(p.Job.Roles) == 0 {
			return
		}
		launcher := p.Operator.Role(p.Job, kinds.Launcher)
		switch {
		case launcher == nil:
			p.Reportf("spec.mpiReplicaSpecs", "the job has no Launcher; the operator requires exactly one and makes no pods otherwise")
		case launcher.Replicas.Max != 1:
			p.Reportf(launcher.ReplicasPath, "Launcher has %d pods; the operator requires exactly one and makes no pods otherwise", launcher.Replicas.Max)
		}
	},
}
