package facts

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// ReachesGPUs says whether the pods of a role may have accelerators in a way of their own:
// asked for under any name (also without an amount), claimed as devices, or taken from the node.
func ReachesGPUs(j *job.Job, r *job.Role) bool {
	spec := &r.Pod.Spec
	if len(spec.ResourceClaims) > 0 || spec.RuntimeClassName != nil {
		return true
	}
	for name := range r.Pod.Requests {
		if strings.Contains(string(name), "/") {
			return true
		}
	}
	for _, u := range j.Unread {
		if u.Path.Within(r.Path) && u.Kind == job.AmountMissing {
			return true
		}
	}
	for i := range spec.Containers {
		c := &spec.Containers[i]
		if s := c.SecurityContext; s != nil && s.Privileged != nil && *s.Privileged {
			return true
		}
		if SetsVariable(c, "NVIDIA_VISIBLE_DEVICES") {
			return true
		}
	}
	return slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool {
		return v.HostPath != nil && strings.HasPrefix(v.HostPath.Path, "/dev/nvidia")
	})
}
