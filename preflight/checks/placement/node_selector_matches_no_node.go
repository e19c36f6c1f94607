package placement

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

var nodeSelectorMatchesNoNode = &check.Check{
	Name:     "node-selector-matches-no-node",
	Title:    "no node has the labels that the pods select",
	Remedy:   "Select labels that nodes have: kubectl get nodes --show-labels.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Cluster,
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		if p.Over() {
			return
		}
		if why, _ := facts.ShapeOf(p.Cluster, r); why == facts.Unselected && !facts.BringsNodes(p, r) {
			at, message := emptySelection(p.Cluster, r)
			p.Reportf(r.Pod.At(at), "%s", message)
		}
	}),
}

// emptySelection names the one label that no node has, if it is one.
func emptySelection(view *cluster.Snapshot, r *job.Role) (job.Path, string) {
	nodes := view.Nodes()
	selector := r.Pod.Spec.NodeSelector
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		values := valuesOf(view, key)
		if slices.Contains(values, selector[key]) {
			continue
		}
		at := job.Path("nodeSelector").Key(key)
		if len(values) == 0 {
			return at, fmt.Sprintf("%s selects nodes with %s=%s; none of %s has the label %s", r.Name, key, selector[key], facts.Count(len(nodes), "node"), key)
		}
		return at, fmt.Sprintf("%s selects nodes with %s=%s; none of %s has that value%s", r.Name, key, selector[key], facts.Count(len(nodes), "node"), theyHave(view, key, values))
	}
	at, message := emptyAffinity(view, r)
	switch {
	case message != "":
		return at, message
	case r.Pod.Spec.NodeName != "":
		return "nodeName", fmt.Sprintf("%s wants node %s; there is none of that name among %d", r.Name, r.Pod.Spec.NodeName, len(nodes))
	case r.Pod.Spec.Affinity != nil && len(selector) == 0:
		return "affinity", fmt.Sprintf("the required node affinity of %s matches none of %s", r.Name, facts.Count(len(nodes), "node"))
	case r.Pod.Spec.Affinity != nil:
		return "affinity", fmt.Sprintf("node selector and required node affinity of %s together match none of %s", r.Name, facts.Count(len(nodes), "node"))
	}
	return "nodeSelector", fmt.Sprintf("%s selects nodes by %s together; none of %s has them all", r.Name, facts.Count(len(selector), "label"), facts.Count(len(nodes), "node"))
}

// valuesOf are the values of a label that nodes have, sorted.
func valuesOf(view *cluster.Snapshot, key string) []string {
	var values []string
	for _, n := range view.Alike(key) {
		if v, ok := n.Labels[key]; ok && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return values
}

// theyHave lists the values of a label, but none that is the name of a node: who may create jobs need not be one who may
// list nodes.
func theyHave(view *cluster.Snapshot, key string, values []string) string {
	if slices.ContainsFunc(view.Alike(key), func(n cluster.NodeGroup) bool { return key == corev1.LabelHostname || n.Labels[key] == n.Name }) {
		return ""
	}
	labelled := 0
	for _, n := range view.Alike(key) {
		if _, ok := n.Labels[key]; ok {
			labelled += n.Count
		}
	}
	if labelled > 1 && len(values) == labelled { // an ID of each machine, which is as good as its name
		return ""
	}
	return "; they have " + facts.ShortList(values)
}

// emptyAffinity names the one expression of a required node affinity of one term that no node meets; of
// several terms each would have to be named, and is not.
func emptyAffinity(view *cluster.Snapshot, r *job.Role) (job.Path, string) {
	required := podspec.NodeAffinity(&r.Pod.Spec)
	if required == nil || len(required.NodeSelectorTerms) != 1 {
		return "", ""
	}
	const at = job.Path("affinity") // the way to the expression leaves a line of kubectl no room for more
	for _, e := range required.NodeSelectorTerms[0].MatchExpressions {
		values, nodes := valuesOf(view, e.Key), facts.Count(len(view.Nodes()), "node")
		wants := fmt.Sprintf("the node affinity of %s requires %s in %s", r.Name, e.Key, facts.ShortList(e.Values))
		switch {
		case e.Operator == corev1.NodeSelectorOpExists && len(values) == 0:
			return at, fmt.Sprintf("the node affinity of %s requires the label %s; none of %s has it", r.Name, e.Key, nodes)
		case e.Operator != corev1.NodeSelectorOpIn || slices.ContainsFunc(e.Values, func(v string) bool { return slices.Contains(values, v) }):
		case len(values) == 0:
			return at, fmt.Sprintf("%s; none of %s has the label", wants, nodes)
		default:
			return at, fmt.Sprintf("%s; none of %s has such a value%s", wants, nodes, theyHave(view, e.Key, values))
		}
	}
	return "", ""
}
