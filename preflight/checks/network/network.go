package network

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// onlyPodNetwork says whether the pods of a role have the one network interface that every
// pod has, and no other: neither the host's, nor one that an annotation asks for.
func onlyPodNetwork(r *job.Role) bool {
	if r.Pod.Spec.HostNetwork || r.Pod.Partial {
		return false
	}
	for key := range r.Pod.Annotations {
		if strings.Contains(key, "network") || strings.Contains(key, "multus") {
			return false
		}
	}
	return true
}

// otherDevices are extended resources of a container that are no accelerators: network
// adapters, for all that a name tells.
func otherDevices(c *corev1.Container) []corev1.ResourceName {
	var out []corev1.ResourceName
	for _, name := range job.ResourcesOf(c.Resources.Limits).Names() {
		if q := c.Resources.Limits[name]; strings.Contains(string(name), "/") && job.AcceleratorUnit(name) == job.NotAccelerator && !q.IsZero() {
			out = append(out, name)
		}
	}
	return out
}

// rdma is the RDMA device that a container asks for; empty: none. The names are the
// administrators', rdma/ is what the shared device plugin puts in front
// (github.com/Mellanox/k8s-rdma-shared-dev-plugin, resourcePrefix). EFA is none: it brings
// its own memory.
func rdma(c *corev1.Container) corev1.ResourceName {
	for _, name := range otherDevices(c) {
		if s := strings.ToLower(string(name)); strings.HasPrefix(s, "rdma/") || strings.Contains(s, "/rdma") || strings.HasSuffix(s, "/roce") {
			return name
		}
	}
	return ""
}

// privileged says whether a container sees all devices of its node.
func privileged(c *corev1.Container) bool {
	return c.SecurityContext != nil && c.SecurityContext.Privileged != nil && *c.SecurityContext.Privileged
}

// locksMemory says whether a container may lock any amount of memory.
func locksMemory(c *corev1.Container) bool {
	if privileged(c) {
		return true
	}
	if c.SecurityContext == nil || c.SecurityContext.Capabilities == nil {
		return false
	}
	return slices.ContainsFunc(c.SecurityContext.Capabilities.Add, func(have corev1.Capability) bool {
		return slices.Contains([]string{"IPC_LOCK", "CAP_IPC_LOCK", "ALL", "SYS_RESOURCE", "CAP_SYS_RESOURCE"}, strings.ToUpper(string(have)))
	})
}
