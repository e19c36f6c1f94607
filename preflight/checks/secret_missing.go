package checks

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var secretMissing = &check.Check{
	Name:     "secret-missing",
	Title:    "a Secret that the pods need does not exist",
	Doc:      readme("secret-missing"),
	Remedy:   "Create the Secret in the job's namespace, or correct its name.",
	Severity: finding.Warning, Since: "0.1",
	Needs: check.Objects,
	Run: func(p *check.Pass) error {
		reportMissing(p, "Secret", func(r Reference) bool { return r.Kind == secretKind && !r.pull })
		return nil
	},
}
