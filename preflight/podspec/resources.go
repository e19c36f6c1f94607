package podspec

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Requested is what one pod of the template takes: what the reader worked out, else what
// the spec says.
func Requested(p job.Pod) job.Resources {
	if len(p.Requests) > 0 {
		return p.Requests
	}
	return Effective(&p.Spec)
}

// Effective is what one pod takes on a node as the scheduler counts it: init containers,
// sidecars, overhead and pod-level resources included. Requests that are not written are
// those the API server would fill in; the spec itself is left as it is.
func Effective(spec *corev1.PodSpec) job.Resources {
	if plain(spec) {
		own := &spec.Containers[0].Resources
		out := make(job.Resources, max(len(own.Requests), len(own.Limits)))
		for name, q := range own.Limits {
			out[name] = job.InBaseUnits(name, q)
		}
		for name, q := range own.Requests {
			out[name] = job.InBaseUnits(name, q)
		}
		return out
	}
	pod := &corev1.Pod{Spec: *spec}
	pod.Spec.Containers = RequestsFromLimits(spec.Containers)
	pod.Spec.InitContainers = RequestsFromLimits(spec.InitContainers)
	pod.Spec.Resources = PodRequestsFromLimits(pod)
	return job.ResourcesOf(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}))
}

// EffectiveLimits is what one pod may take at most, counted as Effective counts requests.
// A resource for which some container has no limit may be among them.
func EffectiveLimits(spec *corev1.PodSpec) job.Resources {
	return job.ResourcesOf(resourcehelper.PodLimits(&corev1.Pod{Spec: *spec}, resourcehelper.PodResourcesOptions{}))
}

// RangeAmounts are the requests and limits of a pod as a LimitRange compares them: without
// overhead, and of the pod's own amounts only cpu and memory.
func RangeAmounts(spec *corev1.PodSpec) (requests, limits corev1.ResourceList) {
	pod := &corev1.Pod{Spec: *spec}
	pod.Spec.Containers = RequestsFromLimits(spec.Containers)
	pod.Spec.InitContainers = RequestsFromLimits(spec.InitContainers)
	own := PodRequestsFromLimits(pod)
	requests = resourcehelper.AggregateContainerRequests(pod, resourcehelper.PodResourcesOptions{})
	limits = resourcehelper.AggregateContainerLimits(pod, resourcehelper.PodResourcesOptions{})
	if own == nil {
		return requests, limits
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if q, ok := own.Requests[name]; ok {
			requests[name] = q
		}
		if q, ok := own.Limits[name]; ok {
			limits[name] = q
		}
	}
	return requests, limits
}

// RequestsFromLimits fills requests that are missing from the limits, as the API server
// does when a pod is created (k8s.io/kubernetes v1.37 pkg/apis/core/v1/defaults.go, SetDefaults_Pod).
func RequestsFromLimits(containers []corev1.Container) []corev1.Container {
	out := slices.Clone(containers)
	for i := range out {
		out[i].Resources.Requests = WithMissing(out[i].Resources.Requests, out[i].Resources.Limits)
	}
	return out
}

// PodRequestsFromLimits does the same for pod-level resources. Where only pod-level limits
// are written, the containers' sum comes before the limit (defaultPodRequests, same file).
func PodRequestsFromLimits(pod *corev1.Pod) *corev1.ResourceRequirements {
	written := pod.Spec.Resources
	if written == nil || len(written.Limits) == 0 {
		return written
	}
	out := *written
	containers := resourcehelper.AggregateContainerRequests(pod, resourcehelper.PodResourcesOptions{})
	for name := range containers {
		if !resourcehelper.IsSupportedPodLevelResource(name) || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
			delete(containers, name)
		}
	}
	out.Requests = WithMissing(WithMissing(out.Requests, containers), out.Limits)
	return &out
}

// WithMissing is list and what only more has; neither is changed.
func WithMissing(list, more corev1.ResourceList) corev1.ResourceList {
	missing := false
	for name := range more {
		_, there := list[name]
		missing = missing || !there
	}
	if !missing {
		return list
	}
	out := maps.Clone(list)
	if out == nil {
		out = make(corev1.ResourceList, len(more))
	}
	for name, q := range more {
		if _, ok := out[name]; !ok {
			out[name] = q
		}
	}
	return out
}

// Occupied is what a pod that exists takes on its node. As in the scheduler, the sizes
// that the node has granted count beside those that are asked for (in-place resize).
func Occupied(pod *corev1.Pod) job.Resources { return job.ResourcesOf(OccupiedList(pod)) }

// OccupiedList is Occupied as the API has it; not to be written to. What is written as a limit alone, as
// people write it into snapshots by hand, is asked for as well.
func OccupiedList(pod *corev1.Pod) corev1.ResourceList {
	if !requestsWritten(pod) {
		filled := *pod
		filled.Spec.Containers, filled.Spec.InitContainers = RequestsFromLimits(pod.Spec.Containers), RequestsFromLimits(pod.Spec.InitContainers)
		filled.Spec.Resources = PodRequestsFromLimits(&filled)
		pod = &filled
	}
	if plainPod(pod) {
		return pod.Spec.Containers[0].Resources.Requests
	}
	return resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true})
}

// requestsWritten says that every limit has its request, as in what the API server stores.
func requestsWritten(pod *corev1.Pod) bool {
	written := func(r *corev1.ResourceRequirements) bool {
		for name := range r.Limits {
			if _, ok := r.Requests[name]; !ok {
				return false
			}
		}
		return true
	}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if !written(&list[i].Resources) {
				return false
			}
		}
	}
	return pod.Spec.Resources == nil || written(pod.Spec.Resources)
}

// plain says that a pod asks for what its only container asks for.
func plain(s *corev1.PodSpec) bool {
	return len(s.Containers) == 1 && len(s.InitContainers) == 0 && len(s.Overhead) == 0 && s.Resources == nil
}

// plainPod says that a pod takes what its only container asks for: nothing else adds to it,
// and the node has granted no more. Most pods are such, and adding them up is what most of
// an event would cost.
func plainPod(pod *corev1.Pod) bool {
	s := &pod.Spec
	if !plain(s) || len(pod.Status.InitContainerStatuses) > 0 || resourcehelper.IsPodResizeInfeasible(pod) {
		return false
	}
	asked := s.Containers[0].Resources.Requests
	covered := func(list corev1.ResourceList) bool {
		for name, q := range list {
			if most, ok := asked[name]; !ok || q.Cmp(most) > 0 {
				return false
			}
		}
		return true
	}
	for i := range pod.Status.ContainerStatuses {
		c := &pod.Status.ContainerStatuses[i]
		if !covered(c.AllocatedResources) || c.Resources != nil && !covered(c.Resources.Requests) {
			return false
		}
	}
	return true
}

// Device says whether a resource cannot be overcommitted: what device plugins offer under a domain of their own, and
// huge pages (https://github.com/kubernetes/kubernetes/blob/v1.37.1/pkg/apis/core/v1/helper/helpers.go,
// IsOvercommitAllowed).
func Device(name corev1.ResourceName) bool {
	s := string(name)
	if strings.HasPrefix(s, corev1.ResourceHugePagesPrefix) {
		return true
	}
	return strings.Contains(s, "/") && !strings.Contains(s, corev1.ResourceDefaultNamespacePrefix)
}

// RefusedDevices is what a container asks of a device and the API server refuses: a part of one, or another number than
// its limit (https://github.com/kubernetes/kubernetes/blob/v1.37.1/pkg/apis/core/validation/validation.go,
// ValidateContainerResourceRequirements). Empty: nothing.
func RefusedDevices(spec *corev1.PodSpec) (name corev1.ResourceName, asked string) {
	for _, containers := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		for i := range containers {
			limits := containers[i].Resources.Limits
			for _, list := range []corev1.ResourceList{limits, containers[i].Resources.Requests} {
				for r, q := range list {
					limit, limited := limits[r]
					if !Device(r) || q.MilliValue()%1000 == 0 && limited && q.Cmp(limit) == 0 || !limited && q.IsZero() {
						continue
					}
					if name == "" || r < name || r == name && asked > q.String() { // whatever order a map has
						name, asked = r, q.String()
					}
				}
			}
		}
	}
	return name, asked
}
