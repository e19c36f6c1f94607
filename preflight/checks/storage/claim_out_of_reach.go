package storage

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var claimOutOfReach = &check.Check{
	Name:     "claim-out-of-reach",
	Title:    "no node that the pods may use can reach their volume",
	Remedy:   "Select nodes in the volume's zone, or copy the data to a volume that they reach.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Cluster,
	Run: func(p *check.Pass) {
		for _, u := range facts.OutOfReach(p) {
			p.Reportf(u.At, "volume %s of claim %q can be reached from %d of %s, none of which %s may use", u.Claim.Spec.VolumeName, u.Claim.Name,
				facts.NodesIn(p.Cluster.Chosen(nil, facts.Reaching(p.Cluster, u.Claim))), facts.Count(len(p.Cluster.Nodes()), "node"), u.Role.Name)
		}
	},
}
