package cluster

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// The readers below take what is plain and leave the rest to the converter, which is
// slower: an attached volume changes three objects.

func readClaim(o *unstructured.Unstructured) (any, error) {
	var in plainFields
	meta, spec, status := in.child(o.Object, "metadata"), in.child(o.Object, "spec"), in.child(o.Object, "status")
	c := &corev1.PersistentVolumeClaim{}
	c.Namespace, c.Name, c.UID = in.common(meta, "namespace"), in.text(meta, "name"), types.UID(in.text(meta, "uid"))
	c.Annotations = in.texts(in.child(meta, "annotations"))
	c.Spec.VolumeName, c.Spec.StorageClassName = in.text(spec, "volumeName"), in.optional(spec, "storageClassName")
	c.Spec.AccessModes = modesOf(&in, spec)
	c.Spec.VolumeMode = (*corev1.PersistentVolumeMode)(in.optional(spec, "volumeMode"))
	c.Spec.VolumeAttributesClassName = in.optional(spec, "volumeAttributesClassName")
	c.Spec.Resources.Requests = in.amounts(in.child(spec, "resources"), "requests")
	c.Status.Phase = corev1.PersistentVolumeClaimPhase(in.common(status, "phase"))
	if in.odd || meta["deletionTimestamp"] != nil || spec["selector"] != nil {
		return freely[corev1.PersistentVolumeClaim](o)
	}
	return packClaim(c), nil
}

func readVolume(o *unstructured.Unstructured) (any, error) {
	var in plainFields
	meta, spec, status := in.child(o.Object, "metadata"), in.child(o.Object, "spec"), in.child(o.Object, "status")
	var v corev1.PersistentVolume // not on the heap, unless it is held whole
	v.Name, v.Labels, v.Annotations = in.text(meta, "name"), in.texts(in.child(meta, "labels")), in.texts(in.child(meta, "annotations"))
	v.Spec.Capacity = in.amounts(spec, "capacity")
	v.Spec.AccessModes = modesOf(&in, spec)
	v.Spec.StorageClassName = in.common(spec, "storageClassName")
	v.Spec.VolumeMode = (*corev1.PersistentVolumeMode)(in.optional(spec, "volumeMode"))
	v.Spec.VolumeAttributesClassName = in.optional(spec, "volumeAttributesClassName")
	v.Status.Phase = corev1.PersistentVolumePhase(in.common(status, "phase"))
	if csi := in.child(spec, "csi"); csi != nil {
		v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: in.common(csi, "driver"), VolumeHandle: in.text(csi, "volumeHandle")}
	}
	if ref := in.child(spec, "claimRef"); ref != nil {
		v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: in.common(ref, "namespace"), Name: in.text(ref, "name"), UID: types.UID(in.text(ref, "uid"))}
	}
	if driver := DriverOfOld(spec); driver != "" {
		v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver}
	}
	reach := in.reach(in.child(spec, "nodeAffinity"))
	v.Spec.NodeAffinity = reach.affinity
	if in.odd || meta["deletionTimestamp"] != nil {
		read, err := freely[corev1.PersistentVolume](o)
		if err != nil {
			return nil, err
		}
		whole, _ := read.(*corev1.PersistentVolume)
		return volumeOf(whole), nil
	}
	if v.Spec.ClaimRef == nil {
		whole := v
		return &Volume{PersistentVolume: &whole, volumeReach: reach}, nil
	}
	return packVolume(&v, reach), nil
}

// migrated are volumes that Kubernetes once attached by itself: it hands them to these drivers, whose limits count them
// (k8s.io/csi-translation-lib v0.37.0 plugins; kubernetes v1.37 pkg/scheduler/framework/plugins/nodevolumelimits/csi.go).
var migrated = []struct{ field, driver string }{
	{"awsElasticBlockStore", "ebs.csi.aws.com"},
	{"azureDisk", "disk.csi.azure.com"},
	{"cinder", "cinder.csi.openstack.org"},
	{"gcePersistentDisk", "pd.csi.storage.gke.io"},
	{"vsphereVolume", "csi.vsphere.vmware.com"},
}

// DriverOfOld is the driver of a volume whose spec names none, because it is older than drivers; empty: it is no such volume.
func DriverOfOld(spec map[string]any) string {
	for _, m := range migrated {
		if spec[m.field] != nil {
			return m.driver
		}
	}
	return ""
}

func volumeOf(v *corev1.PersistentVolume) *Volume {
	return &Volume{PersistentVolume: v, volumeReach: reachOf(v.Spec.NodeAffinity)}
}

// hostsOf are the nodes that an affinity names by their hostname label and by nothing else.
func hostsOf(required *corev1.NodeSelector) []string {
	if len(required.NodeSelectorTerms) != 1 {
		return nil
	}
	term := &required.NodeSelectorTerms[0]
	if len(term.MatchFields) > 0 || len(term.MatchExpressions) != 1 {
		return nil
	}
	e := &term.MatchExpressions[0]
	if e.Key != corev1.LabelHostname || e.Operator != corev1.NodeSelectorOpIn {
		return nil
	}
	return e.Values
}

// affinityText tells affinities apart.
func affinityText(required *corev1.NodeSelector) string {
	out := make([]byte, 0, 256)
	add := func(parts ...string) {
		for _, part := range parts {
			out = append(append(out, part...), 0)
		}
	}
	for i := range required.NodeSelectorTerms {
		term := &required.NodeSelectorTerms[i]
		for _, list := range [][]corev1.NodeSelectorRequirement{term.MatchExpressions, term.MatchFields} {
			for _, e := range list {
				add(e.Key, string(e.Operator))
				add(e.Values...)
				add("")
			}
			add(";")
		}
	}
	return string(out)
}

func readAttachment(o *unstructured.Unstructured) (any, error) {
	var in plainFields
	spec := in.child(o.Object, "spec")
	a := &attachment{attacher: in.common(spec, "attacher"), node: in.common(spec, "nodeName"), volume: in.text(in.child(spec, "source"), "persistentVolumeName")}
	if in.odd {
		_, err := freely[storagev1.VolumeAttachment](o)
		return nil, err
	}
	if a.volume == "" { // it is written into a pod
		return nil, nil
	}
	return a, nil
}

func readCSINode(o *unstructured.Unstructured) (any, error) {
	read, err := freely[storagev1.CSINode](o)
	if err != nil {
		return nil, err
	}
	limits := []attachLimit{}
	if n, ok := read.(*storagev1.CSINode); ok {
		for _, d := range n.Spec.Drivers {
			most := int32(noLimit)
			if d.Allocatable != nil && d.Allocatable.Count != nil {
				most = *d.Allocatable.Count
			}
			limits = append(limits, attachLimit{d.Name, most})
		}
	}
	return &limits, nil
}

// plainQuota reads a quota; nil: something in it needs a closer look.
func plainQuota(o *unstructured.Unstructured) *corev1.ResourceQuota {
	var in plainFields
	meta, spec, status := in.child(o.Object, "metadata"), in.child(o.Object, "spec"), in.child(o.Object, "status")
	q := &corev1.ResourceQuota{}
	q.Namespace, q.Name = in.text(meta, "namespace"), in.text(meta, "name")
	q.Spec.Hard, q.Status.Hard, q.Status.Used = in.amounts(spec, "hard"), in.amounts(status, "hard"), in.amounts(status, "used")
	q.Spec.Scopes = listOf[corev1.ResourceQuotaScope](&in, spec, "scopes")
	if in.odd || spec["scopeSelector"] != nil {
		return nil
	}
	return q
}
