package counts

import (
	"cmp"
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
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		l := &r.Launch
		if l.Program != "vllm" && l.Program != "sglang" {
			return
		}
		gpus, who := sharing(p.Job)
		if gpus.N == 0 || job.AcceleratorUnit(gpus.Resource) != job.Device {
			return
		}
		tensor, at, ok := anyCount(l, "tensor-parallel-size", "tp-size", "tp")
		pipeline, alsoAt, too := anyCount(l, "pipeline-parallel-size", "pp-size", "pp")
		at = cmp.Or(at, alsoAt)
		if parts := saturate.Mul(tensor, pipeline); ok && too && parts > gpus.N {
			p.ReportAs(finding.Finding{Path: at, Facts: []finding.Fact{{Name: "parts", Value: parts}, {Name: "gpus", Value: gpus.N}}},
				"%s splits the model over tensor %d × pipeline %d = %s, but %s %d %s", l.Program, tensor, pipeline, facts.Count(parts, "GPU"), who, gpus.N, gpus.Resource)
		}
	}),
}

// sharing are the devices of all pods that can share one model, and which pods have them: of a LeaderWorkerSet the pods of one
// group, of another job all of its pods. None where a pod does not say what it has: it may have claimed some.
func sharing(j *job.Job) (all job.Amount, who string) {
	groups := 1
	for i := range j.Roles {
		if j.Roles[i].Along != "" {
			groups = max(1, j.Role(j.Roles[i].Along).Replicas.Max)
		}
	}
	for r := range j.EachRole() {
		gpus := r.Pod.GPUs()
		if r.Replicas.Max == 0 {
			continue
		}
		if gpus.N == 0 || all.Resource != "" && all.Resource != gpus.Resource {
			return job.Amount{}, ""
		}
		all.Resource, all.N = gpus.Resource, saturate.Add(all.N, saturate.Mul(gpus.N, int64(r.Replicas.Max/groups)))
	}
	switch pods := j.MaxPods() / groups; {
	case pods == 1:
		return all, "the pod has"
	case groups > 1:
		return all, fmt.Sprintf("the %d pods of a group have", pods)
	default:
		return all, fmt.Sprintf("the %d pods of the job have", pods)
	}
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
