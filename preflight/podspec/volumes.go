package podspec

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
)

// ClaimNames are the claims that a pod uses; a volume that is the pod's own has a claim
// named after both
// (https://kubernetes.io/docs/concepts/storage/ephemeral-volumes/#persistentvolumeclaim-naming).
func ClaimNames(p *corev1.Pod) []string {
	var out []string
	for i := range p.Spec.Volumes {
		switch v := &p.Spec.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			out = append(out, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			out = append(out, p.Name+"-"+v.Name)
		}
	}
	return out
}

// Disk is a volume that is written into the pod itself and that no two pods of a node
// may use, unless both only read it
// (https://kubernetes.io/docs/reference/scheduling/config/, VolumeRestrictions).
type Disk struct {
	id    string
	reads bool // is enough where all only read
}

// Disks are the disks of a volume; RBD images are told apart by each of their monitors. The API server fills in their
// pool (k8s.io/kubernetes v1.37 pkg/apis/core/v1/defaults.go, SetDefaults_RBDVolumeSource).
func Disks(v *corev1.Volume) []Disk {
	switch {
	case v.GCEPersistentDisk != nil:
		return []Disk{{"gce " + v.GCEPersistentDisk.PDName, v.GCEPersistentDisk.ReadOnly}}
	case v.AWSElasticBlockStore != nil:
		return []Disk{{"aws " + v.AWSElasticBlockStore.VolumeID, false}}
	case v.ISCSI != nil:
		return []Disk{{"iscsi " + v.ISCSI.IQN, v.ISCSI.ReadOnly}}
	case v.RBD != nil:
		var out []Disk
		for _, monitor := range v.RBD.CephMonitors {
			out = append(out, Disk{"rbd " + monitor + " " + cmp.Or(v.RBD.RBDPool, "rbd") + " " + v.RBD.RBDImage, v.RBD.ReadOnly})
		}
		return out
	default:
		return nil
	}
}

// DiskConflict says whether two pods cannot be on one node for their disks.
func DiskConflict(a, b []Disk) bool {
	return slices.ContainsFunc(a, func(x Disk) bool {
		return slices.ContainsFunc(b, func(y Disk) bool { return x.id == y.id && !(x.reads && y.reads) })
	})
}

// PodDisks are the disks of a pod that exists.
func PodDisks(p *corev1.Pod) []Disk {
	var out []Disk
	for i := range p.Spec.Volumes {
		out = append(out, Disks(&p.Spec.Volumes[i])...)
	}
	return out
}

// What follows says the same as k8s.io/component-helpers v0.37 storage/volume, by which kube-scheduler and the volume
// controller go; tests compare the two. That package imports all of client-go, which no word of a pod needs.

// NoProvisioner is the provisioner of classes that make no volumes; SelectedNode is the annotation of a claim whose
// volume is being made for a node.
const (
	NoProvisioner = "kubernetes.io/no-provisioner"
	SelectedNode  = "volume.kubernetes.io/selected-node"
)

// ClaimClass is the storage class of a claim; empty: none.
func ClaimClass(claim *corev1.PersistentVolumeClaim) string {
	if class, ok := claim.Annotations[corev1.BetaStorageClassAnnotation]; ok || claim.Spec.StorageClassName == nil {
		return class
	}
	return *claim.Spec.StorageClassName
}

// VolumeClass is the storage class of a volume; empty: none.
func VolumeClass(pv *corev1.PersistentVolume) string {
	if class, ok := pv.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	return pv.Spec.StorageClassName
}

// VolumeSuits says whether a volume can become that of a claim, for a pod on a node that reaches it.
func VolumeSuits(claim *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) bool {
	selected, err := metav1.LabelSelectorAsSelector(claim.Spec.Selector)
	if err != nil {
		return false // no volume is looked for
	}
	capacity := pv.Spec.Capacity[corev1.ResourceStorage]
	switch bound := boundTo(pv, claim); {
	case pv.Spec.ClaimRef != nil && !bound,
		capacity.Cmp(claim.Spec.Resources.Requests[corev1.ResourceStorage]) < 0,
		ptr.Deref(claim.Spec.VolumeMode, corev1.PersistentVolumeFilesystem) != ptr.Deref(pv.Spec.VolumeMode, corev1.PersistentVolumeFilesystem),
		ptr.Deref(claim.Spec.VolumeAttributesClassName, "") != ptr.Deref(pv.Spec.VolumeAttributesClassName, ""),
		pv.DeletionTimestamp != nil:
		return false
	case bound:
		return true
	}
	return pv.Status.Phase == corev1.VolumeAvailable && VolumeClass(pv) == ClaimClass(claim) &&
		(claim.Spec.Selector == nil || selected.Matches(labels.Set(pv.Labels))) &&
		!slices.ContainsFunc(claim.Spec.AccessModes, func(mode corev1.PersistentVolumeAccessMode) bool { return !slices.Contains(pv.Spec.AccessModes, mode) })
}

// boundTo says whether a volume is a claim's, by its name, and by its UID where the volume knows one.
func boundTo(pv *corev1.PersistentVolume, claim *corev1.PersistentVolumeClaim) bool {
	ref := pv.Spec.ClaimRef
	return ref != nil && ref.Name == claim.Name && ref.Namespace == claim.Namespace && (ref.UID == "" || ref.UID == claim.UID)
}

// ZonesIn are the zones in a label of a volume, which holds several with this separator
// (k8s.io/cloud-provider v0.36 volume/helpers/zones.go, LabelMultiZoneDelimiter).
func ZonesIn(label string) []string { return strings.Split(label, "__") }
