package resources

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var deviceClaimShared = &check.Check{
	Name:     "device-claim-shared",
	Title:    "all pods of a role share one device claim",
	Remedy:   "Name a ResourceClaimTemplate, which gives every pod a claim of its own.",
	Severity: finding.Warning, Since: "0.1",
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		for k, c := range r.Pod.Spec.ResourceClaims {
			if c.ResourceClaimName != nil && r.Replicas.Max > 1 {
				p.Reportf(r.Pod.At(job.Path("resourceClaims").Index(k).Child("resourceClaimName")), "%s share ResourceClaim %q, so they must run on one node and share its devices",
					facts.PodsOf(r), *c.ResourceClaimName)
			}
		}
	}),
}
