package checks

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var resourceClaimMissing = &check.Check{
	Name:     "resource-claim-missing",
	Title:    "a device claim or claim template does not exist",
	Doc:      readme("resource-claim-missing"),
	Remedy:   "Create it in the job's namespace, or correct its name.",
	Severity: finding.Warning, Since: "0.1",
	Needs: check.Objects,
	Run: func(p *check.Pass) error {
		reportMissing(p, "device claim", func(r Reference) bool { return r.Kind == deviceClaimKind || r.Kind == claimTemplateKind })
		return nil
	},
}
