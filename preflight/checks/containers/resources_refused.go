package containers

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// refusedOfContainers: when a container starts again, alone or because it is resized.
func refusedOfContainers(r *job.Role, refuse refuse) {
	never := r.Pod.Spec.RestartPolicy == corev1.RestartPolicyNever
	everyContainer(r, func(c *corev1.Container, at job.Path, _ bool) {
		restarts := []corev1.ContainerRestartPolicy{corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure}
		if own := c.RestartPolicy; own != nil && !slices.Contains(restarts, *own) {
			refuse(at.Child("restartPolicy"), "restartPolicy of container %s is %q; it takes Always, Never or OnFailure", c.Name, *own)
		}
		for i, p := range c.ResizePolicy {
			here := at.Child("resizePolicy").Index(i)
			switch {
			case p.ResourceName != corev1.ResourceCPU && p.ResourceName != corev1.ResourceMemory:
				refuse(here, "a resizePolicy of container %s is for %q; it takes cpu or memory", c.Name, p.ResourceName)
			case p.RestartPolicy != corev1.NotRequired && p.RestartPolicy != corev1.RestartContainer:
				refuse(here, "a resizePolicy of container %s has restartPolicy %q; it takes NotRequired or RestartContainer", c.Name, p.RestartPolicy)
			case never && p.RestartPolicy == corev1.RestartContainer:
				refuse(here, "a resizePolicy of container %s restarts it, and restartPolicy of the pod is Never", c.Name)
			}
		}
	})
}
