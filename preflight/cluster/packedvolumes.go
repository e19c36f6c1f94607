package cluster

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// A claim and the volume that is bound to it are held as what is read of them: whole, with room for all that they might
// say, they take three times as much, and a large cluster has tens of thousands. They are looked at one by one, by their
// name, and told as a whole then. A volume that no claim has is held whole: a question walks over all of them.

// wholeOf is what was read of an object; nil: something else, or nothing.
func wholeOf[T any](read any) *T {
	switch v := read.(type) {
	case *T:
		return v
	case interface{ whole() *T }:
		return v.whole()
	}
	return nil
}

// called is an object by its name; nil: it is not there.
func (o Objects) called(gvk schema.GroupVersionKind, namespace, name string) *object {
	found, _ := o[gvk.GroupKind()].Get(Name{namespace, name, gvk.Version})
	return found
}

// claimFacts are what the indexes of a store ask of a claim, for which nobody has to tell it whole.
type claimFacts struct {
	there         bool
	volume, class string
}

func claimFactsOf(o *object) claimFacts {
	if o == nil {
		return claimFacts{}
	}
	switch c := o.read.(type) {
	case *corev1.PersistentVolumeClaim:
		return claimFacts{true, c.Spec.VolumeName, podspec.ClaimClass(c)}
	case *packedClaim:
		asked := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Annotations: c.annotations}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: c.class}}
		return claimFacts{true, c.volume, podspec.ClaimClass(&asked)}
	}
	return claimFacts{}
}

// volumeFacts are the same of a volume: by what it is found besides its name, the claim that has it or its class, and what its
// driver calls it.
type volumeFacts struct {
	there, claimed, csi bool
	at                  Name
	DriverVolume
}

func volumeFactsOf(o *object, name string) volumeFacts {
	if o == nil {
		return volumeFacts{}
	}
	switch v := o.read.(type) {
	case *Volume:
		out := volumeFacts{there: true, at: Name{podspec.VolumeClass(v.PersistentVolume), name, ""}}
		if ref := v.Spec.ClaimRef; ref != nil {
			out.claimed, out.at = true, Name{ref.Namespace, ref.Name, name}
		}
		if csi := v.Spec.CSI; csi != nil {
			out.csi, out.DriverVolume = true, DriverVolume{csi.Driver, HandleOf(v.PersistentVolume)}
		}
		return out
	case *packedVolume:
		out := volumeFacts{there: true, claimed: true, at: Name{v.claim.Namespace, v.claim.Name, name}}
		if v.csi {
			out.csi, out.DriverVolume = true, DriverVolume{v.driver, handleOf(v.driver, v.handle, v.name)}
		}
		return out
	}
	return volumeFacts{}
}

func handleOf(driver, handle, name string) string { return driver + "/" + cmp.Or(handle, name) }

// packedClaim is a PersistentVolumeClaim as readClaim reads it.
type packedClaim struct {
	namespace, name, volume string
	uid                     types.UID
	annotations             map[string]string
	class, attributes       *string
	mode                    *corev1.PersistentVolumeMode
	modes                   []corev1.PersistentVolumeAccessMode
	requests                corev1.ResourceList
	phase                   corev1.PersistentVolumeClaimPhase
}

func packClaim(c *corev1.PersistentVolumeClaim) *packedClaim {
	out := &packedClaim{
		namespace: c.Namespace, name: c.Name, uid: c.UID, annotations: c.Annotations, volume: c.Spec.VolumeName, class: c.Spec.StorageClassName,
		attributes: c.Spec.VolumeAttributesClassName, mode: c.Spec.VolumeMode, modes: c.Spec.AccessModes, requests: c.Spec.Resources.Requests, phase: c.Status.Phase,
	}
	inOne(&out.name, (*string)(&out.uid), &out.volume)
	return out
}

// nameIn is a name in the words of what is held under it: in others, each would be held twice.
func nameIn(o *object, name Name) Name {
	switch of := o.read.(type) {
	case *packedClaim:
		name.Namespace, name.Name = of.namespace, of.name
	case *packedVolume:
		name.Name = of.name
	}
	return name
}

func (p *packedClaim) whole() *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: p.name, UID: p.uid, Annotations: p.annotations},
		Spec: corev1.PersistentVolumeClaimSpec{
			VolumeName: p.volume, StorageClassName: p.class, VolumeAttributesClassName: p.attributes, VolumeMode: p.mode, AccessModes: p.modes,
			Resources: corev1.VolumeResourceRequirements{Requests: p.requests},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: p.phase},
	}
}

// packedVolume is a Volume as readVolume reads it, which a claim has.
type packedVolume struct {
	name, class         string
	labels, annotations map[string]string
	capacity            corev1.ResourceList
	modes               []corev1.PersistentVolumeAccessMode
	mode                *corev1.PersistentVolumeMode
	attributes          *string
	phase               corev1.PersistentVolumePhase
	driver, handle      string // of CSI
	csi                 bool
	claim               types.NamespacedName
	uid                 types.UID // of the claim
	reach               *volumeReach
}

func packVolume(v *corev1.PersistentVolume, reach *volumeReach) *packedVolume {
	s := &v.Spec
	out := &packedVolume{
		name: v.Name, class: s.StorageClassName, labels: v.Labels, annotations: v.Annotations, capacity: s.Capacity, modes: s.AccessModes, mode: s.VolumeMode,
		attributes: s.VolumeAttributesClassName, phase: v.Status.Phase, claim: types.NamespacedName{Namespace: s.ClaimRef.Namespace, Name: s.ClaimRef.Name},
		uid: s.ClaimRef.UID, reach: reach,
	}
	if s.CSI != nil {
		out.csi, out.driver, out.handle = true, s.CSI.Driver, s.CSI.VolumeHandle
	}
	inOne(&out.name, &out.handle, &out.claim.Name, (*string)(&out.uid))
	return out
}

func (p *packedVolume) whole() *Volume {
	v := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: p.name, Labels: p.labels, Annotations: p.annotations},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: p.capacity, AccessModes: p.modes, StorageClassName: p.class, VolumeMode: p.mode, VolumeAttributesClassName: p.attributes, NodeAffinity: p.reach.affinity,
			ClaimRef: &corev1.ObjectReference{Namespace: p.claim.Namespace, Name: p.claim.Name, UID: p.uid},
		},
		Status: corev1.PersistentVolumeStatus{Phase: p.phase},
	}
	if p.csi {
		v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: p.driver, VolumeHandle: p.handle}
	}
	return &Volume{PersistentVolume: v, volumeReach: p.reach}
}
