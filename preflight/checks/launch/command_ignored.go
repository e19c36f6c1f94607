package launch

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var commandIgnored = &check.Check{
	Name:     "command-ignored",
	Title:    "the worker's own command is replaced by sshd",
	Remedy:   "Move the training command to spec.worker.command.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"ColossalAIJob.batch.tensorstack.dev"},
	Run: func(p *check.Pass) {
		for at, c := range p.Job.Elements("spec.worker.template.spec.containers") {
			c, _ := c.(map[string]any)
			if worker := p.Operator.Role(p.Job, kinds.Worker); worker == nil || c["name"] != worker.Container {
				continue
			}
			for _, key := range []string{"command", "args"} {
				if words, _ := c[key].([]any); len(words) > 0 {
					runs := map[string]string{"command": "runs", "args": "run"}[key]
					p.Reportf(at.Child(key), "the %s of container %s (%s) never %s: the operator starts sshd in its place", key, c["name"], facts.Count(len(words), "word"), runs)
				}
			}
		}
	},
}
