package capacity

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	volumehelper "k8s.io/component-helpers/storage/volume"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Effective is what one pod takes on a node as the scheduler counts it: init containers,
// sidecars, overhead and pod-level resources included. Requests that are not written are
// those the API server would fill in; the spec itself is left as it is.
func Effective(spec *corev1.PodSpec) job.Resources {
	pod := &corev1.Pod{Spec: *spec}
	pod.Spec.Containers = requestsFromLimits(spec.Containers)
	pod.Spec.InitContainers = requestsFromLimits(spec.InitContainers)
	pod.Spec.Resources = podRequestsFromLimits(pod)
	return job.ResourcesOf(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}))
}

// EffectiveLimits is what one pod may take at most, counted as Effective counts requests.
// A resource for which some container has no limit may be among them.
func EffectiveLimits(spec *corev1.PodSpec) job.Resources {
	return job.ResourcesOf(resourcehelper.PodLimits(&corev1.Pod{Spec: *spec}, resourcehelper.PodResourcesOptions{}))
}

// rangeAmounts are the requests and limits of a pod as a LimitRange compares them: without
// overhead, and of the pod's own amounts only cpu and memory.
func rangeAmounts(spec *corev1.PodSpec) (requests, limits corev1.ResourceList) {
	pod := &corev1.Pod{Spec: *spec}
	pod.Spec.Containers = requestsFromLimits(spec.Containers)
	pod.Spec.InitContainers = requestsFromLimits(spec.InitContainers)
	own := podRequestsFromLimits(pod)
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

// requestsFromLimits fills requests that are missing from the limits, as the API server
// does when a pod is created (k8s.io/kubernetes v1.37 pkg/apis/core/v1/defaults.go, SetDefaults_Pod).
func requestsFromLimits(containers []corev1.Container) []corev1.Container {
	out := slices.Clone(containers)
	for i := range out {
		out[i].Resources.Requests = withMissing(out[i].Resources.Requests, out[i].Resources.Limits)
	}
	return out
}

// podRequestsFromLimits does the same for pod-level resources. Where only pod-level limits
// are written, the containers' sum comes before the limit (defaultPodRequests, same file).
func podRequestsFromLimits(pod *corev1.Pod) *corev1.ResourceRequirements {
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
	out.Requests = withMissing(withMissing(out.Requests, containers), out.Limits)
	return &out
}

// withMissing is list and what only more has; neither is changed.
func withMissing(list, more corev1.ResourceList) corev1.ResourceList {
	if len(more) == 0 {
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
func Occupied(pod *corev1.Pod) job.Resources { return job.ResourcesOf(occupiedList(pod)) }

// occupiedList is Occupied as the API has it; not to be written to.
func occupiedList(pod *corev1.Pod) corev1.ResourceList {
	if plainPod(pod) {
		return pod.Spec.Containers[0].Resources.Requests
	}
	return resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{UseStatusResources: true})
}

// plainPod says that a pod takes what its only container asks for: nothing else adds to it,
// and the node has granted no more. Most pods are such, and adding them up is what most of
// an event would cost.
func plainPod(pod *corev1.Pod) bool {
	s := &pod.Spec
	if len(s.Containers) != 1 || len(s.InitContainers) > 0 || len(s.Overhead) > 0 || s.Resources != nil ||
		len(pod.Status.InitContainerStatuses) > 0 || resourcehelper.IsPodResizeInfeasible(pod) {
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

// selects prepares the node selector and the required node affinity of a pod. An
// expression that cannot be parsed matches no node, as in the scheduler.
func selects(spec *corev1.PodSpec) func(*corev1.Node) bool {
	required := nodeaffinity.NewRequiredNodeAffinity(spec.NodeSelector, spec.Affinity)
	return func(n *corev1.Node) bool {
		ok, err := required.Match(n)
		return ok && err == nil
	}
}

// reachableFrom prepares the node affinity of a volume.
func reachableFrom(required *corev1.NodeSelector) func(*corev1.Node) bool {
	selector := nodeaffinity.NewLazyErrorNodeSelector(required)
	return func(n *corev1.Node) bool {
		ok, err := selector.Match(n)
		return ok && err == nil
	}
}

// untolerated is the first taint that keeps the pod from being placed on the node; nil
// if there is none. PreferNoSchedule keeps nobody away.
func untolerated(taints []corev1.Taint, tolerations []corev1.Toleration) *corev1.Taint {
	for i := range taints {
		hard := taints[i].Effect == corev1.TaintEffectNoSchedule || taints[i].Effect == corev1.TaintEffectNoExecute
		if hard && !quietly(schedulinghelper.TolerationsTolerateTaint, tolerations, &taints[i]) {
			return &taints[i]
		}
	}
	return nil
}

// quietly calls with a logger that says nothing: this package knows no logger. Tolerations
// that compare numbers are stored only by clusters that have them switched on.
func quietly[L any](tolerate func(L, []corev1.Toleration, *corev1.Taint, bool) bool, tolerations []corev1.Toleration, taint *corev1.Taint) bool {
	var silent L
	return tolerate(silent, tolerations, taint, true)
}

// noProvisioner is the provisioner of classes that make no volumes; selectedNode is the
// annotation of a claim whose volume is being made for a node.
const (
	noProvisioner = volumehelper.NotSupportedProvisioner
	selectedNode  = volumehelper.AnnSelectedNode
)

// classOf is the storage class of a claim; empty: none.
func classOf(claim *corev1.PersistentVolumeClaim) string {
	return volumehelper.GetPersistentVolumeClaimClass(claim)
}

// classOfVolume is the storage class of a volume; empty: none.
func classOfVolume(pv *corev1.PersistentVolume) string {
	return volumehelper.GetPersistentVolumeClass(pv)
}

// suits says whether a volume can become that of a claim, for a pod on a node that reaches it.
func suits(claim *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) bool {
	reached := *pv
	reached.Spec.NodeAffinity = nil
	found, err := volumehelper.FindMatchingVolume(claim, []*corev1.PersistentVolume{&reached}, &corev1.Node{}, nil, true, true)
	return err == nil && found != nil
}

// zonesIn are the zones in a label of a volume, which holds several with this separator
// (k8s.io/cloud-provider v0.36 volume/helpers/zones.go, LabelMultiZoneDelimiter).
func zonesIn(label string) []string { return strings.Split(label, "__") }
