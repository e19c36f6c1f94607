package names

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var secretMissing = &check.Check{
	Name:     "secret-missing",
	Title:    "a Secret that the pods need does not exist",
	Remedy:   "Create the Secret in the job's namespace, or correct its name.",
	Severity: finding.Warning, Since: "0.1",
	Needs: check.Objects,
	Run: func(p *check.Pass) error {
		facts.ReportMissing(p, "Secret", func(r facts.Reference) bool { return r.Kind == facts.SecretKind && !r.Pull })
		return nil
	},
}
