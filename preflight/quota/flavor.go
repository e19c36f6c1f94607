package quota

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// onFlavors leaves a gang the nodes of the flavors that Kueue would give it now: when it admits a job, it adds a flavor's
// labels to the pods as node selectors, and its tolerations (https://kueue.sigs.k8s.io/docs/concepts/resource_flavor/).
// What the quota does not hold now is given the flavors that would hold it; what it never holds keeps all nodes.
func onFlavors(s *cluster.Snapshot, g gang.Gang) gang.Gang {
	if g.NodesOnly || g.QueueOfPods || g.Exists && !g.Paused { // it was admitted, and the job says where
		return g
	}
	local := s.LocalQueue(g.Namespace, g.Queue)
	if local == nil || s.Rules().Cluster[local.Spec.ClusterQueue] == nil {
		return g
	}
	o := &check{s: s, gang: g.AsQueued(), exist: Existing(s, g)}
	if o.started() { // the pods say where they are
		return g
	}
	name := local.Spec.ClusterQueue
	k := &clusterQueueCheck{check: o, name: name, queue: s.Rules().Cluster[name], node: s.Rules().Tree.Queues[name], asks: o.queuedDemands()}
	k.covered()
	g.Groups = slices.Clone(g.Groups)
	for at := range k.queue.Spec.ResourceGroups {
		sets, without := k.sets(at)
		if without >= 0 {
			continue // it is never admitted
		}
		chosen, known := k.choice(sets)
		for i, flavor := range chosen {
			k.place(&g.Groups[sets[i].group], flavor)
		}
		for _, set := range sets {
			if !known && k.differ(set.flavors) {
				g.Groups[set.group].Untied = "Kueue puts " + g.Groups[set.group].Name + " on the nodes of one of several flavors"
			}
		}
	}
	return g
}

// choice is a flavor for each set, in the order in which Kueue tries them; none where the quota never holds them. False: it is
// not known.
func (k *clusterQueueCheck) choice(sets []podSet) (chosen []string, known bool) {
	if k.node == nil || k.s.Rules().Tree.Circle || !wholeCohort(k.s, k.queue) {
		return nil, false
	}
	for _, capacity := range []func(cluster.FlavorResource) int64{k.node.Left, k.node.Most} {
		search := newFlavorSearch(sets, capacity)
		fits := search.fits(0)
		if search.budget == 0 {
			return nil, false
		}
		if fits {
			return search.chosen, true
		}
	}
	return nil, true
}

// differ says whether flavors have different nodes.
func (k *clusterQueueCheck) differ(names []string) bool {
	flavors := k.s.Rules().Flavors
	return slices.ContainsFunc(names, func(name string) bool {
		a, b := flavors[names[0]], flavors[name]
		return (a == nil) != (b == nil) || a != nil && !maps.Equal(a.Spec.NodeLabels, b.Spec.NodeLabels)
	})
}

// place puts a group on the nodes of a flavor, and of these on those that have all levels of its topology
// (https://github.com/kubernetes-sigs/kueue/blob/v0.19.0/pkg/util/tas/node.go, NodeMatchesFlavor). One that is missing where all flavors are in the view is on no nodes, and its
// queue is not active.
func (k *clusterQueueCheck) place(g *gang.Group, name string) {
	flavor := k.s.Rules().Flavors[name]
	if flavor == nil {
		if !k.s.Holds(cluster.ResourceOf(cluster.FlavorKind.WithVersion(""))) {
			g.Untied = fmt.Sprintf("the snapshot does not hold flavor %s, on whose nodes Kueue puts %s", name, g.Name)
		}
		return
	}
	levels, _ := k.levels(flavor.Spec.TopologyName)
	if len(flavor.Spec.NodeLabels)+len(flavor.Spec.Tolerations)+len(levels) == 0 {
		return
	}
	if g.Unplaced == nil {
		was := g.Pod
		g.Unplaced = &was
	}
	if !slices.Contains(g.Flavors, name) {
		g.Flavors = append(slices.Clip(g.Flavors), name)
	}
	spec := &g.Pod.Spec
	about := &metav1.LabelSelector{MatchLabels: unsaid(spec.NodeSelector, flavor.Spec.NodeLabels)}
	for _, level := range levels { // a node that lacks one is no place of the topology
		about.MatchExpressions = append(about.MatchExpressions, metav1.LabelSelectorRequirement{Key: level, Operator: metav1.LabelSelectorOpExists})
	}
	spec.Affinity = podspec.AlsoRequired(spec.Affinity, requirements(about))
	spec.Tolerations = slices.Concat(spec.Tolerations, flavor.Spec.Tolerations)
}

// unsaid are the labels that a selector does not ask for already.
func unsaid(selector, labels map[string]string) map[string]string {
	out := maps.Clone(labels)
	maps.DeleteFunc(out, func(key, value string) bool { return selector[key] == value })
	return out
}

// unplaced is the pod of a group as its queue gets it.
func unplaced(g *gang.Group) *job.Pod {
	if g.Unplaced != nil {
		return g.Unplaced
	}
	return &g.Pod
}
