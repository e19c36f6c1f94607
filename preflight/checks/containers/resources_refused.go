package containers

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// refusedOfContainers: when a container starts again, alone or because it is resized, and large pages without what they are
// beside.
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
		if podspec.HugePagesAlone(&c.Resources) {
			refuse(at.Child("resources"), "container %s asks for hugepages without cpu or memory", c.Name)
		}
	})
}

// refusedOfPodLevel: what is asked for the whole pod holds what its containers ask for.
func refusedOfPodLevel(r *job.Role, refuse refuse) {
	whole := r.Pod.Spec.Resources
	if whole == nil {
		return
	}
	alone := r.Pod.Spec
	alone.Resources, alone.Overhead = nil, nil
	sum, asked := podspec.Effective(&alone), job.ResourcesOf(whole.Requests)
	for _, name := range asked.Names() {
		if sum[name] > asked[name] {
			refuse(r.Pod.At(job.Path("resources.requests").Key(string(name))), "the pod requests %s %s, less than its containers together", whole.Requests.Name(name, resource.DecimalSI), name)
		}
	}
	for i := range r.Pod.Spec.Containers {
		c := &r.Pod.Spec.Containers[i]
		for _, name := range slices.Sorted(maps.Keys(c.Resources.Limits)) {
			own, most := c.Resources.Limits[name], whole.Limits[name]
			if !most.IsZero() && own.Cmp(most) > 0 {
				refuse(r.Pod.At(job.Path("containers").Index(i).Child("resources", "limits").Key(string(name))),
					"container %s has a limit of %s %s, and the pod one of %s", c.Name, own.String(), name, most.String())
			}
		}
	}
}
