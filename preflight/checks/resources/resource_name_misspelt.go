package resources

import (
	"maps"
	"slices"

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
		for r, c := range p.Job.EachContainer() {
			for _, name := range slices.Sorted(maps.Keys(c.Resources.Limits)) {
				if meant := job.MeantAccelerator(name); meant != "" {
					at := r.Pod.At(c.Rel.Child("resources", "limits").Key(string(name)))
					amount := c.Resources.Limits[name]
					p.ReportAs(finding.Finding{Path: at, Named: true, Meant: string(meant)},
						"%s asks for %s %s, which no device plugin offers; did you mean %q?", facts.Whose(c.Name, r.Name), amount.String(), name, string(meant))
				}
			}
		}
	},
}
