package podspec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Refused is why the API server refuses pods of a spec whose nodes and amounts say that they fit; empty: nothing was found
// (https://github.com/kubernetes/kubernetes/blob/v1.37.1/pkg/apis/core/validation/validation.go, ValidateTolerations,
// validatePodResourceConsistency, validateResourceRequirements, checkHostPortConflicts and ValidatePodCreate).
func Refused(spec *corev1.PodSpec) string {
	for i := range spec.Tolerations {
		if why := refusedToleration(&spec.Tolerations[i]); why != "" {
			return why
		}
	}
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			if why := refusedAmounts(&containers[i].Resources, "container "+containers[i].Name); why != "" {
				return why
			}
		}
	}
	return cmp.Or(refusedPodLevel(spec), refusedTwice(spec))
}

func refusedToleration(t *corev1.Toleration) string {
	switch {
	case t.Key == "" && t.Operator != corev1.TolerationOpExists:
		return "a toleration without a key takes the operator Exists only"
	case t.Operator == corev1.TolerationOpExists && t.Value != "":
		return fmt.Sprintf("a toleration of %s has the operator Exists and a value", t.Key)
	case t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute:
		return fmt.Sprintf("a toleration of %s has tolerationSeconds, which go with NoExecute only", t.Key)
	case t.Operator == corev1.TolerationOpLt, t.Operator == corev1.TolerationOpGt:
		return fmt.Sprintf("a toleration of %s has the operator %s, which is behind the feature gate TaintTolerationComparisonOperators", t.Key, t.Operator)
	}
	return ""
}

func refusedAmounts(amounts *corev1.ResourceRequirements, who string) string {
	if HugePagesAlone(amounts) {
		return who + " has huge pages, and neither CPU nor memory"
	}
	return ""
}

// HugePagesAlone says whether huge pages are asked for without CPU and memory, which the API server refuses
// (https://github.com/kubernetes/kubernetes/blob/v1.37.1/pkg/apis/core/validation/validation.go, validateResourceRequirements).
func HugePagesAlone(amounts *corev1.ResourceRequirements) bool {
	huge, plain := false, false
	for _, list := range []corev1.ResourceList{amounts.Limits, amounts.Requests} {
		for name := range list {
			huge = huge || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
			plain = plain || name == corev1.ResourceCPU || name == corev1.ResourceMemory
		}
	}
	return huge && !plain
}

// refusedTwice: a host port is one container's, and a pod that waits for gates has no node yet.
func refusedTwice(spec *corev1.PodSpec) string {
	if spec.NodeName != "" && len(spec.SchedulingGates) > 0 {
		return "it names its node and has scheduling gates"
	}
	seen := map[corev1.ContainerPort]bool{}
	for i := range spec.Containers {
		for _, port := range spec.Containers[i].Ports {
			at := corev1.ContainerPort{HostPort: port.HostPort, HostIP: port.HostIP, Protocol: cmp.Or(port.Protocol, corev1.ProtocolTCP)}
			if port.HostPort > 0 && seen[at] {
				return fmt.Sprintf("it has the host port %d twice", port.HostPort)
			}
			seen[at] = true
		}
	}
	return ""
}

// podLevel are the resources that a pod has as a whole, beside huge pages (pkg/apis/core/helper, SupportedPodLevelResources).
var podLevel = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

func refusedPodLevel(spec *corev1.PodSpec) string {
	whole := spec.Resources
	if whole == nil {
		return ""
	}
	if why := refusedAmounts(whole, "the pod as a whole"); why != "" {
		return why
	}
	for _, list := range []corev1.ResourceList{whole.Requests, whole.Limits} {
		for _, name := range job.ResourcesOf(list).Names() {
			if !slices.Contains(podLevel, name) && !strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
				return fmt.Sprintf("the pod as a whole asks for %s, which only containers may", name)
			}
		}
	}
	alone := *spec
	alone.Resources, alone.Overhead = nil, nil
	sum := Effective(&alone)
	for name, asked := range job.ResourcesOf(whole.Requests) {
		if sum[name] > asked {
			return "the pod as a whole requests less than its containers together"
		}
	}
	for i := range spec.Containers {
		for name, own := range spec.Containers[i].Resources.Limits {
			if most, limited := whole.Limits[name]; limited && own.Cmp(most) > 0 {
				return fmt.Sprintf("container %s has a limit above that of the pod", spec.Containers[i].Name)
			}
		}
	}
	return ""
}
