package main

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	volumehelper "k8s.io/component-helpers/storage/volume"

	"github.com/signalbox-dev/signalbox/test/build"
)

// claim writes a claim of the gang's namespace.
func (w *writer) claim(name, class string, mode corev1.PersistentVolumeAccessMode) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{}
	c.Namespace, c.Name, c.Spec.StorageClassName = home, name, &class
	c.UID = "uid-claim"
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{mode}
	c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}
	c.Status.Phase = corev1.ClaimPending
	return c
}

// bound writes a claim, its volume, and the class of both.
func (w *writer) bound(name string, mode corev1.PersistentVolumeAccessMode, change func(*corev1.PersistentVolume)) {
	c := w.claim(name, "fast", mode)
	c.Spec.VolumeName, c.Status.Phase = "pv-"+name, corev1.ClaimBound
	c.Annotations = map[string]string{volumehelper.AnnBindCompleted: "yes"}
	pv := &corev1.PersistentVolume{}
	pv.Name, pv.Spec.StorageClassName, pv.Spec.AccessModes = c.Spec.VolumeName, "fast", c.Spec.AccessModes
	pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: name}
	pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: home, Name: name, UID: c.UID}
	pv.Status.Phase = corev1.VolumeBound
	change(pv)
	w.add(c, pv)
}

const driver = "csi.example.com"

// has says that a pod has a volume of that name; it cannot have two.
func has(p *corev1.Pod, volume string) bool {
	return slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == volume })
}

func mount(p *corev1.Pod, claim string) {
	if has(p, claim) {
		return
	}
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: claim, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}})
}

func only(pv *corev1.PersistentVolume, key string, values ...string) {
	pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}}}}}}
}

func zonedVolume(w *writer, p *corev1.Pod, role string, _ []string) {
	w.about("volume of a zone")
	w.bound("zoned-"+role, corev1.ReadWriteMany, func(pv *corev1.PersistentVolume) {
		if w.one(2) {
			pv.Labels = map[string]string{pick(w, zone, corev1.LabelFailureDomainBetaZone): pick(w, "z0", "z1", "z0__z1", "z9")}
		} else {
			only(pv, zone, pick(w, "z0", "z1", "z9"))
		}
	})
	mount(p, "zoned-"+role)
}

func pinnedVolume(w *writer, p *corev1.Pod, role string, _ []string) {
	w.about("volume of a node")
	w.bound("pinned-"+role, corev1.ReadWriteOnce, func(pv *corev1.PersistentVolume) {
		pv.Spec.CSI, pv.Spec.Local = nil, &corev1.LocalVolumeSource{Path: "/mnt"}
		only(pv, host, pick(w, "n00", "n01", "n02"))
	})
	mount(p, "pinned-"+role)
}

func oncePod(w *writer, p *corev1.Pod, role string, _ []string) {
	w.about("claim for one pod")
	w.bound("solo-"+role, corev1.ReadWriteOncePod, func(*corev1.PersistentVolume) {})
	mount(p, "solo-"+role)
	w.user("solo-" + role)
}

func onceNode(w *writer, p *corev1.Pod, role string, _ []string) {
	w.about("claim for one node")
	w.bound("data", corev1.ReadWriteOnce, func(*corev1.PersistentVolume) {})
	w.driverObject()
	mount(p, "data")
	w.user("data")
}

// user is a pod of another job that has a claim already.
func (w *writer) user(claim string) {
	if !w.one(5) {
		return
	}
	n := w.s.clusterState.nodes[w.IntN(len(w.s.clusterState.nodes))]
	p := build.Pod("user-"+claim, build.In(home), build.On(n.Name))
	mount(p, claim)
	w.run(p, n)
}

func (w *writer) driverObject() {
	d := &storagev1.CSIDriver{}
	d.Name = driver
	yes := !w.one(5)
	d.Spec.AttachRequired = &yes
	w.add(d)
}

// class writes a storage class that waits for the first pod.
func (w *writer) class(name, provisioner string, zones ...string) {
	wait := storagev1.VolumeBindingWaitForFirstConsumer
	c := &storagev1.StorageClass{Provisioner: provisioner, VolumeBindingMode: &wait}
	c.Name = name
	if len(zones) > 0 {
		c.AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: zone, Values: zones}}}}
	}
	w.add(c)
}

func waitingClaim(w *writer, p *corev1.Pod, role string, _ []string) {
	w.about("claim that waits for its pod")
	name := "wait-" + role
	switch w.IntN(3) {
	case 0:
		w.class("slow", driver, pick(w, "z0", "z1"))
	case 1:
		w.class("slow", driver)
	default:
		w.class("slow", volumehelper.NotSupportedProvisioner)
		for i := range w.IntN(3) {
			pv := &corev1.PersistentVolume{}
			pv.Name, pv.Spec.StorageClassName = fmt.Sprintf("local-%s-%d", role, i), "slow"
			pv.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
			pv.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("20Gi")}
			pv.Spec.Local = &corev1.LocalVolumeSource{Path: "/mnt"}
			pv.Status.Phase = corev1.VolumeAvailable
			only(pv, host, fmt.Sprintf("n%02d", i))
			w.add(pv)
		}
	}
	w.add(w.claim(name, "slow", corev1.ReadWriteOnce))
	mount(p, name)
}

func ownVolumes(w *writer, p *corev1.Pod, _ string, _ []string) {
	w.about("volume of the pod's own")
	w.class("own", driver, []string{"z0", "z1"}[:w.IntN(3)]...)
	scratch(p)
}

// scratch is a volume that each pod gets for itself.
func scratch(p *corev1.Pod) {
	if has(p, "scratch") {
		return
	}
	class := "own"
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")}},
		},
	}}}})
}

func attachLimits(w *writer, p *corev1.Pod, role string, _ []string) {
	w.about("attach limits")
	for _, n := range w.s.clusterState.nodes {
		c := &storagev1.CSINode{}
		c.Name = n.Name
		d := storagev1.CSINodeDriver{Name: driver, NodeID: n.Name}
		if !w.one(6) {
			limit := int32(1 + w.IntN(4))
			d.Allocatable = &storagev1.VolumeNodeResources{Count: &limit}
		}
		c.Spec.Drivers = []storagev1.CSINodeDriver{d}
		w.add(c)
		if w.one(4) {
			used := "used-" + n.Name
			w.bound(used, corev1.ReadWriteMany, func(*corev1.PersistentVolume) {})
			user := build.Pod(used, build.In(home), build.On(n.Name))
			mount(user, used)
			w.run(user, n)
		}
		if w.one(8) {
			a := &storagev1.VolumeAttachment{}
			name := "pv-left-" + n.Name
			a.Name, a.Spec.Attacher, a.Spec.NodeName, a.Spec.Source.PersistentVolumeName = "att-"+n.Name, driver, n.Name, &name
			w.bound("left-"+n.Name, corev1.ReadWriteMany, func(*corev1.PersistentVolume) {})
			w.add(a)
		}
	}
	switch w.IntN(3) {
	case 0:
		w.class("own", driver)
		scratch(p)
	case 1:
		w.bound("shared-"+role, corev1.ReadWriteMany, func(*corev1.PersistentVolume) {})
		mount(p, "shared-"+role)
	default:
		w.class("own", driver)
		scratch(p)
		w.bound("shared", corev1.ReadWriteMany, func(*corev1.PersistentVolume) {})
		mount(p, "shared")
	}
}

func missingClaim(w *writer, p *corev1.Pod, role string, _ []string) {
	if !w.one(2) {
		return
	}
	switch w.IntN(4) {
	case 0:
		w.about("missing claim")
		mount(p, "nowhere")
	case 1:
		w.about("missing claim")
		c := w.claim("lost-"+role, "fast", corev1.ReadWriteOnce)
		c.Status.Phase, c.Spec.VolumeName = corev1.ClaimLost, "gone"
		w.add(c)
		mount(p, c.Name)
	case 2:
		w.about("missing volume")
		c := w.claim("void-"+role, "fast", corev1.ReadWriteOnce)
		c.Spec.VolumeName, c.Status.Phase = "gone", corev1.ClaimBound
		c.Annotations = map[string]string{volumehelper.AnnBindCompleted: "yes"}
		w.add(c)
		mount(p, c.Name)
	default:
		if !w.one(4) {
			return
		}
		w.about("claim not bound yet")
		now := storagev1.VolumeBindingImmediate
		c := &storagev1.StorageClass{Provisioner: driver, VolumeBindingMode: &now}
		c.Name = "now"
		w.add(c, w.claim("unbound-"+role, "now", corev1.ReadWriteOnce))
		mount(p, "unbound-"+role)
	}
}

func diskInPod(w *writer, p *corev1.Pod, _ string, _ []string) {
	w.about("disk in the pod")
	if has(p, "disk") {
		return
	}
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "disk", VolumeSource: corev1.VolumeSource{
		ISCSI: &corev1.ISCSIVolumeSource{IQN: "iqn.2001-04.com.example:disk", ReadOnly: w.one(2)},
	}})
}
