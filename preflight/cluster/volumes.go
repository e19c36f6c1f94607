package cluster

import (
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// Kinds of storage objects that are read.
var (
	ClaimKind      = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
	VolumeKind     = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolume"}
	ClassKind      = schema.GroupVersionKind{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"}
	DriverKind     = schema.GroupVersionKind{Group: "storage.k8s.io", Version: "v1", Kind: "CSIDriver"}
	csiNodeKind    = schema.GroupVersionKind{Group: "storage.k8s.io", Version: "v1", Kind: "CSINode"}
	attachmentKind = schema.GroupVersionKind{Group: "storage.k8s.io", Version: "v1", Kind: "VolumeAttachment"}
)

// HasUnclaimed says that there are volumes of a class that no claim has.
func (s *Snapshot) HasUnclaimed(class string) bool {
	for range s.storage.unclaimed.in(class) {
		return true
	}
	return false
}

// Served says on which nodes a volume that is there can become that of a claim. A volume
// that is meant for the claim is the only one to ask.
func (s *Snapshot) Served(claim *corev1.PersistentVolumeClaim, class string) func(at int) bool {
	for name := range s.storage.claimed.called(claim.Namespace, claim.Name) {
		v := Find[Volume](s.objects, VolumeKind, "", name.Version)
		if v != nil && podspec.VolumeClass(v.PersistentVolume) == class && podspec.VolumeSuits(claim, v.PersistentVolume) {
			return s.reaches([]*Volume{v})
		}
	}
	var suited []*Volume
	for name := range s.storage.unclaimed.in(class) {
		if v := Find[Volume](s.objects, VolumeKind, "", name.Name); v != nil && podspec.VolumeSuits(claim, v.PersistentVolume) {
			suited = append(suited, v)
		}
	}
	return s.reaches(suited)
}

// reaches says which nodes reach one of some volumes at least.
func (s *Snapshot) reaches(volumes []*Volume) func(at int) bool {
	hosts, asked := map[string]bool{}, map[string]bool{}
	var some []func(at int) bool
	for _, v := range volumes {
		switch {
		case v.hosts != nil:
			for _, host := range v.hosts {
				hosts[host] = true
			}
		case v.text == "":
			return func(int) bool { return true }
		case !asked[v.text]:
			asked[v.text] = true
			some = append(some, s.Reach(v.Spec.NodeAffinity.Required))
		}
	}
	return func(at int) bool {
		if len(hosts) > 0 {
			if host, ok := s.nodes[at].Labels[corev1.LabelHostname]; ok && hosts[host] {
				return true
			}
		}
		return slices.ContainsFunc(some, func(reaches func(int) bool) bool { return reaches(at) })
	}
}

// OnHosts says that the volume names the nodes that reach it.
func (v *Volume) OnHosts() bool { return v.hosts != nil }

// DriverVolume is a volume as its driver names it.
type DriverVolume struct{ Driver, Handle string }

// Volume is a PersistentVolume, and from where it is reached.
type Volume struct {
	*corev1.PersistentVolume
	*volumeReach
}

// attachment is a VolumeAttachment: a volume that is attached to a node, or about to be.
type attachment struct{ attacher, node, volume string }

// nodeAttachment is an attachment with the volume as its driver names it; without a
// handle: the view does not hold it, or it is none of a driver's.
type nodeAttachment struct {
	*attachment
	handle string
}

// mount is a claim that a pod on a node uses, and the volume behind it.
type mount struct {
	pod   *Pod
	claim string
	DriverVolume
	known, found bool // whether the volume has been looked for, and found
}

// attachLimit is how many volumes of a driver a node attaches.
type attachLimit struct {
	driver string
	most   int32
}

// AttachedVolume is a volume that is attached to a node.
type AttachedVolume struct {
	DriverVolume
	hash uint64 // of the handle
	Idle bool   // stays on an idle cluster: pods use it that stay
}

// volumeIndex is what of a store's volumes has to be found by something else than the name.
// All lists are in the order of what they are found by. Snapshots share the first four.
type volumeIndex struct {
	users      sortedList[*Pod]           // by namespace, claim and pod: pods with a node
	attached   sortedList[nodeAttachment] // by node and name
	unclaimed  sortedList[struct{}]       // by class and name: volumes that no claim has
	claimed    sortedList[struct{}]       // by the claim's namespace, the claim and the name of the volume
	claimsOf   sortedList[struct{}]       // by volume, namespace and name of the claim
	attachedAs sortedList[string]         // by volume and name of the attachment: the node
	shown      *volumeLists               // nil: something has changed
}

// volumeLists are the lists of which snapshots have need; immutable.
type volumeLists struct {
	users     *sortedList[*Pod]
	attached  *sortedList[nodeAttachment]
	unclaimed *sortedList[struct{}]
	claimed   *sortedList[struct{}]
}

func (x *volumeIndex) share() *volumeLists {
	if x.shown == nil {
		x.shown = &volumeLists{x.users.share(), x.attached.share(), x.unclaimed.share(), x.claimed.share()}
	}
	return x.shown
}

// volumesOf is the index of a store that begins with the objects of a snapshot; the pods
// are yet to come.
func volumesOf(shown *volumeLists) volumeIndex {
	if shown == nil {
		return volumeIndex{}
	}
	return volumeIndex{attached: *shown.attached, unclaimed: *shown.unclaimed, claimed: *shown.claimed}
}

// use notes which claims a pod on a node uses.
func (x *volumeIndex) use(b *nodeInfo, p *Pod) {
	for _, claim := range p.claims {
		x.shown = nil
		x.users.set(Name{p.Namespace(), claim, p.name}, p)
		b.mounts = append(b.mounts, mount{pod: p, claim: claim})
	}
	b.volumesKnown = b.volumesKnown && len(p.claims) == 0
}

func (x *volumeIndex) unuse(b *nodeInfo, p *Pod) {
	for _, claim := range p.claims {
		x.shown = nil
		x.users.drop(Name{p.Namespace(), claim, p.name})
		b.mounts = slices.DeleteFunc(b.mounts, func(m mount) bool { return m.pod == p })
	}
	b.volumesKnown = b.volumesKnown && len(p.claims) == 0
}

// volumesChanged follows a change of an object: nodes whose volumes may be others now are
// worked out again.
func (l *Store) volumesChanged(gk schema.GroupKind, name Name, before, now *object) {
	switch gk {
	case ClaimKind.GroupKind():
		l.claimChanged(name, claimFactsOf(before), claimFactsOf(now))
	case VolumeKind.GroupKind():
		l.volumeChanged(name, volumeFactsOf(before, name.Name), volumeFactsOf(now, name.Name))
	case attachmentKind.GroupKind():
		l.attachmentChanged(name, readAs[attachment](before), readAs[attachment](now))
	case csiNodeKind.GroupKind():
		if b := l.volumesOn(name.Name); b != nil {
			b.limitsKnown = false
		}
	case ClassKind.GroupKind():
		for claim, p := range l.volumes.users.all() {
			if claimFactsOf(Objects(l.objects.kinds).called(ClaimKind, claim.Namespace, claim.Name)).class == name.Name {
				l.mountOn(p, claim.Name)
			}
		}
	}
}

// mountOn is about a claim that a pod uses.
func (l *Store) mountOn(p *Pod, claim string) {
	b := l.nodes[p.node]
	for i := range b.mounts {
		if m := &b.mounts[i]; m.pod == p && m.claim == claim {
			m.known = false
		}
	}
	l.volumesOn(p.node)
}

func readAs[T any](o *object) *T {
	if o == nil {
		return nil
	}
	return wholeOf[T](o.read)
}

func (l *Store) claimChanged(name Name, before, now claimFacts) {
	if before == now {
		return
	}
	if was, is := before.volume, now.volume; was != is {
		if was != "" {
			l.volumes.claimsOf.drop(Name{was, name.Namespace, name.Name})
		}
		if is != "" {
			l.volumes.claimsOf.set(Name{is, name.Namespace, name.Name}, struct{}{})
		}
	}
	l.claimOn(name.Namespace, name.Name)
}

// claimOn is about the nodes with pods that use a claim.
func (l *Store) claimOn(namespace, claim string) {
	for _, p := range l.volumes.users.called(namespace, claim) {
		l.mountOn(p, claim)
	}
}

func (l *Store) volumesOn(node string) *nodeInfo {
	b := l.nodes[node]
	if b != nil {
		b.volumesKnown = false
		l.touch(b)
	}
	return b
}

func (l *Store) attachmentsOn(node string) {
	if b := l.volumesOn(node); b != nil {
		b.attachmentsKnown = false
	}
}

func (l *Store) volumeChanged(name Name, before, now volumeFacts) {
	x := &l.volumes
	if before.claimed != now.claimed || before.at != now.at {
		x.shown = nil
		if before.there {
			x.by(before.claimed).drop(before.at)
		}
		if now.there {
			x.by(now.claimed).set(now.at, struct{}{})
		}
	}
	if before.there && now.there && before.csi == now.csi && before.Handle == now.Handle {
		return
	}
	for claim := range x.claimsOf.in(name.Name) {
		l.claimOn(claim.Name, claim.Version)
	}
	for attached, node := range x.attachedAs.in(name.Name) {
		at := Name{node, attached.Name, ""}
		if a, ok := x.attached.Get(at); ok {
			x.attached.set(at, l.resolved(a.attachment))
			l.attachmentsOn(node)
		}
	}
}

// resolved finds the volume of an attachment.
func (l *Store) resolved(a *attachment) nodeAttachment {
	return nodeAttachment{a, volumeFactsOf(Objects(l.objects.kinds).called(VolumeKind, "", a.volume), a.volume).Handle}
}

func (x *volumeIndex) by(claimed bool) *sortedList[struct{}] {
	if claimed {
		return &x.claimed
	}
	return &x.unclaimed
}

func (l *Store) attachmentChanged(name Name, before, now *attachment) {
	if before != nil && now != nil && *before == *now {
		return
	}
	x := &l.volumes
	x.shown = nil
	if before != nil {
		x.attached.drop(Name{before.node, name.Name, ""})
		x.attachedAs.drop(Name{before.volume, name.Name, ""})
		l.attachmentsOn(before.node)
	}
	if now != nil {
		x.attached.set(Name{now.node, name.Name, ""}, l.resolved(now))
		x.attachedAs.set(Name{now.volume, name.Name, ""}, now.node)
		l.attachmentsOn(now.node)
	}
}

// digestVolumes works out what is attached to a node, and how much may be.
func (l *Store) digestVolumes(b *nodeInfo) {
	b.volumesKnown, b.attached = true, make([]AttachedVolume, 0, len(b.attached))
	if !b.limitsKnown {
		b.limitsKnown, b.attachLimits = true, nil
		if limits := Find[[]attachLimit](l.objects.kinds, csiNodeKind, "", b.name); limits != nil {
			b.attachLimits = *limits
		}
	}
	if !b.attachmentsKnown {
		b.attachmentsKnown, b.attachments = true, b.attachments[:0]
		for _, a := range l.volumes.attached.in(b.name) {
			b.attachments = append(b.attachments, a)
		}
	}
	add := func(v DriverVolume, idle bool) {
		at := slices.IndexFunc(b.attached, func(a AttachedVolume) bool { return a.Handle == v.Handle })
		if at < 0 {
			at, b.attached = len(b.attached), append(b.attached, AttachedVolume{hash: uint64(hashOf("", v.Handle))})
		}
		b.attached[at].DriverVolume, b.attached[at].Idle = v, b.attached[at].Idle || idle
	}
	for i := range b.mounts {
		m := &b.mounts[i]
		if !m.known {
			m.DriverVolume, m.found = VolumeOf(l.objects.kinds, m.pod.Namespace(), m.claim)
			m.known = true
		}
		if m.found {
			add(m.DriverVolume, m.pod.resident)
		}
	}
	// A pod that has just ended leaves its volume there for a while.
	for _, a := range b.attachments {
		if a.handle != "" {
			add(DriverVolume{a.attacher, a.handle}, false)
		}
	}
}

// VolumeOf is the volume behind a claim: the one it is bound to, or the one that its class's
// driver will make.
func VolumeOf(all Objects, namespace, name string) (DriverVolume, bool) {
	claim := claimFactsOf(all.called(ClaimKind, namespace, name))
	if v := claim.volume; v != "" {
		if pv := volumeFactsOf(all.called(VolumeKind, "", v), v); pv.there {
			return pv.DriverVolume, pv.csi
		}
	}
	if class := claim.class; class != "" {
		if c := Find[storagev1.StorageClass](all, ClassKind, "", class); c != nil {
			return DriverVolume{c.Provisioner, c.Provisioner + "/" + namespace + "/" + name}, true
		}
	}
	return DriverVolume{}, false
}

// Claim is what counts of a volume claim: its spec without what made it, its class, its phase and
// whether it is being deleted. Read-only.
func (s *Snapshot) Claim(namespace, name string) (*corev1.PersistentVolumeClaim, job.Presence) {
	if s == nil {
		return nil, job.Unknown
	}
	return ReadOf[corev1.PersistentVolumeClaim](s, ClaimKind, namespace, name)
}

// Volume is what counts of a volume: what it holds and for whom, its driver, and which nodes
// reach it. Read-only.
func (s *Snapshot) Volume(name string) (*corev1.PersistentVolume, job.Presence) {
	if s == nil {
		return nil, job.Unknown
	}
	v, there := ReadOf[Volume](s, VolumeKind, "", name)
	if there != job.Present {
		return nil, there
	}
	return v.PersistentVolume, there
}

// DefaultClass is the storage class of claims that name none; nil: there is none, or there are several, of which the newest counts
// (https://kubernetes.io/docs/concepts/storage/storage-classes/#default-storageclass).
func (s *Snapshot) DefaultClass() (found *storagev1.StorageClass) {
	for _, o := range s.objects[ClassKind.GroupKind()].all() {
		class, _ := o.read.(*storagev1.StorageClass)
		if class == nil || class.Annotations[DefaultClassAnnotation] != "true" {
			continue
		}
		if found != nil {
			return nil
		}
		found = class
	}
	return found
}

// DefaultClassAnnotation marks the storage class of claims that name none.
const DefaultClassAnnotation = "storageclass.kubernetes.io/is-default-class"

// HandleOf is what the driver calls a volume. Where that is not in the view, the name of
// the volume tells it from others as well.
func HandleOf(pv *corev1.PersistentVolume) string {
	return handleOf(pv.Spec.CSI.Driver, pv.Spec.CSI.VolumeHandle, pv.Name)
}

// ClaimUsers are the pods with a node that use a claim.
func (s *Snapshot) ClaimUsers(namespace, claim string) iter.Seq[*Pod] {
	return func(yield func(*Pod) bool) {
		for _, p := range s.storage.users.called(namespace, claim) {
			if !yield(p) {
				return
			}
		}
	}
}
