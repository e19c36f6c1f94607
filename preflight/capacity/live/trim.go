package live

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var namespaceKind = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}

// mostAnnotation is how long an annotation may be to be kept. Indexes and task names of
// operators are shorter; whole manifests (kubectl's last-applied) are not.
const mostAnnotation = 128

// trimMeta keeps what readers look at. The resource version stays: the informer tells a
// change from a repetition by it.
func trimMeta(m *metav1.ObjectMeta) metav1.ObjectMeta {
	out := metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion, Labels: m.Labels,
		OwnerReferences: m.OwnerReferences, DeletionTimestamp: m.DeletionTimestamp, CreationTimestamp: m.CreationTimestamp,
	}
	for key, value := range m.Annotations {
		if len(value) <= mostAnnotation {
			metav1.SetMetaDataAnnotation(&out, key, value)
		}
	}
	return out
}

// trimNode keeps what the fit counts; a heartbeat alone changes nothing of it.
func trimNode(object any) (any, error) {
	n, ok := object.(*corev1.Node)
	if !ok {
		return object, nil
	}
	out := &corev1.Node{ObjectMeta: trimMeta(&n.ObjectMeta)}
	out.Spec.Taints, out.Spec.Unschedulable, out.Spec.ProviderID = n.Spec.Taints, n.Spec.Unschedulable, n.Spec.ProviderID
	out.Status.Allocatable, out.Status.Capacity = n.Status.Allocatable, n.Status.Capacity
	for _, c := range n.Status.Conditions {
		out.Status.Conditions = append(out.Status.Conditions, corev1.NodeCondition{Type: c.Type, Status: c.Status, Reason: c.Reason})
	}
	return out, nil
}

// trimPod keeps what takes room, what keeps others away, and whose the pod is. Commands
// and environments are dropped: they are large, and may hold what nobody else should see.
func trimPod(object any) (any, error) {
	p, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	s := &p.Spec
	out := &corev1.Pod{ObjectMeta: trimMeta(&p.ObjectMeta), Spec: corev1.PodSpec{
		NodeName: s.NodeName, SchedulerName: s.SchedulerName, Priority: s.Priority, PriorityClassName: s.PriorityClassName,
		HostNetwork: s.HostNetwork, Overhead: s.Overhead, Resources: s.Resources, ResourceClaims: s.ResourceClaims,
		Containers: trimContainers(s.Containers), InitContainers: trimContainers(s.InitContainers),
	}}
	if a := s.Affinity; a != nil && a.PodAntiAffinity != nil {
		out.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
		}}
	}
	st := &p.Status
	out.Status = corev1.PodStatus{
		Phase: st.Phase, NominatedNodeName: st.NominatedNodeName, Resources: st.Resources, AllocatedResources: st.AllocatedResources,
		ContainerStatuses: trimStatuses(st.ContainerStatuses), InitContainerStatuses: trimStatuses(st.InitContainerStatuses),
	}
	for _, c := range st.Conditions {
		if c.Type == corev1.PodResizePending { // the size that is granted depends on it
			out.Status.Conditions = append(out.Status.Conditions, corev1.PodCondition{Type: c.Type, Status: c.Status, Reason: c.Reason})
		}
	}
	return out, nil
}

func trimContainers(cs []corev1.Container) []corev1.Container {
	var out []corev1.Container
	for _, c := range cs {
		out = append(out, corev1.Container{Name: c.Name, Resources: c.Resources, Ports: c.Ports, RestartPolicy: c.RestartPolicy})
	}
	return out
}

func trimStatuses(all []corev1.ContainerStatus) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for _, c := range all {
		if c.Resources != nil || c.AllocatedResources != nil {
			out = append(out, corev1.ContainerStatus{Name: c.Name, Resources: c.Resources, AllocatedResources: c.AllocatedResources})
		}
	}
	return out
}

func trimNamespace(object any) (any, error) {
	n, ok := object.(*corev1.Namespace)
	if !ok {
		return object, nil
	}
	return &corev1.Namespace{ObjectMeta: trimMeta(&n.ObjectMeta)}, nil
}

// namespaceObject is a namespace as snapshots hold objects.
func namespaceObject(n *corev1.Namespace) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(namespaceKind)
	u.SetName(n.Name)
	u.SetLabels(n.Labels)
	u.SetAnnotations(n.Annotations)
	return u
}

// trimObject drops what the API server keeps for itself and kubectl's copy of the object.
func trimObject(object any) (any, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil
	}
	unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
	unstructured.RemoveNestedField(u.Object, "metadata", "annotations", corev1.LastAppliedConfigAnnotation)
	return u, nil
}

// unchanged says that two versions of an object differ in nothing that was kept.
func unchanged(old, object any) bool {
	switch a := old.(type) {
	case *corev1.Node:
		b, ok := object.(*corev1.Node)
		return ok && sameMeta(a.ObjectMeta, b.ObjectMeta) && equality.Semantic.DeepEqual(a.Spec, b.Spec) && equality.Semantic.DeepEqual(a.Status, b.Status)
	case *corev1.Pod:
		b, ok := object.(*corev1.Pod)
		return ok && sameMeta(a.ObjectMeta, b.ObjectMeta) && equality.Semantic.DeepEqual(a.Spec, b.Spec) && equality.Semantic.DeepEqual(a.Status, b.Status)
	default:
		return false
	}
}

func sameMeta(a, b metav1.ObjectMeta) bool {
	a.ResourceVersion = b.ResourceVersion
	return equality.Semantic.DeepEqual(a, b)
}
