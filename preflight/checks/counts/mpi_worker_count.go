package counts

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var mpiWorkerCount = &check.Check{
	Name:     "mpi-worker-count",
	Title:    "the MPIJob has no workers",
	Remedy:   "Write how many workers there are; the operator's default is none.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"MPIJob.kubeflow.org"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		worker := p.Operator.Role(p.Job, kinds.Worker)
		if worker == nil {
			launchedAlone(p)
			return
		}
		if worker.Replicas.Max > 0 {
			return
		}
		f := finding.Finding{Path: worker.ReplicasPath, Message: "Worker has 0 replicas: mpirun finds no host but the launcher's"}
		if p.Operator.NeedsWorkers {
			f.Severity, f.Message = finding.Error, "Worker has 0 replicas; the operator requires at least one and makes no pods otherwise"
		}
		p.Report(f)
	},
}

// launchedAlone: a job without the role may be meant for its launcher alone, but not where that starts several processes.
func launchedAlone(p *check.Pass) {
	launcher := p.Operator.Role(p.Job, kinds.Launcher)
	if launcher == nil || p.Job.Field("spec.runLauncherAsWorker") == true {
		return
	}
	if l := &launcher.Launch; l.ProcsPath != "" && l.Procs.Fixed() && l.Procs.Min > 1 && (l.Program == "mpirun" || l.Program == "mpiexec") {
		p.Reportf(l.ProcsPath, "%s starts %s, and the MPIJob has no Worker: it finds no host but the launcher's", l.Program, facts.Count(l.Procs.Min, "process"))
	}
}
