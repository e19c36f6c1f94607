package checks

import (
	"fmt"

	"github.com/signalbox-dev/signalbox/preflight/capacity"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var podExceedsEveryNode = &check.Check{
	Name:     "pod-exceeds-every-node",
	Title:    "one pod asks for more than any node has",
	Doc:      readme("pod-exceeds-every-node"),
	Remedy:   "Ask for no more than the largest node has, and spread the work over more pods.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Cluster,
	Run: func(p *check.Pass) error {
		for i := range p.Job.Roles {
			r := &p.Job.Roles[i]
			why, open := shapeOf(p.Cluster, r)
			if why != oversized || bringsNodes(p.Cluster, r) {
				continue
			}
			for _, e := range exceeding(p.Cluster, r.Pod, open) {
				p.Report(finding.Finding{
					Path:    r.Pod.AmountPath(e.resource),
					Message: fmt.Sprintf("%s asks for %s %s per pod; %s", r.Name, job.Format(e.resource, e.asked), e.resource, largest(e, nodesIn(open), len(p.Cluster.Nodes()))),
					Facts: []finding.Fact{
						{Name: "resource", Value: string(e.resource)}, {Name: "asked", Value: e.asked}, {Name: "largest", Value: e.most},
					},
				})
			}
		}
		return nil
	},
}

func largest(e excess, open, all int) string {
	which := "the largest node has"
	if open < all {
		which = fmt.Sprintf("the largest of the %s it may use has", count(open, "node"))
	}
	if e.most == 0 {
		return which + " none"
	}
	return which + " " + job.Format(e.resource, e.most)
}

// bringsNodes says whether nodes may come that fit the role: an autoscaler adds nodes of
// kinds that the view has never seen, unless all its node pools keep such pods away.
func bringsNodes(view *capacity.Snapshot, r *job.Role) bool {
	brings, _ := view.Brings(&r.Pod.Spec)
	return brings != job.Absent
}
