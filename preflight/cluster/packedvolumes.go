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

// claimFacts are what the indexes of a store ask of a claim, for which it need not be decoded whole.
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
		asked := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Annotations: c.annotations}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: c.as.Spec.StorageClassName}}
		return claimFacts{true, c.volume(), podspec.ClaimClass(&asked)}
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
		out := volumeFacts{there: true, claimed: true, at: Name{v.as.Spec.ClaimRef.Namespace, v.claim(), name}}
		if csi := v.as.Spec.CSI; csi != nil {
			out.csi, out.DriverVolume = true, DriverVolume{csi.Driver, handleOf(csi.Driver, v.handle(), v.name())}
		}
		return out
	}
	return volumeFacts{}
}

func handleOf(driver, handle, name string) string { return driver + "/" + cmp.Or(handle, name) }

// packedClaim is a PersistentVolumeClaim as readClaim reads it.
type packedClaim struct {
	by             object                        // that holds it, so that both are one piece of memory
	as             *corev1.PersistentVolumeClaim // what many say alike: all but these
	text           string                        // its name, its UID and the name of its volume
	nameEnd, idEnd int
	annotations    map[string]string
}

func (p *packedClaim) holder() *object { return &p.by }
func (p *packedClaim) name() string    { return p.text[:p.nameEnd] }
func (p *packedClaim) uid() types.UID  { return types.UID(p.text[p.nameEnd:p.idEnd]) }
func (p *packedClaim) volume() string  { return p.text[p.idEnd:] }

// packClaim packs a claim, which is its own.
func packClaim(c *corev1.PersistentVolumeClaim) *packedClaim {
	out := &packedClaim{text: c.Name + string(c.UID) + c.Spec.VolumeName, nameEnd: len(c.Name), idEnd: len(c.Name) + len(c.UID), annotations: c.Annotations}
	c.Name, c.UID, c.Spec.VolumeName, c.Annotations = "", "", "", nil
	out.as = heldOnce(&sharedClaims, c, c.Size(), c.MarshalToSizedBuffer)
	return out
}

func (p *packedClaim) whole() *corev1.PersistentVolumeClaim {
	c := *p.as
	c.Name, c.UID, c.Spec.VolumeName, c.Annotations = p.name(), p.uid(), p.volume(), p.annotations
	return &c
}

// heldOnce is an object on the heap that says the same as one, which is not changed any more. Written as protobuf, in so many
// bytes, equal ones are equal texts.
func heldOnce[T any](in *shared[*T], one *T, size int, write func([]byte) (int, error)) *T {
	own := func() *T { kept := *one; return &kept }
	if size > mostWritten {
		return own()
	}
	written := make([]byte, size)
	if _, err := write(written); err != nil {
		return own()
	}
	return in.or(written, own)
}

// nameIn is a name in the words of what is held under it: in others, each would be held twice.
func nameIn(o *object, name Name) Name {
	switch of := o.read.(type) {
	case *packedClaim:
		name.Namespace, name.Name = of.as.Namespace, of.name()
	case *packedVolume:
		name.Name = of.name()
	}
	return name
}

// packedVolume is a Volume as readVolume reads it, which a claim has.
type packedVolume struct {
	by                           object                   // that holds it
	as                           *corev1.PersistentVolume // what many say alike: all but these
	text                         string                   // its name, its handle, and name and UID of its claim
	nameEnd, handleEnd, claimEnd int
	labels, annotations          map[string]string
	reach                        *volumeReach
}

func (p *packedVolume) holder() *object { return &p.by }
func (p *packedVolume) name() string    { return p.text[:p.nameEnd] }
func (p *packedVolume) handle() string  { return p.text[p.nameEnd:p.handleEnd] }
func (p *packedVolume) claim() string   { return p.text[p.handleEnd:p.claimEnd] }
func (p *packedVolume) uid() types.UID  { return types.UID(p.text[p.claimEnd:]) }

// packVolume packs a volume that a claim has, which is its own.
func packVolume(v *corev1.PersistentVolume, reach *volumeReach) *packedVolume {
	claim, csi := v.Spec.ClaimRef, cmp.Or(v.Spec.CSI, &corev1.CSIPersistentVolumeSource{})
	out := &packedVolume{text: v.Name + csi.VolumeHandle + claim.Name + string(claim.UID), labels: v.Labels, annotations: v.Annotations, reach: reach}
	out.nameEnd, out.handleEnd = len(v.Name), len(v.Name)+len(csi.VolumeHandle)
	out.claimEnd = out.handleEnd + len(claim.Name)
	v.Name, v.Labels, v.Annotations, v.Spec.NodeAffinity = "", nil, nil, nil
	csi.VolumeHandle, claim.Name, claim.UID = "", "", ""
	out.as = heldOnce(&sharedVolumes, v, v.Size(), v.MarshalToSizedBuffer)
	return out
}

func (p *packedVolume) whole() *Volume {
	v := *p.as
	v.Name, v.Labels, v.Annotations, v.Spec.NodeAffinity = p.name(), p.labels, p.annotations, p.reach.affinity
	v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: p.as.Spec.ClaimRef.Namespace, Name: p.claim(), UID: p.uid()}
	if v.Spec.CSI != nil {
		csi := *v.Spec.CSI
		csi.VolumeHandle, v.Spec.CSI = p.handle(), &csi
	}
	return &Volume{PersistentVolume: &v, volumeReach: p.reach}
}
