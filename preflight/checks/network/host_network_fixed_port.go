package network

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

var hostNetworkFixedPort = &check.Check{
	Name:     "host-network-fixed-port",
	Title:    "pods share the network of their node and want fixed ports of it",
	Remedy:   "Use the pod's own network, or take a whole node per pod and a port that is free on it.",
	Severity: finding.Note, Since: "0.1",
	Run: func(p *check.Pass) {
		var widest *job.Role
		for r := range p.Job.EachRole() {
			if r.Pod.Spec.HostNetwork && (widest == nil || r.Replicas.Max > widest.Replicas.Max) {
				widest = r
			}
		}
		if widest == nil || widest.Replicas.Max == 0 || widest.Pod.Requests["google.com/tpu"] > 0 {
			return // a pod with TPUs has all of its host
		}
		if ports := fixedPorts(&widest.Pod.Spec); len(ports) > 0 {
			free := "port " + ports[0] + " is free"
			if len(ports) > 1 {
				free = "ports " + strings.Join(ports, ", ") + " are free"
			}
			p.Reportf(widest.Pod.At("hostNetwork"), "%s use%s the network of %s node: each needs a node on which %s", facts.PodsOf(widest), words.Verb(widest.Replicas.Max), words.Its(widest.Replicas.Max), free)
		}
	},
}

// fixedPorts are the ports that the containers of a pod declare, or the one that they are
// told to meet at.
func fixedPorts(spec *corev1.PodSpec) (ports []string) {
	for i := range spec.Containers {
		for _, port := range spec.Containers[i].Ports {
			if port.ContainerPort > 0 { // else it could not be read
				ports = append(ports, saturate.Text(int64(port.ContainerPort)))
			}
		}
	}
	for i := range spec.Containers {
		if own, _ := facts.Variable(&spec.Containers[i], "MASTER_PORT"); len(ports) == 0 && own != nil && own.ValueFrom == nil && own.Value != "" {
			ports = append(ports, own.Value)
		}
	}
	return ports
}
