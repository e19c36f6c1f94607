package operators

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var fieldsOfAnotherVersion = &check.Check{
	Name:     "fields-of-another-version",
	Title:    "a field that only some versions of Trainer have",
	Remedy:   "Write podTemplateOverrides for Trainer v2.1, runtimePatches for v2.2 and later, and not both.",
	Severity: finding.Warning, Since: "0.1",
	Kinds:    []string{"TrainJob.trainer.kubeflow.org"},
	Eclipses: []string{"unknown-field"},
	// A field that is still there when the job reaches us in the cluster is one that the
	// version there has: the API server drops the others first.
	Run: func(p *check.Pass) {
		const overrides, patches = job.Path("spec.podTemplateOverrides"), job.Path("spec.runtimePatches")
		switch {
		case p.Job.Field("spec.podSpecOverrides") != nil:
			p.Report(finding.Finding{Path: "spec.podSpecOverrides", Named: true, Message: "podSpecOverrides is of Trainer v2.0; v2.1 and later drop it, and the pods stay as the runtime has them"})
		case p.Job.Field(overrides) != nil && p.Job.Field(patches) != nil:
			p.Reportf(patches, "podTemplateOverrides is of Trainer v2.1 and runtimePatches of v2.2 and later: every version drops one of the two")
		}
	},
}
