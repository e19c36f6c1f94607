package resources

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

var cpuBelowDataLoaders = &check.Check{
	Name:     "cpu-below-data-loaders",
	Title:    "more data loaders than the CPU limit can feed",
	Remedy:   "Raise the cpu limit to the number of loaders, or start fewer of them.",
	Severity: finding.Warning, Since: "0.1",
	Params: func() any { return &loaderParams{LoadersPerCPU: 2} },
	Run: func(p *check.Pass) {
		most := p.Params.(*loaderParams).LoadersPerCPU
		for r := range p.Job.EachRole() {
			c, _ := r.Trainer()
			if c == nil || r.Pod.Partial {
				continue
			}
			o, ok := facts.Find(facts.OptionsOf(p.Job, r), "num-workers", "dataloader-num-workers", "num-data-workers", "num-dataloader-workers")
			each, isNumber := facts.AtLeastOne(o.Value)
			who, milli, limited := facts.LimitOf(&r.Pod.Spec, c, corev1.ResourceCPU)
			if !ok || !isNumber || !limited || milli <= 0 {
				continue
			}
			procs := procsAtLeast(p.Job, r)
			if loaders := saturate.Mul(each, procs); saturate.Mul(loaders, 1000) > saturate.Mul(milli, most) {
				sum := "the process starts " + facts.Count(each, "data loader")
				if procs > 1 {
					sum = fmt.Sprintf("%s with %s each make %s loaders", facts.Count(procs, "process"), facts.Count(each, "data loader"), saturate.Text(loaders))
				}
				p.ReportAs(finding.Finding{Path: o.At, Facts: []finding.Fact{{Name: "loaders", Value: loaders}, {Name: "cpuMilli", Value: milli}}},
					"%s, but the cpu limit of %s is %s", sum, who, job.Format(corev1.ResourceCPU, milli))
			}
		}
	},
}

type loaderParams struct {
	LoadersPerCPU int64 `json:"loadersPerCPU" doc:"data loaders that one CPU may feed before the check speaks"`
}

// procsAtLeast is the number of processes that certainly run in one pod: 1 where nothing
// says more.
func procsAtLeast(j *job.Job, r *job.Role) int64 {
	if n := r.Launch.ProcsPerNode.Min; n > 1 {
		return int64(n)
	}
	operator := kinds.Of(j.Ref)
	if _, n, ok := facts.ProcsWritten(j, operator.Procs); ok && operator.CountsProcs(r) {
		return n
	}
	return 1
}
