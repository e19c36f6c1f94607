package counts

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var torchrunStartsOneProcess = &check.Check{
	Name:     "torchrun-starts-one-process",
	Title:    "torchrun starts one process beside several GPUs",
	Remedy:   "Write --nproc-per-node=auto, or the number of GPUs.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.World == kinds.WorldOfPod },
	Needs: check.Whole,
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		c, _ := r.Trainer()
		gpus := r.Pod.GPUs()
		if c == nil || r.Launch.Program != "torchrun" || r.Launch.Has("nproc-per-node") || facts.Sets(c, "PET_NPROC_PER_NODE", "nproc") {
			return
		}
		if gpus.N > 1 && job.AcceleratorUnit(gpus.Resource) == job.Device {
			p.Reportf(r.Launch.Path, "torchrun runs without --nproc-per-node and starts one process in each pod, which has %d %s", gpus.N, gpus.Resource)
		}
	}),
}
