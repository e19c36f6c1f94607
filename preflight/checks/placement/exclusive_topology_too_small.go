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
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

var exclusiveTopologyTooSmall = &check.Check{
	Name:     "exclusive-topology-too-small",
	Title:    "there are fewer places than Jobs that want one to themselves",
	Remedy:   "Ask for fewer Jobs, or name a label that the nodes have.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"JobSet.jobset.x-k8s.io"},
	Needs: check.Cluster,
	Run: func(p *check.Pass) {
		for r := range p.Job.EachRole() {
			if at, why := tooFewPlaces(p, r); why != "" {
				p.Reportf(at, "%s", why)
			}
		}
	},
}

// tooFewPlaces says why not all Jobs of a role can have a place to themselves even on the idle cluster, and where they ask
// for it; empty: they can, or ask for none.
func tooFewPlaces(p *check.Pass, r *job.Role) (at job.Path, why string) {
	if p.Job.Source == nil || len(p.Cluster.Nodes()) == 0 {
		return "", ""
	}
	key, at := kinds.ExclusiveTopology(p.Job, r)
	jobs, written := facts.Number(p.Job, r.Path.Child("replicas"))
	if !written {
		jobs = 1
	}
	if key == "" || jobs == 0 || p.Over() || facts.BringsNodes(p, r) {
		return "", ""
	}
	nodes := p.Cluster.Chosen([]string{key}, &r.Pod.Spec)
	places, tolerations := map[string]int64{}, p.Cluster.Tolerations(&r.Pod.Spec)
	for _, n := range nodes {
		where, has := n.Labels[key]
		if !has {
			continue
		}
		pods := saturate.Mul(podsOn(r, n.Node), int64(n.Count))
		lasting := slices.DeleteFunc(slices.Clone(n.Taints), func(t corev1.Taint) bool { return podspec.TransientTaint(t.Key) })
		if podspec.Untolerated(lasting, tolerations) != nil {
			pods = 0
		}
		places[where] = saturate.Add(places[where], pods)
	}
	each := int64(r.Replicas.Max) / jobs
	enough := 0
	for _, where := range slices.Sorted(maps.Keys(places)) {
		if places[where] >= each {
			enough++
		}
	}
	switch {
	case len(nodes) == 0: // node-selector-matches-no-node
	case len(places) == 0:
		return at, fmt.Sprintf("the %s need one %s each, but none of the %s that they may use has that label", facts.Count(jobs, r.Name+" Job"), key, facts.Count(facts.NodesIn(nodes), "node"))
	case int64(enough) < jobs:
		return at, fmt.Sprintf("the %s need one %s each, but only %d can hold %s even idle (there are %d)", facts.Count(jobs, r.Name+" Job"), key, enough, facts.Count(each, "pod"), len(places))
	}
	return "", ""
}

// podsOn is how many pods of a role a node could hold if it were empty, by what it says it has.
func podsOn(r *job.Role, n *cluster.Node) int64 {
	most := int64(1 << 31)
	for name, amount := range podspec.Requested(r.Pod) {
		if has, said := n.Allocatable[name]; said && amount > 0 {
			most = min(most, has/amount)
		}
	}
	return most
}
