package resources

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

var cpuSmallBesideGPUs = &check.Check{
	Name:     "cpu-small-beside-gpus",
	Title:    "less CPU or memory than the GPUs beside it need to be fed",
	Remedy:   "Raise the limits to what feeds the GPUs; clouds sell 4 CPUs and 16 GiB with one GPU at least.",
	Severity: finding.Warning, Since: "0.1",
	Params: func() any { return &besideParams{MilliCPU: 1000, Memory: 1 << 30} },
	Run: func(p *check.Pass) {
		least := p.Params.(*besideParams)
		for r := range p.Job.EachRole() {
			c, k := r.Trainer()
			if c == nil || r.Pod.Partial || r.Replicas.Max == 0 {
				continue
			}
			own := job.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{*c}}, Requests: job.ResourcesOf(c.Resources.Limits)}.GPUs()
			if own.N == 0 || job.AcceleratorUnit(own.Resource) != job.Device {
				continue
			}
			for _, one := range []struct {
				name  corev1.ResourceName
				least int64
			}{{corev1.ResourceCPU, least.MilliCPU}, {corev1.ResourceMemory, least.Memory}} {
				who, n, limited := facts.LimitOf(&r.Pod.Spec, c, one.name)
				if want := saturate.Mul(one.least, own.N); limited && n > 0 && n < want {
					p.ReportAs(finding.Finding{
						Path:  r.Pod.At(job.Path("containers").Index(k).Child("resources", "limits").Key(string(one.name))),
						Facts: []finding.Fact{{Name: "gpus", Value: own.N}, {Name: "limit", Value: n}},
					}, "%s of %s has %d %s and a %s limit of %s: less than %s for each", who, r.Name, own.N, own.Resource, one.name, job.Format(one.name, n), job.Format(one.name, one.least))
				}
			}
		}
	},
}

type besideParams struct {
	MilliCPU int64 `json:"milliCPUPerGPU" doc:"thousandths of a CPU that each GPU has to have beside it"`
	Memory   int64 `json:"memoryBytesPerGPU" doc:"bytes of memory that each GPU has to have beside it"`
}
