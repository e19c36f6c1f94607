package checks

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// misfit is why no node of the cluster could ever take one pod of a role, whatever else
// runs there. Cordoned nodes and nodes that are not ready count: they come back.
type misfit int

const (
	fitting    misfit = iota // some node could, or there is no node to judge by
	unselected               // node selector or affinity choose no node
	tainted                  // every node they choose has a taint that is not tolerated
	oversized                // every node that is left is too small for one resource
)

// shapeOf judges one pod of a role; left are the nodes that passed all gates before the
// one that failed, in groups of equal ones.
func shapeOf(view *cluster.Snapshot, r *job.Role) (why misfit, left []cluster.NodeGroup) {
	if len(view.Nodes()) == 0 || r.Replicas.Max == 0 {
		return fitting, nil
	}
	chosen := view.Chosen(nil, &r.Pod.Spec)
	if len(chosen) == 0 {
		return unselected, nil
	}
	open := keep(chosen, func(n cluster.NodeGroup) bool { return n.Untolerated(r.Pod.Spec.Tolerations) == nil })
	if len(open) == 0 {
		return tainted, chosen
	}
	if len(exceeding(view, r.Pod, open)) > 0 {
		return oversized, open
	}
	return fitting, open
}

// exceeding are the resources of which one pod asks for more than any of the nodes has,
// in the order of their names. What is served as devices is not on nodes to be compared.
func exceeding(view *cluster.Snapshot, p job.Pod, nodes []cluster.NodeGroup) []excess {
	var out []excess
	requests := podspec.Requested(p)
	for _, name := range requests.Names() {
		if view.Devices(name) {
			continue
		}
		e := excess{resource: name, asked: requests[name]}
		said := false
		for _, n := range nodes {
			amount, ok := n.Allocatable[name]
			e.most, said = max(e.most, amount), said || ok
		}
		// Every kubelet says how much cpu, memory and disk it has: a view that does not was
		// cut short, while a device that no node names is a device that no node has.
		if e.asked > e.most && (said || strings.Contains(string(name), "/")) {
			out = append(out, e)
		}
	}
	return out
}

// excess is a resource of which a pod asks for more than the largest node has.
type excess struct {
	resource    corev1.ResourceName
	asked, most int64
}

// nodesIn is how many nodes some groups have.
func nodesIn(groups []cluster.NodeGroup) (n int) {
	for _, g := range groups {
		n += g.Count
	}
	return n
}

func keep(nodes []cluster.NodeGroup, ok func(cluster.NodeGroup) bool) []cluster.NodeGroup {
	var out []cluster.NodeGroup
	for _, n := range nodes {
		if ok(n) {
			out = append(out, n)
		}
	}
	return out
}

func itoa(n int64) string { return saturate.Text(n) }
