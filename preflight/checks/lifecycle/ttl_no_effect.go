package lifecycle

import (
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var ttlNoEffect = &check.Check{
	Name:     "ttl-no-effect",
	Title:    "a job that fails by exit code is never cleaned up",
	Remedy:   "Delete failed jobs by other means, or use restartPolicy OnFailure or Never.",
	Severity: finding.Note, Since: "0.1",
	Where: func(o *kinds.Operator) bool {
		return o.TTL != "" && slices.Contains(o.RestartPolicies, "ExitCode") && !o.Has(kinds.Launcher)
	},
	Run: func(p *check.Pass) {
		at := p.Operator.TTL
		seconds, written := facts.Number(p.Job, at)
		for r := range p.Job.EachRole() {
			if policy, _ := facts.Text(p.Job, r.Path.Child("restartPolicy")); written && policy == "ExitCode" {
				p.Reportf(at, "ttlSecondsAfterFinished is %d, but a job that %s ends by a permanent exit code has no completion time to count from", seconds, r.Name)
				return
			}
		}
	},
}
