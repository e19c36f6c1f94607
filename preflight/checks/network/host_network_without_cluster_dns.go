package network

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

var hostNetworkWithoutClusterDNS = &check.Check{
	Name:     "host-network-without-cluster-dns",
	Title:    "pods on their node's network cannot resolve the names of their peers",
	Remedy:   "Write dnsPolicy: ClusterFirstWithHostNet beside hostNetwork.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.Peers != kinds.PeersUnknown },
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		if p.Job.MaxPods() < 2 {
			return
		}
		for r := range p.Job.EachRole() {
			spec := &r.Pod.Spec
			plain := slices.Contains([]corev1.DNSPolicy{"", corev1.DNSClusterFirst, corev1.DNSDefault}, spec.DNSPolicy)
			if !spec.HostNetwork || !plain || spec.DNSConfig != nil || p.Operator.Peers == kinds.PeersBySubdomain && spec.Subdomain == "" {
				continue
			}
			p.Reportf(r.Pod.At("hostNetwork"), "%s use%s the network and the name servers of %s node, which do not know the names of the job's pods", facts.PodsOf(r), words.Verb(r.Replicas.Max), words.Its(r.Replicas.Max))
		}
	},
}
