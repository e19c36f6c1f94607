package storage

import (
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var volumeNotDeclared = &check.Check{
	Name:     "volume-not-declared",
	Title:    "a container mounts a volume that the pod does not have",
	Remedy:   "Declare the volume under volumes, or correct the name in volumeMounts.",
	Severity: finding.Error, Refuses: true, Since: "0.1",
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		if p.Job.Field("spec.volumeClaimPolicies") != nil {
			return // JobSet adds the volumes it makes claims for
		}
		for r, c := range p.Job.EachContainer() {
			var names []string
			for _, v := range r.Pod.Spec.Volumes {
				names = append(names, v.Name)
			}
			if p.Operator.Mounts != nil {
				added, _ := p.Operator.Mounts(p.Job, r.Name)
				names = append(names, added...)
			}
			for i, m := range c.VolumeMounts {
				if r.Pod.Partial || slices.Contains(names, m.Name) || m.Name == "" || p.Job.Field(r.Pod.At(c.Rel.Child("volumeMounts").Index(i))) == nil {
					continue
				}
				p.Reportf(r.Pod.At(c.Rel.Child("volumeMounts").Index(i)), "%s mounts volume %q, which the pod does not declare%s",
					facts.Whose(c.Name, r.Name), m.Name, check.DidYouMean(m.Name, names))
			}
		}
	},
}
