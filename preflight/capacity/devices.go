package capacity

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// claimUse is what the claims that are made for one pod count for in quotas: their
// number, and the devices of each class at most
// (https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/quota/v1/evaluator/core/resource_claims.go).
func (s *Snapshot) claimUse(namespace string, spec *corev1.PodSpec) job.Resources {
	out := job.Resources{}
	for _, claim := range spec.ResourceClaims {
		if claim.ResourceClaimTemplateName == nil {
			continue // made by somebody, and counted when that was
		}
		out[claimCount]++
		template := resourcev1.ResourceClaimTemplate{}
		if !s.object(resourcev1.SchemeGroupVersion.WithKind("ResourceClaimTemplate"), namespace, *claim.ResourceClaimTemplateName, &template) {
			continue
		}
		for _, request := range template.Spec.Spec.Devices.Requests {
			for class, n := range mostDevicesOf(&request) {
				name := corev1.ResourceName(class + corev1.ResourceClaimsPerClass)
				out[name] = plus(out[name], n)
			}
		}
	}
	return out
}

// mostDevicesOf is how many devices of each class a request may get at most.
func mostDevicesOf(r *resourcev1.DeviceRequest) map[string]int64 {
	devices := func(mode resourcev1.DeviceAllocationMode, count int64) int64 {
		switch mode {
		case resourcev1.DeviceAllocationModeAll:
			return resourcev1.AllocationResultsMaxSize
		case resourcev1.DeviceAllocationModeExactCount, "":
			return max(1, count) // a count that is not written is 1
		}
		return 0
	}
	out := map[string]int64{}
	for _, alternative := range r.FirstAvailable {
		out[alternative.DeviceClassName] = max(out[alternative.DeviceClassName], devices(alternative.AllocationMode, alternative.Count))
	}
	if e := r.Exactly; e != nil && len(r.FirstAvailable) == 0 {
		out[e.DeviceClassName] = devices(e.AllocationMode, e.Count)
	}
	return out
}

// Devices says whether an extended resource is, or may be, served as devices (DRA) instead
// of by the nodes that name it: a device class offers it, or classes are not known and a
// driver of the same vendor publishes devices.
func (s *Snapshot) Devices(name corev1.ResourceName) bool {
	return s != nil && s.deviceClass(name) != ""
}
