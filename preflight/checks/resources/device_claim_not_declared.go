package resources

import (
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var deviceClaimNotDeclared = &check.Check{
	Name:     "device-claim-not-declared",
	Title:    "a container uses a device claim that its pod does not have",
	Remedy:   "Declare the claim under resourceClaims of the pod, or correct its name.",
	Severity: finding.Error, Refuses: true, Since: "0.1",
	Run: func(p *check.Pass) {
		for r, c := range p.Job.EachContainer() {
			if r.Pod.Partial {
				continue
			}
			var names []string
			for _, claim := range r.Pod.Spec.ResourceClaims {
				names = append(names, claim.Name)
			}
			for k, used := range c.Resources.Claims {
				if at := r.Pod.At(c.Rel.Child("resources", "claims").Index(k)); !slices.Contains(names, used.Name) {
					p.Reportf(at, "%s uses claim %q, which the pod does not declare, so it is rejected%s", facts.Whose(c.Name, r.Name), used.Name, check.DidYouMean(used.Name, names))
				}
			}
		}
		for r := range p.Job.EachRole() {
			for k, claim := range r.Pod.Spec.ResourceClaims {
				both := claim.ResourceClaimName != nil && claim.ResourceClaimTemplateName != nil
				neither := claim.ResourceClaimName == nil && claim.ResourceClaimTemplateName == nil
				if both || neither {
					p.Reportf(r.Pod.At(job.Path("resourceClaims").Index(k)), "claim %q of %s names %s resourceClaimName %s resourceClaimTemplateName; it takes exactly one", claim.Name, r.Name, map[bool]string{true: "both", false: "neither"}[both], map[bool]string{true: "and", false: "nor"}[both])
				}
			}
		}
	},
}
