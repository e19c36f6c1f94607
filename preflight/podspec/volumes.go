package podspec

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	volumehelper "k8s.io/component-helpers/storage/volume"
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

// NoProvisioner is the provisioner of classes that make no volumes; selectedNode is the
// annotation of a claim whose volume is being made for a node.
const (
	NoProvisioner = volumehelper.NotSupportedProvisioner
	SelectedNode  = volumehelper.AnnSelectedNode
)

// ClaimClass is the storage class of a claim; empty: none.
func ClaimClass(claim *corev1.PersistentVolumeClaim) string {
	return volumehelper.GetPersistentVolumeClaimClass(claim)
}

// VolumeClass is the storage class of a volume; empty: none.
func VolumeClass(pv *corev1.PersistentVolume) string {
	return volumehelper.GetPersistentVolumeClass(pv)
}

// VolumeSuits says whether a volume can become that of a claim, for a pod on a node that reaches it.
func VolumeSuits(claim *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) bool {
	reached := *pv
	reached.Spec.NodeAffinity = nil
	found, err := volumehelper.FindMatchingVolume(claim, []*corev1.PersistentVolume{&reached}, &corev1.Node{}, nil, true, true)
	return err == nil && found != nil
}

// ZonesIn are the zones in a label of a volume, which holds several with this separator
// (k8s.io/cloud-provider v0.36 volume/helpers/zones.go, LabelMultiZoneDelimiter).
func ZonesIn(label string) []string { return strings.Split(label, "__") }
