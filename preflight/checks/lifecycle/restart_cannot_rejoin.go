package lifecycle

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var restartCannotRejoin = &check.Check{
	Name:     "restart-cannot-rejoin",
	Title:    "a restarted worker does not rejoin the training",
	Remedy:   "Write restartPolicy Never, so that a failed worker shows as failed.",
	Severity: finding.Note, Since: "0.1",
	Kinds: []string{"ColossalAIJob.batch.tensorstack.dev"},
	Run: func(p *check.Pass) {
		const at = job.Path("spec.worker.template.spec.restartPolicy")
		policy, _ := facts.Text(p.Job, at)
		found := finding.Finding{Path: at, Message: "restartPolicy is " + policy + "; colossalairun does not take a restarted worker back, so the training stays broken while its pods look healthy"}
		switch policy {
		case "Always":
			found.Severity = finding.Warning // the manual's own example has OnFailure
			p.Report(found)
		case "OnFailure":
			p.Report(found)
		}
	},
}
