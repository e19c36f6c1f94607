package cluster

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// t9kQueue is what of TensorStack's Queue is read, as far as its manual says what it means
// (github.com/t9k/user-manuals fbf6b3cd src/modules/computing-resources/scheduler/queue.md). The shapes of pods
// that a queue takes stand in a ConfigMap of unknown form, and are not judged.
type t9kQueue struct {
	Metadata struct {
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		Quota struct {
			Requests corev1.ResourceList `json:"requests"`
		} `json:"quota"`
		Closed bool `json:"closed"`
		// Priority decides over other queues, and Preemptible whether they may take what it has; not
		// written they may.
		Priority    int32 `json:"priority"`
		Preemptible *bool `json:"preemptible"`
		// NodeSelector chooses the nodes of the queue; not written: all. NamespaceSelector is one of two ways to
		// use the queue; the other, a right of the user, is not in the cluster's objects.
		NodeSelector      *metav1.LabelSelector `json:"nodeSelector"`
		NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector"`
	} `json:"spec"`
	Status struct {
		Allocated corev1.ResourceList `json:"allocated"`
	} `json:"status"`
}

// volcanoQueue is what of Volcano's Queue is read: capability is what its jobs may hold
// together, deserved and guarantee are shares that no job breaks
// (https://github.com/volcano-sh/apis/blob/v1.13.0/pkg/apis/scheduling/v1beta1/types.go).
type volcanoQueue struct {
	Spec struct {
		Capability corev1.ResourceList `json:"capability"`
		Parent     string              `json:"parent"`
	} `json:"spec"`
	Status struct {
		State     string              `json:"state"`
		Allocated corev1.ResourceList `json:"allocated"`
	} `json:"status"`
}
