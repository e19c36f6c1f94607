package counts

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var mpiWorkerCount = &check.Check{
	Name:     "mpi-worker-count",
	Title:    "the MPIJob declares workers and asks for none",
	Remedy:   "Write how many workers there are; the operator's default is none.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"MPIJob.kubeflow.org"},
	Needs: check.Whole,
	Run: func(p *check.Pass) error {
		worker := p.Operator.Role(p.Job, kinds.Worker)
		if worker == nil || worker.Replicas.Max > 0 {
			return nil
		}
		f := finding.Finding{Path: worker.ReplicasPath, Message: "Worker has 0 replicas: mpirun finds no host but the launcher's"}
		if p.Operator.NeedsWorkers {
			f.Severity, f.Message = finding.Error, "Worker has 0 replicas; the operator requires at least one and makes no pods otherwise"
		}
		p.Report(f)
		return nil
	},
}
