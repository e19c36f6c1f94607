package placement

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var everyMatchingNodeTainted = &check.Check{
	Name:     "every-matching-node-tainted",
	Title:    "every node that the pods may use keeps them away by a taint",
	Remedy:   "Tolerate the taint if the pods belong there, or select other nodes.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Cluster,
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		if p.Over() {
			return
		}
		why, chosen := facts.ShapeOf(p.Cluster, r)
		if why != facts.Tainted || facts.BringsNodes(p, r) {
			return
		}
		p.Reportf(r.Pod.At("tolerations"), "%s tolerates the taints of none of the %s that it may use: %s",
			r.Name, facts.Count(facts.NodesIn(chosen), "node"), facts.ShortList(taintsOf(chosen, p.Cluster.Tolerations(&r.Pod.Spec))))
	}),
}

// taintsOf are the first taints that keep pods with such tolerations away, most frequent first.
func taintsOf(nodes []cluster.NodeGroup, tolerations []corev1.Toleration) []string {
	times := map[string]int{}
	for _, n := range nodes {
		if t := n.Untolerated(tolerations); t != nil {
			times[t.ToString()] += n.Count
		}
	}
	names := slices.Sorted(maps.Keys(times))
	slices.SortStableFunc(names, func(a, b string) int { return times[b] - times[a] })
	return names
}
