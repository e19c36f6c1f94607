package resources

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var sharedGPUInMultiPodJob = &check.Check{
	Name:     "shared-gpu-in-multi-pod-job",
	Title:    "pods that train together get slices of GPUs",
	Remedy:   "Ask for whole GPUs, or train in one pod on one slice.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.NCCL },
	Run: func(p *check.Pass) {
		var first job.Amount
		var slices, pods int64
		for r := range p.Job.EachRole() {
			if g := r.Pod.GPUs(); r.Replicas.Min > 0 && (job.AcceleratorUnit(g.Resource) == job.Partition || job.AcceleratorUnit(g.Resource) == job.Share) {
				if slices == 0 {
					first = g
				}
				slices, pods = slices+g.N*int64(r.Replicas.Min), pods+int64(r.Replicas.Min)
			}
		}
		if slices < 2 {
			return
		}
		what := "hardware slices of GPUs, between which there is no direct way"
		if job.AcceleratorUnit(first.Resource) == job.Share {
			what = "shares of GPUs, two of which may be one and the same GPU"
		}
		each := facts.Count(pods, "pod")
		if pods > 1 {
			each = "each of " + each
		}
		p.ReportAs(finding.Finding{Path: first.Path, Facts: []finding.Fact{{Name: "pods", Value: pods}, {Name: "slices", Value: slices}}},
			"training runs on %d %s in %s: %s", first.N, first.Resource, each, what)
	},
}
