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
	"github.com/signalbox-dev/signalbox/preflight/words"
)

var podExceedsEveryNode = &check.Check{
	Name:     "pod-exceeds-every-node",
	Title:    "one pod asks for more than any node has",
	Remedy:   "Ask for no more than the largest node has, and spread the work over more pods.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Cluster,
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		if p.Over() {
			return
		}
		why, open := facts.ShapeOf(p.Cluster, r)
		if why != facts.Oversized || facts.BringsNodes(p, r) {
			return
		}
		for _, e := range facts.Exceeding(p.Cluster, r.Pod, open) {
			meant, remedy := meantResource(e, open)
			n, taint := enough(p.Cluster.Nodes(), e, p.Cluster.Tolerations(&r.Pod.Spec))
			switch {
			case n > 0 && taint != "":
				meant = fmt.Sprintf("; %d with enough %s the taint %s", n, words.Has(n), taint)
				remedy = "Tolerate the taint if the pods belong there, or ask for less."
			case n > 0:
				meant = fmt.Sprintf("; %s it may not use %s enough", facts.Count(n, "node"), words.Has(n))
				remedy = "Let the pods onto nodes that have enough (selector, affinity, tolerations), or ask for less."
			}
			p.ReportAs(finding.Finding{
				Path: r.Pod.AmountPath(e.Resource), Remedy: remedy,
				Facts: []finding.Fact{{Name: "resource", Value: string(e.Resource)}, {Name: "asked", Value: e.Asked}, {Name: "largest", Value: e.Most}},
			},
				"%s asks for %s %s per pod; %s%s", r.Name, job.Format(e.Resource, e.Asked), e.Resource, largest(e, facts.NodesIn(open), len(p.Cluster.Nodes())), meant)
		}
	}),
}

// enough counts the nodes, of those that are closed to the pods, that have what they ask for, and names the taint that keeps
// them away from all of these; empty: there are several, or something else does.
func enough(nodes []*cluster.Node, e facts.Excess, tolerations []corev1.Toleration) (n int, taint string) {
	for _, node := range nodes {
		if node.Allocatable[e.Resource] < e.Asked {
			continue
		}
		of := ""
		if t := node.Untolerated(tolerations); t != nil {
			of = t.ToString()
		}
		if n++; n == 1 {
			taint = of
		}
		if of != taint {
			taint = ""
		}
	}
	return n, taint
}

func largest(e facts.Excess, open, all int) string {
	which := "the largest node has"
	if open < all {
		which = fmt.Sprintf("the largest of the %s it may use has", facts.Count(open, "node"))
	}
	if e.Most == 0 {
		return which + " none"
	}
	return which + " " + job.Format(e.Resource, e.Most)
}

// meantResource is what to say about a resource that no node has, but for a slip of the pen in
// its name.
func meantResource(e facts.Excess, nodes []cluster.NodeGroup) (meant, remedy string) {
	if e.Most > 0 {
		return "", ""
	}
	names := map[string]bool{}
	for _, n := range nodes {
		for name := range n.Allocatable {
			names[string(name)] = true
		}
	}
	near := check.Nearest(string(e.Resource), slices.Sorted(maps.Keys(names)), 2)
	if near == "" {
		return "", ""
	}
	return fmt.Sprintf("; did you mean %q?", near), "Correct the name of the resource."
}
