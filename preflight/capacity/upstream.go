package capacity

import (
	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Effective is what one pod takes on a node as the scheduler counts it: init containers,
// sidecars, overhead and pod-level resources included.
func Effective(spec *corev1.PodSpec) job.Resources {
	return job.ResourcesOf(resourcehelper.PodRequests(&corev1.Pod{Spec: *spec}, resourcehelper.PodResourcesOptions{}))
}
