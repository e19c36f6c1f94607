package counts

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var mpiSlotsDifferFromGPUs = &check.Check{
	Name:     "mpi-slots-differ-from-gpus",
	Title:    "slots per worker and GPUs per worker differ",
	Remedy:   "Write as many slots per worker as it has GPUs.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"MPIJob.kubeflow.org"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		const at = job.Path("spec.slotsPerWorker")
		slots, written := facts.Number(p.Job, at)
		worker := p.Operator.Role(p.Job, kinds.Worker)
		if worker == nil || !written || slots < 2 {
			return // one process may drive all devices of its worker
		}
		gpus := worker.Pod.GPUs()
		if gpus.N == 0 || gpus.N == slots || job.AcceleratorUnit(gpus.Resource) != job.Device {
			return
		}
		p.ReportAs(finding.Finding{Path: at, Facts: []finding.Fact{{Name: "slots", Value: slots}, {Name: "gpus", Value: gpus.N}}},
			"every worker has %s, but %d %s", facts.Count(slots, "slot"), gpus.N, gpus.Resource)
	},
}
