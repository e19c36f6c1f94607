package cluster

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
)

// RuntimeClass is the runtime class that a pod names; nil where it names none, or one
// that is not in the view.
func (s *Snapshot) RuntimeClass(spec *corev1.PodSpec) *nodev1.RuntimeClass {
	if spec.RuntimeClassName == nil || *spec.RuntimeClassName == "" {
		return nil
	}
	return Find[nodev1.RuntimeClass](s.objects, runtimeKind, "", *spec.RuntimeClassName)
}
