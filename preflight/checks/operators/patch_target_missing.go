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
	Run: func(p *check.Pass) error {
		for _, u := range p.Job.Unread {
			if u.Kind == job.PatchedJobMissing || u.Kind == job.PatchedContainerMissing {
				p.Reportf(u.Path, "%s", u)
			}
		}
		return nil
	},
}
