package resources

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var resourceNameMisspelt = &check.Check{
	Name:     "resource-name-misspelt",
	Title:    "a device is asked for by a name that no device plugin has",
	Remedy:   "Correct the name of the resource.",
	Severity: finding.Warning, Since: "0.1",
	Stops: true,
	Run: func(p *check.Pass) {
		if p.Cluster != nil && len(p.Cluster.Nodes()) > 0 {
			return // pod-exceeds-every-node knows what the nodes offer
		}
		facts.EachContainer(p.Job, func(r *job.Role, c *corev1.Container, rel job.Path) {
			for _, name := range slices.Sorted(maps.Keys(c.Resources.Limits)) {
				if meant := job.MeantAccelerator(name); meant != "" {
					at := r.Pod.At(rel.Child("resources", "limits").Key(string(name)))
					amount := c.Resources.Limits[name]
					p.ReportAs(finding.Finding{Path: at, Named: true, Meant: string(meant)},
						"%s asks for %s %s, which no device plugin offers; did you mean %q?", facts.Whose(c.Name, r.Name), amount.String(), name, string(meant))
				}
			}
		})
	},
}
