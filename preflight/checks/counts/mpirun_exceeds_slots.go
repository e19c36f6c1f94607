package counts

import (
	"fmt"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

var mpirunExceedsSlots = &check.Check{
	Name:     "mpirun-exceeds-slots",
	Title:    "mpirun starts more processes than the workers have slots",
	Remedy:   "Raise the slots (slotsPerWorker, numProcPerNode) or the hosts, or start fewer processes.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"MPIJob.kubeflow.org", "TrainJob.trainer.kubeflow.org"},
	Needs: check.Whole,
	Run: check.EachRole(func(p *check.Pass, launcher *job.Role) {
		l := &launcher.Launch
		hosts, each := int64(l.Slots.Hosts), int64(l.Slots.Each)
		slots := saturate.Mul(hosts, each)
		if hosts == 0 || !l.Procs.Fixed() || int64(l.Procs.Min) <= slots || l.ProcsPath == "" || !keepsToSlots(launcher) {
			return
		}
		if c, _ := launcher.Trainer(); len(c.EnvFrom) > 0 { // a variable there may allow it
			p.NotHeld(fmt.Sprintf("the variables of envFrom of container %s, which may let mpirun start %s on %s", c.Name, facts.Count(l.Procs.Min, "process"), facts.Count(slots, "slot")))
			return
		}
		p.ReportAs(finding.Finding{Path: l.ProcsPath, Facts: []finding.Fact{{Name: "processes", Value: int64(l.Procs.Min)}, {Name: "slots", Value: slots}}},
			"mpirun starts %s, but %s with %s each make %d", facts.Count(l.Procs.Min, "process"), facts.Count(hosts, "host"), facts.Count(each, "slot"), slots)
	}),
}

// keepsToSlots says whether the launcher starts Open MPI's mpirun on the operator's own
// list of hosts, and lets it refuse what goes beyond their slots. Intel MPI and MPICH do
// not refuse (mpirun(1) of Open MPI 4.1, option --oversubscribe).
func keepsToSlots(launcher *job.Role) bool {
	l := &launcher.Launch
	if l.Program != "mpirun" && l.Program != "mpiexec" || l.Has("oversubscribe", "host", "H", "hosts", "f", "app", "use-hwthread-cpus") {
		return false
	}
	c, _ := launcher.Trainer()
	if c == nil {
		return false
	}
	if l.Has("hostfile", "machinefile", "default-hostfile") && !facts.Mentions(c, "/etc/mpi/hostfile") || facts.Mentions(c, "oversubscribe") || facts.Mentions(c, "OVERSUBSCRIBE") {
		return false // a list of hosts of one's own
	}
	return !slices.ContainsFunc([]string{"OMPI_MCA_rmaps_base_oversubscribe", "PRTE_MCA_rmaps_default_mapping_policy", "I_MPI_ROOT"}, func(name string) bool {
		e, _ := facts.Variable(c, name)
		return e != nil || facts.Mentions(c, name)
	})
}
