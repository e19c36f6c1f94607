package launch

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var trainingCommandMissing = &check.Check{
	Name:     "training-command-missing",
	Title:    "the ColossalAIJob starts workers and has nothing for them to do",
	Remedy:   "Write the training script and its arguments under spec.worker.command.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"ColossalAIJob.batch.tensorstack.dev"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		debug, _ := p.Job.Field("spec.runMode.debug.enabled").(bool)
		if words, _ := p.Job.Field("spec.worker.command").([]any); len(words) > 0 || debug || p.Job.Suspended || p.Job.Field("spec.worker") == nil {
			return
		}
		p.Reportf("spec.worker", "worker.command is missing: the launcher has nothing to start on %s", facts.Count(p.Operator.Role(p.Job, kinds.Worker).Replicas.Max, "worker"))
	},
}
