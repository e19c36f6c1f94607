package network

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var rdmaNotRequested = &check.Check{
	Name:     "rdma-not-requested",
	Title:    "whole nodes train together, and leave their fast network alone",
	Remedy:   "Ask for the network device under limits, as many as the nodes' operators say.",
	Severity: finding.Note, Since: "0.1",
	Needs: check.Cluster,
	Run: func(p *check.Pass) {
		for r := range p.Job.EachRole() {
			gpus := r.Pod.GPUs()
			c, _ := r.Trainer()
			if c == nil || gpus.N == 0 || r.Replicas.Max < 2 || !facts.WorksWithPeers(p.Job, r) || !onlyPodNetwork(r) || privileged(c) || len(otherDevices(c)) > 0 || p.Over() {
				continue
			}
			if name, has := fastNetwork(facts.Candidates(p.Cluster, r), gpus); name != "" {
				p.Reportf(gpus.Path, "%s take all %d %s of a node each, but no %s, of which every node that they may use has %d", facts.PodsOf(r), gpus.N, gpus.Resource, name, has)
				return
			}
		}
	},
}

// fastNetwork is the network device that all of the nodes have, and the least amount of it,
// where a pod takes all accelerators of each; empty: there is none, or the nodes are shared.
func fastNetwork(nodes []cluster.NodeGroup, gpus job.Amount) (name corev1.ResourceName, least int64) {
	for i, n := range nodes {
		if n.Allocatable[gpus.Resource] != gpus.N {
			return "", 0
		}
		if i > 0 {
			if least = min(least, n.Allocatable[name]); least == 0 {
				return "", 0
			}
			continue
		}
		for _, have := range n.Allocatable.Names() {
			if network(have) && n.Allocatable[have] > 0 {
				name, least = have, n.Allocatable[have]
				break
			}
		}
		if name == "" {
			return "", 0
		}
	}
	return name, least
}

// network says whether a resource is a network adapter, by the names that plugins and clouds
// give them (github.com/Mellanox/k8s-rdma-shared-dev-plugin; docs.aws.amazon.com/eks, EFA).
func network(name corev1.ResourceName) bool {
	s := strings.ToLower(string(name))
	return strings.HasPrefix(s, "rdma/") || strings.Contains(s, "/rdma") || strings.HasSuffix(s, "/roce") || s == "vpc.amazonaws.com/efa"
}
