package counts

import (
	"fmt"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

var mpirunExceedsSlots = &check.Check{
	Name:     "mpirun-exceeds-slots",
	Title:    "mpirun starts more processes than the workers have slots",
	Remedy:   "Raise slotsPerWorker or the workers, or start fewer processes.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"MPIJob.kubeflow.org"},
	Needs: check.Whole,
	Run: func(p *check.Pass) error {
		launcher, worker := p.Operator.Role(p.Job, kinds.Launcher), p.Operator.Role(p.Job, kinds.Worker)
		if launcher == nil || worker == nil || worker.Replicas.Max == 0 || !keepsToSlots(p.Job, launcher) {
			return nil
		}
		procs, each := launcher.Launch.Procs, int64(1)
		if n, ok := facts.Number(p.Job, "spec.slotsPerWorker"); ok {
			each = n
		}
		hosts := int64(worker.Replicas.Max)
		if works, _ := p.Job.Field("spec.runLauncherAsWorker").(bool); works {
			hosts++
		}
		if slots := saturate.Mul(hosts, each); procs.Fixed() && int64(procs.Min) > slots && launcher.Launch.ProcsPath != "" {
			p.Report(finding.Finding{
				Path:    launcher.Launch.ProcsPath,
				Message: fmt.Sprintf("mpirun starts %s, but %s with %s each make %d", facts.Count(procs.Min, "process"), facts.Count(hosts, "host"), facts.Count(each, "slot"), slots),
				Facts:   []finding.Fact{{Name: "processes", Value: int64(procs.Min)}, {Name: "slots", Value: slots}},
			})
		}
		return nil
	},
}

// keepsToSlots says whether the launcher starts Open MPI's mpirun on the operator's own
// list of hosts, and lets it refuse what goes beyond their slots. Intel MPI and MPICH do
// not refuse (mpirun(1) of Open MPI 4.1, option --oversubscribe).
func keepsToSlots(j *job.Job, launcher *job.Role) bool {
	l := &launcher.Launch
	if l.Program != "mpirun" && l.Program != "mpiexec" || l.Has("oversubscribe", "host", "H", "hosts", "f", "app", "use-hwthread-cpus") {
		return false
	}
	if implementation, _ := facts.Text(j, "spec.mpiImplementation"); implementation != "" && implementation != "OpenMPI" {
		return false
	}
	if gpus := launcher.Pod.GPUs(); kinds.Of(j.Ref).GPULauncherIsHost && gpus.N > 0 {
		return false // then the launcher is one of the hosts
	}
	c, _ := launcher.Trainer()
	if c == nil {
		return false
	}
	if l.Has("hostfile", "machinefile", "default-hostfile") && !facts.Mentions(c, "/etc/mpi/hostfile") || facts.Mentions(c, "oversubscribe") || facts.Mentions(c, "OVERSUBSCRIBE") {
		return false // a list of hosts of one's own
	}
	return !facts.Sets(c, "OMPI_MCA_rmaps_base_oversubscribe", "PRTE_MCA_rmaps_default_mapping_policy", "I_MPI_ROOT")
}
