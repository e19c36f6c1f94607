package checks

import (
	"fmt"
	"maps"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/quota"
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
				meant, remedy := meantResource(e, open)
				p.Report(finding.Finding{
					Path: r.Pod.AmountPath(e.resource), Remedy: remedy,
					Message: fmt.Sprintf("%s asks for %s %s per pod; %s%s", r.Name, job.Format(e.resource, e.asked), e.resource, largest(e, nodesIn(open), len(p.Cluster.Nodes())), meant),
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

// meantResource is what to say about a resource that no node has, but for a slip of the pen in
// its name.
func meantResource(e excess, nodes []cluster.NodeGroup) (meant, remedy string) {
	if e.most > 0 {
		return "", ""
	}
	names := map[string]bool{}
	for _, n := range nodes {
		for name := range n.Allocatable {
			names[string(name)] = true
		}
	}
	near := check.Nearest(string(e.resource), slices.Sorted(maps.Keys(names)), 2)
	if near == "" {
		return "", ""
	}
	return fmt.Sprintf("; did you mean %q?", near), "Correct the name of the resource."
}

// bringsNodes says whether nodes may come that fit the role: an autoscaler adds nodes of
// kinds that the view has never seen, unless all its node pools keep such pods away.
func bringsNodes(view *cluster.Snapshot, r *job.Role) bool {
	brings, _ := quota.Brings(view, &r.Pod.Spec)
	return brings != job.Absent
}
