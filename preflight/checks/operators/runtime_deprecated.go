package operators

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var runtimeDeprecated = &check.Check{
	Name:     "runtime-deprecated",
	Title:    "the TrainJob uses a runtime that is to go",
	Remedy:   "Name the runtime that takes its place; ask who keeps the runtimes.",
	Severity: finding.Note, Since: "0.1",
	Kinds: []string{"TrainJob.trainer.kubeflow.org"},
	Needs: check.Objects,
	Run: func(p *check.Pass) {
		runtime, name := facts.Runtime(p)
		if runtime != nil && runtime.Source.GetLabels()["trainer.kubeflow.org/support"] == "deprecated" {
			p.Reportf("spec.runtimeRef.name", "%s %q has the label trainer.kubeflow.org/support: \"deprecated\"; a later release removes it", runtime.Source.GetKind(), name)
		}
	},
}
