package placement

import (
	"fmt"
	"maps"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var nodeSelectorMatchesNoNode = &check.Check{
	Name:     "node-selector-matches-no-node",
	Title:    "no node has the labels that the pods select",
	Remedy:   "Select labels that nodes have: kubectl get nodes --show-labels.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Cluster,
	Run: func(p *check.Pass) error {
		for i := range p.Job.Roles {
			r := &p.Job.Roles[i]
			if why, _ := facts.ShapeOf(p.Cluster, r); why == facts.Unselected && !facts.BringsNodes(p.Cluster, r) {
				at, message := emptySelection(p.Cluster, r)
				p.Reportf(r.Pod.At(at), "%s", message)
			}
		}
		return nil
	},
}

// emptySelection names the one label that no node has, if it is one.
func emptySelection(view *cluster.Snapshot, r *job.Role) (job.Path, string) {
	nodes := view.Nodes()
	selector := r.Pod.Spec.NodeSelector
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		var values []string
		for _, n := range view.Alike(key) {
			if v, ok := n.Labels[key]; ok && !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		if slices.Contains(values, selector[key]) {
			continue
		}
		at := job.Path("nodeSelector").Key(key)
		if len(values) == 0 {
			return at, fmt.Sprintf("%s selects nodes with %s=%s; none of %s has the label %s", r.Name, key, selector[key], facts.Count(len(nodes), "node"), key)
		}
		slices.Sort(values)
		return at, fmt.Sprintf("%s selects nodes with %s=%s; none of %s has that value; they have %s", r.Name, key, selector[key], facts.Count(len(nodes), "node"), facts.ShortList(values))
	}
	switch {
	case r.Pod.Spec.NodeName != "":
		return "nodeName", fmt.Sprintf("%s wants node %s; there is none of that name among %d", r.Name, r.Pod.Spec.NodeName, len(nodes))
	case r.Pod.Spec.Affinity != nil && len(selector) == 0:
		return "affinity", fmt.Sprintf("the required node affinity of %s matches none of %s", r.Name, facts.Count(len(nodes), "node"))
	case r.Pod.Spec.Affinity != nil:
		return "affinity", fmt.Sprintf("node selector and required node affinity of %s together match none of %s", r.Name, facts.Count(len(nodes), "node"))
	}
	return "nodeSelector", fmt.Sprintf("%s selects nodes by %s together; none of %s has them all", r.Name, facts.Count(len(selector), "label"), facts.Count(len(nodes), "node"))
}
