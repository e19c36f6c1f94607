package checks

import (
	"fmt"
	"strconv"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var procsDifferFromGPUs = &check.Check{
	Name:     "procs-differ-from-gpus",
	Title:    "processes per pod and GPUs per pod differ",
	Doc:      readme("procs-differ-from-gpus"),
	Remedy:   "Start one process per GPU, or ask for as many GPUs as there are processes.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"PyTorchJob", "TrainJob", "ColossalAIJob"},
	Needs: check.Whole,
	Run: func(p *check.Pass) error {
		at, procs, ok := procsWritten(p.Job)
		if !ok {
			return nil
		}
		for i := range p.Job.Roles {
			r := &p.Job.Roles[i]
			gpus := r.Pod.GPUs()
			if gpus.N == 0 || gpus.N == procs || job.AcceleratorUnit(gpus.Resource) != job.Device || !trains(p.Job, r) {
				continue
			}
			p.Report(finding.Finding{
				Path:    at,
				Message: fmt.Sprintf("%s on every %s; it has %d %s", count(procs, "process"), r.Name, gpus.N, gpus.Resource),
				Facts:   []finding.Fact{{Name: "processes", Value: procs}, {Name: "gpus", Value: gpus.N}},
			})
		}
		return nil
	},
}

// procsWritten is the number of processes per pod where the job says it as a number, and
// the place. One torch process that drives several GPUs is a choice (model parallelism), so
// an explicit 1 says nothing there.
func procsWritten(j *job.Job) (at job.Path, procs int64, ok bool) {
	switch j.Ref.Kind {
	case "ColossalAIJob":
		at = "spec.worker.procPerWorker"
		if field(j, at) == nil {
			return "spec.worker", 1, field(j, "spec.worker") != nil // the manual's default
		}
	case "TrainJob":
		at = "spec.trainer.numProcPerNode"
	default:
		at = "spec.nprocPerNode"
	}
	if s, isText := text(j, at); isText {
		n, err := strconv.ParseInt(s, 10, 32)
		procs, ok = n, err == nil
	} else {
		procs, ok = number(j, at)
	}
	return at, procs, ok && procs > 0 && (procs > 1 || j.Ref.Kind == "ColossalAIJob")
}

// trains says whether the processes are started in the role.
func trains(j *job.Job, r *job.Role) bool {
	switch j.Ref.Kind {
	case "ColossalAIJob":
		return r.Name == "worker"
	case "TrainJob":
		return r.Name == "node"
	}
	return true
}
