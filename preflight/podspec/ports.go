package podspec

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
)

// HostPort is a port of the node that a pod takes.
type HostPort struct {
	Protocol corev1.Protocol
	IP       string
	Port     int32
}

// HostPorts are the ports of the node that a pod takes, in order. On the host's network
// every container port is one.
func HostPorts(spec *corev1.PodSpec) []HostPort {
	var out []HostPort
	add := func(cs []corev1.Container) {
		for _, c := range cs {
			for _, p := range c.Ports {
				port := p.HostPort
				if port == 0 && spec.HostNetwork {
					port = p.ContainerPort
				}
				if port <= 0 {
					continue
				}
				out = append(out, HostPort{cmp.Or(p.Protocol, corev1.ProtocolTCP), cmp.Or(p.HostIP, "0.0.0.0"), port})
			}
		}
	}
	add(spec.Containers)
	for _, c := range spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add([]corev1.Container{c})
		}
	}
	return out
}

// PortConflict says whether two pods cannot be on one node for their ports. The address
// 0.0.0.0 is every address.
func PortConflict(a, b []HostPort) bool {
	for _, p := range a {
		for _, q := range b {
			if p.Port == q.Port && p.Protocol == q.Protocol && (p.IP == q.IP || p.IP == "0.0.0.0" || q.IP == "0.0.0.0") {
				return true
			}
		}
	}
	return false
}
