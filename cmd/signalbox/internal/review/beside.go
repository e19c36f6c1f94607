package review

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// clusterView is a view with what the input itself brings.
type clusterView struct{ manifest.View }

// inNamespaces are the kinds with a namespace that a job may refer to, or is bound by.
var inNamespaces = map[schema.GroupKind]bool{
	{Kind: "ConfigMap"}: true, {Kind: "Secret"}: true, {Kind: "ServiceAccount"}: true, {Kind: "PersistentVolumeClaim"}: true,
	{Kind: "Service"}: true, {Kind: "ResourceQuota"}: true, {Kind: "LimitRange"}: true, {Group: "policy", Kind: "PodDisruptionBudget"}: true,
	{Group: "trainer.kubeflow.org", Kind: "TrainingRuntime"}:  true,
	{Group: "resource.k8s.io", Kind: "ResourceClaim"}:         true,
	{Group: "resource.k8s.io", Kind: "ResourceClaimTemplate"}: true,
	{Group: "kueue.x-k8s.io", Kind: "LocalQueue"}:             true,
	{Group: "scheduling.k8s.io", Kind: "PodGroup"}:            true,
	{Group: "scheduling.x-k8s.io", Kind: "PodGroup"}:          true,
	{Group: "scheduling.volcano.sh", Kind: "PodGroup"}:        true,
}

// addAll adds the objects a job may refer to (runtimes, claims, namespaces …): files are
// applied together, and what names no namespace goes where a job goes that names none, as kubectl and helm apply
// them. Nodes and pods in the input are not the cluster's.
func (v *clusterView) addAll(others []manifest.Document, namespace string) bool {
	added := false
	for _, d := range others {
		switch gvk := d.Object.GroupVersionKind(); {
		case gvk == corev1.SchemeGroupVersion.WithKind("Node"), gvk == corev1.SchemeGroupVersion.WithKind("Pod"):
		default:
			o := d.Object
			if o.GetNamespace() == "" && inNamespaces[gvk.GroupKind()] {
				o = o.DeepCopy()
				o.SetNamespace(namespace)
			}
			v.Objects = append(v.Objects, o)
			added = true
		}
	}
	return added
}
