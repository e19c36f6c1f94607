package counts

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var procsNotUnderstood = &check.Check{
	Name:     "procs-not-understood",
	Title:    "the number of processes per pod is none",
	Remedy:   "Write a number of 1 or more, or auto where the kind takes it.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		for _, at := range []job.Path{"spec.nprocPerNode", "spec.trainer.numProcPerNode", "spec.slotsPerWorker", "spec.worker.procPerWorker", "spec.elasticPolicy.nProcPerNode"} {
			if n, ok := facts.Number(p.Job, at); ok && n < 1 {
				p.Reportf(at, "%s is %d: no process starts in any pod; it must be 1 or more", facts.LastStep(at), n)
			}
		}
		const ofTrainer = job.Path("spec.trainer.numProcPerNode")
		if procs, written := facts.Text(p.Job, ofTrainer); written && !slices.Contains(trainerWords, procs) {
			if !job.Templated(procs) {
				p.Report(finding.Finding{Path: ofTrainer, Severity: finding.Error, Message: fmt.Sprintf("numProcPerNode is %q; Trainer takes a number without quotes, or auto, cpu, gpu", procs)})
			}
		}
		const at = job.Path("spec.nprocPerNode")
		procs, written := facts.Text(p.Job, at)
		if !written || job.Templated(procs) || slices.Contains(deviceWords, procs) {
			return
		}
		if n, err := strconv.Atoi(procs); err != nil || n < 1 {
			p.Reportf(at, "nprocPerNode is %q; torchrun takes a number of 1 or more, auto, cpu, gpu or the name of a kind of device", procs)
		}
	},
}

// trainerWords are the texts that Trainer takes for a number (trainer v2.1.0
// pkg/runtime/framework/plugins/torch/torch.go; v2.2 takes none).
var trainerWords = []string{"auto", "cpu", "gpu"}

// deviceWords are what torchrun counts by itself: torch/distributed/run.py of PyTorch v2.8,
// determine_local_world_size, with the names that vendors give their backends
// (torch.utils.rename_privateuse1_backend).
var deviceWords = []string{"auto", "cpu", "gpu", "xpu", "npu", "mlu", "hpu", "musa", "gcu", "maca", "sdaa", "xla"}
