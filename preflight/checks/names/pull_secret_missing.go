package names

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var pullSecretMissing = &check.Check{
	Name:     "pull-secret-missing",
	Title:    "the Secret to pull images with does not exist",
	Remedy:   "Create the Secret in the job's namespace, or correct its name.",
	Severity: finding.Warning, Since: "0.1",
	Needs: check.Objects,
	Run: func(p *check.Pass) error {
		facts.ReportMissing(p, "Secret", func(r facts.Reference) bool { return r.Pull })
		return nil
	},
}
