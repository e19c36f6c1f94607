package lifecycle

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var jobRetriesFirst = &check.Check{
	Name:     "job-retries-first",
	Title:    "one pod is tried again by itself before the JobSet starts all anew",
	Remedy:   "Write backoffLimit: 0 in the Job, so that a failure starts all pods again together.",
	Severity: finding.Note, Since: "0.1",
	Kinds: []string{"JobSet.jobset.x-k8s.io"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		restarts, _ := facts.Number(p.Job, "spec.failurePolicy.maxRestarts")
		if restarts < 1 {
			return
		}
		for r := range p.Job.EachRole() {
			spec := r.Path.Child("template", "spec")
			if r.Pod.GPUs().N == 0 || r.Replicas.Max < 2 || p.Job.Field(spec.Child("podFailurePolicy")) != nil || p.Job.Field(spec.Child("backoffLimitPerIndex")) != nil {
				continue
			}
			at := spec.Child("backoffLimit")
			tries, written := facts.Number(p.Job, at)
			if !written {
				tries, at = 6, spec // the API's default, k8s.io/api batch/v1 JobSpec
			}
			if tries > 0 && p.Job.Field(spec) != nil {
				p.Reportf(at, "backoffLimit of %s is %d: a failed pod is tried again alone, with its %s waiting, before maxRestarts %d starts them all anew", r.Name, tries, facts.Count(p.Job.MaxPods()-1, "peer"), restarts)
			}
		}
	},
}
