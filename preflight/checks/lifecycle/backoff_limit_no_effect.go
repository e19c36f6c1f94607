package lifecycle

import (
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var backoffLimitNoEffect = &check.Check{
	Name:     "backoff-limit-no-effect",
	Title:    "backoffLimit does not stop retries by exit code",
	Remedy:   "Bound the job by activeDeadlineSeconds, or use restartPolicy OnFailure.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool {
		return slices.Contains(o.RestartPolicies, "ExitCode") && !o.Has(kinds.Launcher)
	},
	Run: func(p *check.Pass) {
		const at = job.Path("spec.runPolicy.backoffLimit")
		limit, ok := facts.Number(p.Job, at)
		if !ok || limit < 1 {
			return
		}
		byExitCode := false
		for r := range p.Job.EachRole() {
			switch policy, _ := facts.Text(p.Job, r.Path.Child("restartPolicy")); policy {
			case "ExitCode":
				byExitCode = true
			case "Never":
			default: // restarts in place, written or by default, are counted
				return
			}
		}
		if byExitCode {
			p.Reportf(at, "backoffLimit is %d and is never reached: pods that restart by exit code are created anew, and count from 0 each time", limit)
		}
	},
}
