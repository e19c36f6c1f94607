package cluster

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// tolerationsAdded are labels of nodes of clouds whose API server runs the admission plugin ExtendedResourceToleration, which
// no object of the cluster shows: GKE (https://cloud.google.com/kubernetes-engine/docs/how-to/gpus) and EKS
// (https://docs.aws.amazon.com/eks/latest/userguide/platform-versions.html, in every version).
var tolerationsAdded = []string{"cloud.google.com/gke-nodepool", "eks.amazonaws.com/nodegroup", "eks.amazonaws.com/compute-type"}

// Tolerations are those that a pod has once it is stored: where the API server is known to do so, one of the taint that is called
// as a device, for each device that a container asks for
// (https://github.com/kubernetes/kubernetes/blob/v1.36.3/plugin/pkg/admission/extendedresourcetoleration/admission.go).
func (s *Snapshot) Tolerations(spec *corev1.PodSpec) []corev1.Toleration {
	if !slices.ContainsFunc(tolerationsAdded, func(key string) bool { return s.byLabel.keys[key] > 0 }) {
		return spec.Tolerations
	}
	var devices []string
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			for _, amounts := range []corev1.ResourceList{list[i].Resources.Requests, list[i].Resources.Limits} {
				for name := range amounts {
					if extended(string(name)) && !slices.Contains(devices, string(name)) {
						devices = append(devices, string(name))
					}
				}
			}
		}
	}
	slices.Sort(devices)
	out := slices.Clip(spec.Tolerations)
	for _, name := range devices {
		out = append(out, corev1.Toleration{Key: name, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
	}
	return out
}

// extended says whether a resource is one of a device plugin (k8s.io/kubernetes pkg/apis/core/v1/helper, IsExtendedResourceName).
func extended(name string) bool {
	return strings.Contains(name, "/") && !strings.Contains(name, "kubernetes.io/")
}
