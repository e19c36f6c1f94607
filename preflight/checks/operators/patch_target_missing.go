package operators

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var patchTargetMissing = &check.Check{
	Name:     "patch-target-missing",
	Title:    "the TrainJob changes a part that its runtime does not have",
	Remedy:   "Name a Job and a container that the runtime has.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"TrainJob.trainer.kubeflow.org"},
	Run: func(p *check.Pass) {
		for _, u := range p.Job.Unread {
			if u.Kind == job.PatchedJobMissing || u.Kind == job.PatchedContainerMissing {
				p.Reportf(u.Path, "%s", u)
			}
		}
		for at, o := range p.Job.Elements("spec.podTemplateOverrides") {
			override, _ := o.(map[string]any)
			if jobs, isList := override["targetJobs"].([]any); isList && len(jobs) == 0 {
				p.Report(finding.Finding{Severity: finding.Warning, Path: at.Child("targetJobs"), Message: "targetJobs is empty: the override changes no Job"})
			}
		}
	},
}
