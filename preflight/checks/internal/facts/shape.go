package facts

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// Misfit is why no node of the cluster could ever take one pod of a role, whatever else
// runs there. Cordoned nodes and nodes that are not ready count: they come back.
type Misfit int

const (
	Fitting    Misfit = iota // some node could, or there is no node to judge by
	Unselected               // node selector or affinity choose no node
	Tainted                  // every node they choose has a taint that is not tolerated
	Oversized                // every node that is left is too small for one resource
)

// ShapeOf judges one pod of a role; left are the nodes that passed all gates before the
// one that failed, in groups of equal ones.
func ShapeOf(view *cluster.Snapshot, r *job.Role) (why Misfit, left []cluster.NodeGroup) {
	if len(view.Nodes()) == 0 || r.Replicas.Max == 0 {
		return Fitting, nil
	}
	chosen := view.Chosen(nil, &r.Pod.Spec)
	if len(chosen) == 0 {
		return Unselected, nil
	}
	tolerations := view.Tolerations(&r.Pod.Spec)
	open := keep(chosen, func(n cluster.NodeGroup) bool { return n.Untolerated(tolerations) == nil })
	if len(open) == 0 {
		return Tainted, chosen
	}
	if len(Exceeding(view, r.Pod, open)) > 0 {
		return Oversized, open
	}
	return Fitting, open
}

// Exceeding are the resources of which one pod asks for more than any of the nodes has,
// in the order of their names. What is served as devices is not on nodes to be compared.
func Exceeding(view *cluster.Snapshot, p job.Pod, nodes []cluster.NodeGroup) []Excess {
	var out []Excess
	requests := podspec.Requested(p)
	for _, name := range requests.Names() {
		if view.Devices(name) {
			continue
		}
		e := Excess{Resource: name, Asked: requests[name]}
		said := false
		for _, n := range nodes {
			amount, ok := n.Allocatable[name]
			e.Most, said = max(e.Most, amount), said || ok
		}
		// Every kubelet says how much cpu, memory and disk it has: a view that does not was
		// cut short, while a device that no node names is a device that no node has.
		if e.Asked > e.Most && (said || strings.Contains(string(name), "/")) {
			out = append(out, e)
		}
	}
	return out
}

// Excess is a resource of which a pod asks for more than the largest node has.
type Excess struct {
	Resource    corev1.ResourceName
	Asked, Most int64
}

// NodesIn is how many nodes some groups have.
func NodesIn(groups []cluster.NodeGroup) (n int) {
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
