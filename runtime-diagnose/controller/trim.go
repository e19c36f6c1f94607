package controller

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
)

// trimPod keeps of a pod which it is, whose, where, and how it is.
func trimPod(o any) (any, error) {
	p, ok := o.(*corev1.Pod)
	if !ok {
		return o, nil // it is trimmed already, or a tombstone
	}
	collect.TrimStatuses(p)
	annotations := p.Annotations
	p.ManagedFields, p.Annotations, p.Finalizers, p.GenerateName = nil, nil, nil, ""
	for _, key := range kinds.PodAnnotations() {
		if value, there := annotations[key]; there {
			metav1.SetMetaDataAnnotation(&p.ObjectMeta, key, value)
		}
	}
	p.Spec = corev1.PodSpec{NodeName: p.Spec.NodeName}
	p.Status = corev1.PodStatus{
		Phase: p.Status.Phase, Reason: p.Status.Reason, Message: p.Status.Message, StartTime: p.Status.StartTime,
		Conditions:            telling(p.Status.Conditions),
		InitContainerStatuses: trimContainers(p.Status.InitContainerStatuses),
		ContainerStatuses:     trimContainers(p.Status.ContainerStatuses),
		ResourceClaimStatuses: p.Status.ResourceClaimStatuses,
	}
	return pack(p)
}

// telling are the conditions that say more than that a step of a start is done: most of what a healthy pod has is five
// of the others.
func telling(all []corev1.PodCondition) []corev1.PodCondition {
	all = slices.DeleteFunc(all, func(c corev1.PodCondition) bool {
		return c.Status == corev1.ConditionTrue && c.Type != corev1.DisruptionTarget
	})
	for i, c := range all {
		all[i] = corev1.PodCondition{Type: c.Type, Status: c.Status, LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message}
	}
	return all
}

func trimContainers(all []corev1.ContainerStatus) []corev1.ContainerStatus {
	for i, c := range all {
		all[i] = corev1.ContainerStatus{
			Name: c.Name, State: c.State, LastTerminationState: c.LastTerminationState,
			Ready: c.Ready, RestartCount: c.RestartCount, AllocatedResourcesStatus: c.AllocatedResourcesStatus,
		}
	}
	return all
}
