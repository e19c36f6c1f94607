package checks

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var mpiLauncherCount = &check.Check{
	Name:     "mpi-launcher-count",
	Title:    "the MPIJob does not have exactly one launcher",
	Doc:      readme("mpi-launcher-count"),
	Remedy:   "Declare one Launcher with replicas 1.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"MPIJob"},
	Needs: check.Whole,
	Run: func(p *check.Pass) error {
		if len(p.Job.Roles) == 0 {
			return nil
		}
		launcher := p.Job.Role("Launcher")
		switch {
		case launcher == nil:
			p.Reportf("spec.mpiReplicaSpecs", "there are %d launchers; the operator takes exactly 1 and leaves the job without pods otherwise", 0)
		case launcher.Replicas.Max != 1:
			p.Reportf(launcher.ReplicasPath, "there are %d launchers; the operator takes exactly 1 and leaves the job without pods otherwise", launcher.Replicas.Max)
		}
		return nil
	},
}
