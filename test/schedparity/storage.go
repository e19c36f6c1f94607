package main

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	volumehelper "k8s.io/component-helpers/storage/volume"
)

// storage gives the gangs of some seeds several claims: of one class, of one pod, or of a driver that
// says how much storage it has where. Seeds decide, as for stages.
func (w *writer) storage(seed uint64) {
	var fill func(p *corev1.PodSpec, role string)
	switch seed % 75 {
	case 4:
		w.about(severalOfClass)
		w.oneClass()
		fill = w.claimsOfOneClass
	case 29:
		w.about(severalOfPod)
		fill = w.claimsOfOnePod
	case 54:
		w.about(storageCapacity)
		w.capacities()
		fill = w.claimsOfCapacity
	default:
		return
	}
	for i := range w.s.gang.Groups {
		g := &w.s.gang.Groups[i]
		if w.one(2) {
			g.Count, g.Min = 1, 0
		}
		if i == 0 || !w.one(3) {
			fill(&g.Pod.Spec, g.Name)
		}
	}
}

// sized is a claim of a class for so many Gi.
func (w *writer) sized(name, class string, size int) *corev1.PersistentVolumeClaim {
	c := w.claim(name, class, pick(w, corev1.ReadWriteOnce, corev1.ReadWriteOnce, corev1.ReadWriteOnce, corev1.ReadWriteOncePod))
	c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(fmt.Sprintf("%dGi", size))}
	return c
}

// oneClass makes a class that waits for pods, and volumes of it, which nodes or zones reach.
func (w *writer) oneClass() {
	switch w.IntN(4) {
	case 0:
		w.class("disks", driver, pick(w, "z0", "z1"))
	default:
		w.class("disks", volumehelper.NotSupportedProvisioner)
	}
	for i := range 2 + w.IntN(2*len(w.s.clusterState.nodes)) {
		pv := &corev1.PersistentVolume{}
		pv.Name, pv.Spec.StorageClassName = fmt.Sprintf("disk-%02d", i), "disks"
		pv.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadWriteOncePod}
		pv.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(fmt.Sprintf("%dGi", 10*(1+w.IntN(3))))}
		pv.Spec.Local = &corev1.LocalVolumeSource{Path: "/mnt"}
		pv.Status.Phase = pick(w, corev1.VolumeAvailable, corev1.VolumeAvailable, corev1.VolumeAvailable, corev1.VolumeReleased)
		if w.one(8) {
			only(pv, zone, pick(w, "z0", "z1"))
		} else {
			only(pv, host, fmt.Sprintf("n%02d", w.IntN(len(w.s.clusterState.nodes))))
		}
		w.add(pv)
	}
}

func (w *writer) claimsOfOneClass(p *corev1.PodSpec, role string) {
	for i := range 1 + w.IntN(3) {
		name := fmt.Sprintf("disk-%s-%d", role, i)
		w.add(w.sized(name, "disks", 5*(1+w.IntN(6))))
		w.mounts(p, name)
	}
}

// claimsOfOnePod are of all sorts: bound at once and reached from a zone, waiting, and the pod's own.
func (w *writer) claimsOfOnePod(p *corev1.PodSpec, role string) {
	now := storagev1.VolumeBindingImmediate
	at := &storagev1.StorageClass{Provisioner: driver, VolumeBindingMode: &now}
	at.Name = "fast"
	w.add(at)
	for i := range 1 + w.IntN(2) {
		name := fmt.Sprintf("now-%s-%d", role, i)
		w.bound(name, corev1.ReadWriteMany, func(pv *corev1.PersistentVolume) {
			only(pv, pick(w, zone, zone, rack), pick(w, "z0", "z1", "r0"), pick(w, "z0", "z1", "r1"))
		})
		w.mounts(p, name)
	}
	for i := range 1 + w.IntN(2) {
		class := fmt.Sprintf("wait-%d", i)
		w.class(class, driver, []string{"z0", "z1"}[:w.IntN(3)]...)
		name := fmt.Sprintf("wait-%s-%d", role, i)
		w.add(w.sized(name, class, 10))
		w.mounts(p, name)
	}
	if w.one(2) {
		w.class("own", driver)
		pod := corev1.Pod{Spec: *p}
		scratch(&pod)
		*p = pod.Spec
	}
}

// capacities are those of a driver that says how much storage it has, on nodes or in zones.
func (w *writer) capacities() {
	yes := true
	d := &storagev1.CSIDriver{}
	d.Name, d.Spec.StorageCapacity, d.Spec.AttachRequired = driver, &yes, &yes
	w.add(d)
	w.class("room", driver)
	key := pick(w, host, host, host, zone, rack)
	var seen []string
	for _, n := range w.s.clusterState.nodes {
		value, ok := n.Labels[key]
		if !ok || slices.Contains(seen, value) || w.one(8) {
			continue
		}
		seen = append(seen, value)
		c := &storagev1.CSIStorageCapacity{StorageClassName: pick(w, "room", "room", "room", "room", "room", "other")}
		c.Namespace, c.Name = "csi", "capacity-"+value
		c.NodeTopology = &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
		if w.one(6) {
			c.NodeTopology = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{value}}}}
		}
		if w.one(12) {
			c.NodeTopology = nil
		}
		c.Capacity = gigabytes(pick(w, 0, 5, 10, 20, 100, 1000, 4000))
		if w.one(4) {
			c.MaximumVolumeSize = gigabytes(pick(w, 5, 10, 50))
		}
		if w.one(16) { // with a maximum beside it the scheduler's scoring ends in a nil pointer
			c.Capacity, c.MaximumVolumeSize = nil, nil
		}
		w.add(c)
	}
}

func gigabytes(n int) *resource.Quantity {
	q := resource.MustParse(fmt.Sprintf("%dGi", n))
	return &q
}

func (w *writer) claimsOfCapacity(p *corev1.PodSpec, role string) {
	if w.one(3) {
		class, size := "room", 5*(1+w.IntN(4))
		p.Volumes = append(p.Volumes, corev1.Volume{Name: "room", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
			Spec: corev1.PersistentVolumeClaimSpec{
				StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(fmt.Sprintf("%dGi", size))}},
			},
		}}}})
		return
	}
	for i := range 1 + w.IntN(2) {
		name := fmt.Sprintf("room-%s-%d", role, i)
		w.add(w.sized(name, "room", 5*(1+w.IntN(4))))
		w.mounts(p, name)
	}
}

func (w *writer) mounts(p *corev1.PodSpec, claim string) {
	pod := corev1.Pod{Spec: *p}
	mount(&pod, claim)
	*p = pod.Spec
}

// shrink takes a volume that is made out of what its driver says it has left where the node reaches, as
// the driver does once it has made it (https://kubernetes.io/docs/concepts/storage/storage-capacity/).
func (o *oracle) shrink(class *storagev1.StorageClass, size resource.Quantity, node *corev1.Node) {
	for _, obj := range o.library.book(&storagev1.CSIStorageCapacity{}).index.List() {
		c := obj.(*storagev1.CSIStorageCapacity).DeepCopy()
		selector, err := metav1.LabelSelectorAsSelector(c.NodeTopology)
		if err != nil || c.NodeTopology == nil || c.Capacity == nil || c.StorageClassName != class.Name || !selector.Matches(labels.Set(node.Labels)) {
			continue
		}
		c.Capacity.Sub(size)
		if c.MaximumVolumeSize != nil && c.MaximumVolumeSize.Cmp(*c.Capacity) > 0 {
			c.MaximumVolumeSize = c.Capacity
		}
		o.set(c)
	}
}

// disks are in pods themselves, of those that run too.
func (w *writer) disks() {
	disk := func() corev1.VolumeSource {
		return pick(w,
			corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "d", ReadOnly: w.one(2)}},
			corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "d", ReadOnly: w.one(2)}},
			corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: pick(w, []string{"a", "b"}, []string{"c"}), RBDPool: pick(w, "", "rbd"), RBDImage: "d", ReadOnly: w.one(2)}},
			corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{IQN: "iqn.2001-04.com.example:disk", TargetPortal: pick(w, "10.0.0.1", "10.0.0.2"), ReadOnly: w.one(2)}},
		)
	}
	for _, p := range w.s.pods {
		if w.one(3) {
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "rare-disk", VolumeSource: disk()})
			stored(p)
		}
	}
	w.eachRole(func(spec *corev1.PodSpec, _ string) {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "rare-disk", VolumeSource: disk()})
	})
}

// lackDrivers is a driver without which on the node no pod with a volume of it is to come there.
func (w *writer) lackDrivers() {
	const name = "strict.example.com"
	yes := true
	d := &storagev1.CSIDriver{}
	d.Name = name
	if !w.one(4) {
		d.Spec.PreventPodSchedulingIfMissing = &yes
	}
	w.add(d)
	for _, n := range w.s.nodes {
		if slices.ContainsFunc(w.s.objects, func(o runtime.Object) bool { c, is := o.(*storagev1.CSINode); return is && c.Name == n.Name }) || w.one(4) {
			continue
		}
		c := &storagev1.CSINode{}
		c.Name = n.Name
		c.Spec.Drivers = []storagev1.CSINodeDriver{{Name: pick(w, name, name, driver), NodeID: n.Name}}
		w.add(c)
	}
	w.class("strict", name)
	w.eachRole(func(spec *corev1.PodSpec, role string) {
		if w.one(2) {
			w.bound("strict-"+role, corev1.ReadWriteMany, func(pv *corev1.PersistentVolume) { pv.Spec.CSI.Driver = name })
			w.mounts(spec, "strict-"+role)
			return
		}
		w.add(w.claim("strict-"+role, "strict", corev1.ReadWriteMany))
		w.mounts(spec, "strict-"+role)
	})
}

// volumeTerms are reached from nodes by one of several terms, by names of nodes too.
func (w *writer) volumeTerms() {
	w.eachRole(func(spec *corev1.PodSpec, role string) {
		w.bound("terms-"+role, corev1.ReadWriteMany, func(pv *corev1.PersistentVolume) {
			required := &corev1.NodeSelector{}
			for range 1 + w.IntN(3) {
				var t corev1.NodeSelectorTerm
				for range w.IntN(3) {
					t.MatchExpressions = append(t.MatchExpressions, corev1.NodeSelectorRequirement{Key: pick(w, zone, rack, "pool"), Operator: pick(w, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), Values: []string{pick(w, "z0", "r0", "a"), pick(w, "z1", "r1", "b")}})
				}
				if w.one(4) {
					t.MatchFields = []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{pick(w, "n00", "n01")}}}
				}
				required.NodeSelectorTerms = append(required.NodeSelectorTerms, t)
			}
			pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: required}
		})
		w.mounts(spec, "terms-"+role)
	})
}
