package operators

import (
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var trainerSettingsUnused = &check.Check{
	Name:     "trainer-settings-unused",
	Title:    "what spec.trainer says reaches no container",
	Remedy:   "Label the runtime's replicated Job trainer.kubeflow.org/trainjob-ancestor-step: trainer, and call its container node.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"TrainJob.trainer.kubeflow.org"},
	Run: func(p *check.Pass) {
		var lost []string
		for _, name := range []string{"image", "command", "args", "env", "numNodes", "numProcPerNode", "resourcesPerNode"} {
			if p.Job.Field(job.Path("spec.trainer").Child(name)) != nil {
				lost = append(lost, name)
			}
		}
		if len(lost) == 0 || len(p.Job.Roles) == 0 {
			return // without replicated Jobs there is nothing to reach at all
		}
		for r := range p.Job.EachRole() {
			// The reader names the container that Trainer looks for in Jobs with the label; whether
			// it is there is another check's question.
			if r.Pod.Partial || r.Container == p.Operator.Containers[0] {
				return
			}
		}
		p.Reportf("spec.trainer", "trainer.%s %s no effect: no replicated Job of the runtime has the label trainer.kubeflow.org/trainjob-ancestor-step=trainer",
			strings.Join(lost, ", "), map[bool]string{true: "has", false: "have"}[len(lost) == 1])
	},
}
