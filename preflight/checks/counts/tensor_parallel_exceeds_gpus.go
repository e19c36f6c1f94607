package counts

import (
	"fmt"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

var tensorParallelExceedsGPUs = &check.Check{
	Name:     "tensor-parallel-exceeds-gpus",
	Title:    "a model is split over more GPUs than the pod has",
	Remedy:   "Ask for as many GPUs as tensor and pipeline parallelism multiply to, or lower them.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Whole,
	Run: func(p *check.Pass) error {
		for i := range p.Job.Roles {
			r := &p.Job.Roles[i]
			l, gpus := &r.Launch, r.Pod.GPUs()
			if l.Program != "vllm" && l.Program != "sglang" || p.Job.MaxPods() != 1 || gpus.N == 0 || job.AcceleratorUnit(gpus.Resource) != job.Device {
				continue // several pods may share the model
			}
			tensor, at, ok := anyCount(l, "tensor-parallel-size", "tp-size", "tp")
			pipeline, alsoAt, too := anyCount(l, "pipeline-parallel-size", "pp-size", "pp")
			if at == "" {
				at = alsoAt
			}
			if parts := saturate.Mul(tensor, pipeline); ok && too && parts > gpus.N {
				p.Report(finding.Finding{
					Path:    at,
					Message: fmt.Sprintf("%s splits the model over tensor %d × pipeline %d = %s, but the pod has %d %s", l.Program, tensor, pipeline, facts.Count(parts, "GPU"), gpus.N, gpus.Resource),
					Facts:   []finding.Fact{{Name: "parts", Value: parts}, {Name: "gpus", Value: gpus.N}},
				})
			}
		}
		return nil
	},
}

// anyCount is the number under the one of several names that is written; 1 where none is.
// ok is false where one is written in a way that is no number.
func anyCount(l *job.Launch, names ...string) (n int64, at job.Path, ok bool) {
	for _, name := range names {
		if _, written := l.Arg(name); written {
			return l.Count(name)
		}
	}
	return 1, "", true
}
