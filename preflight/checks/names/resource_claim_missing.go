package names

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var resourceClaimMissing = &check.Check{
	Name:     "resource-claim-missing",
	Title:    "a device claim or claim template does not exist",
	Remedy:   "Create it in the job's namespace, or correct its name.",
	Severity: finding.Warning, Since: "0.1",
	Needs: check.Objects,
	Run: func(p *check.Pass) error {
		facts.ReportMissing(p, "device claim", func(r facts.Reference) bool {
			return r.Kind == facts.DeviceClaimKind || r.Kind == facts.ClaimTemplateKind
		})
		return nil
	},
}
