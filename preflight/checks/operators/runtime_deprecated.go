package operators

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var runtimeDeprecated = &check.Check{
	Name:     "runtime-deprecated",
	Title:    "the TrainJob uses a runtime that is to go",
	Remedy:   "Name the runtime that takes its place; ask who keeps the runtimes.",
	Severity: finding.Note, Since: "0.1",
	Kinds: []string{"TrainJob.trainer.kubeflow.org"},
	Needs: check.Objects,
	Run: func(p *check.Pass) {
		gvk, namespace, name := facts.RuntimeOf(p.Job)
		runtime, there := p.Cluster.Lookup(gvk, namespace, name)
		if there != job.Present || runtime == nil || runtime.GetLabels()["trainer.kubeflow.org/support"] != "deprecated" {
			return
		}
		p.Reportf("spec.runtimeRef.name", "%s %q has the label trainer.kubeflow.org/support: \"deprecated\"; a later release removes it", gvk.Kind, name)
	},
}
