package main

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	volumehelper "k8s.io/component-helpers/storage/volume"

	"github.com/signalbox-dev/signalbox/test/build"
)

// feature writes one predicate into the pod of a role.
type feature func(w *writer, p *corev1.Pod, role string, roles []string)

// features of one scenario: mostly one or two at once, sometimes none.
func (w *writer) features() []feature {
	all := []feature{
		selector, selector, nodeAffinity, nodeAffinity, matchFields, tolerations, tolerations, hostPorts, overhead, initContainers, sidecars,
		podLevel, extended, ephemeralStorage, nodeName,
		apartOnNodes, apartOnNodes, apartWide, apartWide, nearSelf, nearSelf, nearOther, nearRunning,
		spread, spread, spread, spread, spreadTwice, spreadPolicies,
		zonedVolume, pinnedVolume, oncePod, onceNode, waitingClaim, ownVolumes, attachLimits, missingClaim, diskInPod,
	}
	var out []feature
	for range pick(w, 0, 1, 1, 1, 2, 2, 3) {
		out = append(out, all[w.IntN(len(all))])
	}
	return out
}

func selector(w *writer, p *corev1.Pod, _ string, _ []string) {
	w.about("node selector")
	p.Spec.NodeSelector = map[string]string{"pool": pick(w, "a", "b")}
}

func nodeAffinity(w *writer, p *corev1.Pod, _ string, _ []string) {
	w.about("node affinity")
	e := corev1.NodeSelectorRequirement{Key: pick(w, "pool", zone, "generation", rack), Operator: pick(w, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt)}
	switch e.Operator {
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		e.Key, e.Values = "generation", []string{"4"}
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		e.Values = map[string][]string{"pool": {"a", "b"}, zone: {"z0"}, "generation": {"1"}, rack: {"r0", "r1"}}[e.Key]
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist: // the key says it all
	}
	terms := []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{e}}}
	if w.one(4) {
		terms = append(terms, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "pool", Operator: corev1.NodeSelectorOpIn, Values: []string{"c"}}}})
	}
	require(p, terms...)
}

func matchFields(w *writer, p *corev1.Pod, _ string, _ []string) {
	w.about("match fields")
	op := pick(w, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn)
	require(p, corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: op, Values: []string{pick(w, "n00", "n01")}}}})
}

func require(p *corev1.Pod, terms ...corev1.NodeSelectorTerm) {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	p.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}
}

func nodeName(w *writer, p *corev1.Pod, _ string, _ []string) {
	if w.one(3) {
		w.about("node name")
		p.Spec.NodeSelector = map[string]string{host: "n00"}
	}
}

func tolerations(w *writer, p *corev1.Pod, _ string, _ []string) {
	w.about("taints")
	p.Spec.Tolerations = append(p.Spec.Tolerations, pick(w,
		corev1.Toleration{Key: "gpu", Operator: corev1.TolerationOpExists},
		corev1.Toleration{Key: "gpu", Operator: corev1.TolerationOpEqual, Value: "a", Effect: corev1.TaintEffectNoSchedule},
		corev1.Toleration{Key: "gpu", Value: "b", Effect: corev1.TaintEffectNoExecute},
		corev1.Toleration{Key: "node.kubernetes.io/unschedulable", Operator: corev1.TolerationOpExists},
		corev1.Toleration{Operator: corev1.TolerationOpExists},
		corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
	))
}

func hostPorts(w *writer, p *corev1.Pod, _ string, _ []string) {
	w.about("host ports")
	build.HostPort(int32(pick(w, 2222, 29500)))(p)
	p.Spec.Containers[0].Ports[0].HostIP = pick(w, "", "0.0.0.0", "10.0.0.1", "10.0.0.2")
	p.Spec.Containers[0].Ports[0].Protocol = pick(w, "", corev1.ProtocolTCP, corev1.ProtocolUDP)
	if p.Spec.Containers[0].Ports[0].Protocol == "" {
		p.Spec.Containers[0].Ports[0].Protocol = corev1.ProtocolTCP // as the API server stores it
	}
}

func overhead(w *writer, p *corev1.Pod, _ string, _ []string) {
	w.about("overhead")
	p.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("1Gi")}
}

func initContainers(w *writer, p *corev1.Pod, _ string, _ []string) {
	w.about("init containers")
	p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: "init", Resources: asks("cpu", fmt.Sprint(1+w.IntN(12)))})
}

func sidecars(w *writer, p *corev1.Pod, _ string, _ []string) {
	w.about("sidecars")
	always := corev1.ContainerRestartPolicyAlways
	p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: "side", RestartPolicy: &always, Resources: asks("cpu", fmt.Sprint(1+w.IntN(4)))})
}

func asks(name corev1.ResourceName, amount string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{name: resource.MustParse(amount)}}
}

func podLevel(w *writer, p *corev1.Pod, _ string, _ []string) {
	w.about("pod-level resources")
	r := asks(corev1.ResourceCPU, fmt.Sprint(4+w.IntN(12)))
	if w.one(3) { // then the request is what the containers ask for, and the limit where none does
		r.Limits, r.Requests = r.Requests, nil
	}
	p.Spec.Resources = &r
}

func extended(w *writer, p *corev1.Pod, _ string, _ []string) {
	w.about("extended resources")
	delete(p.Spec.Containers[0].Resources.Requests, build.GPU)
	delete(p.Spec.Containers[0].Resources.Limits, build.GPU)
	build.Requests(pick(w, "nvidia.com/mig-1g.10gb=1", "nvidia.com/mig-1g.10gb=3", "nvidia.com/gpu.shared=1"))(p)
}

func ephemeralStorage(w *writer, p *corev1.Pod, _ string, _ []string) {
	w.about("ephemeral storage")
	build.Requests(fmt.Sprintf("ephemeral-storage=%dGi", 10*(1+w.IntN(6))))(p)
}

// whom the terms of a role are about: all pods of the job, or those of a role.
func whom(w *writer, role string) map[string]string {
	if w.one(4) {
		w.about("labels of the operator")
		return pick(w, map[string]string{jobMark: "train"}, map[string]string{roleMark: role}, map[string]string{roleMark: "master"}, map[string]string{jobMark: "other"})
	}
	if w.one(2) {
		return map[string]string{"app": "train"}
	}
	return map[string]string{"role": role}
}

func apart(w *writer, p *corev1.Pod, key string, match map[string]string) {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	t := w.term(key, match)
	if w.one(30) {
		w.about("labels of the operator")
		t.LabelSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{pick(w,
			metav1.LabelSelectorRequirement{Key: indexMark, Operator: metav1.LabelSelectorOpExists},
			metav1.LabelSelectorRequirement{Key: indexMark, Operator: metav1.LabelSelectorOpDoesNotExist},
			metav1.LabelSelectorRequirement{Key: indexMark, Operator: metav1.LabelSelectorOpIn, Values: []string{"0"}},
			metav1.LabelSelectorRequirement{Key: firstMark, Operator: metav1.LabelSelectorOpExists},
		)}}
	}
	if w.one(10) {
		w.about("match label keys")
		t.MatchLabelKeys = unselected(t.LabelSelector, pick(w, "role", roleMark))
	} else if w.one(10) {
		w.about("match label keys")
		t.MismatchLabelKeys = []string{"role"}
	}
	p.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{t}}
}

func apartOnNodes(w *writer, p *corev1.Pod, role string, _ []string) {
	w.about("anti-affinity over nodes")
	apart(w, p, host, whom(w, role))
}

func apartWide(w *writer, p *corev1.Pod, role string, _ []string) {
	w.about("anti-affinity over zones")
	apart(w, p, pick(w, zone, rack), whom(w, role))
}

func near(w *writer, p *corev1.Pod, terms ...corev1.PodAffinityTerm) {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	p.Spec.Affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}
}

func nearSelf(w *writer, p *corev1.Pod, role string, _ []string) {
	w.about("affinity to itself")
	terms := []corev1.PodAffinityTerm{w.term(pick(w, zone, rack, host), whom(w, role))}
	if w.one(6) {
		terms = append(terms, w.term(pick(w, zone, rack), map[string]string{"app": "train"}))
	}
	near(w, p, terms...)
}

func nearOther(w *writer, p *corev1.Pod, role string, roles []string) {
	w.about("affinity to another role")
	to := roles[w.IntN(len(roles))]
	if role == to && len(roles) > 1 && w.one(2) {
		return
	}
	near(w, p, w.term(pick(w, zone, rack, host), map[string]string{"role": to}))
}

func nearRunning(w *writer, p *corev1.Pod, _ string, _ []string) {
	w.about("affinity to running pods")
	near(w, p, w.term(pick(w, zone, rack, host), map[string]string{"app": pick(w, "cache", "web")}))
}

func spreadOver(w *writer, key string, match map[string]string) corev1.TopologySpreadConstraint {
	c := corev1.TopologySpreadConstraint{MaxSkew: int32(pick(w, 1, 1, 2, 3)), TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: match}}
	if w.one(6) {
		w.about("min domains")
		n := int32(1 + w.IntN(4))
		c.MinDomains = &n
	}
	if w.one(10) {
		w.about("match label keys")
		c.MatchLabelKeys = unselected(c.LabelSelector, pick(w, "role", roleMark))
	}
	if w.one(16) {
		if c.LabelSelector = pick(w, nil, &metav1.LabelSelector{}); c.LabelSelector == nil {
			c.MatchLabelKeys = nil
		}
	}
	return c
}

func spread(w *writer, p *corev1.Pod, role string, _ []string) {
	w.about("spread")
	p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spreadOver(w, pick(w, zone, zone, rack, host), whom(w, role))}
}

func spreadTwice(w *writer, p *corev1.Pod, role string, _ []string) {
	w.about("spread over two topologies")
	match := whom(w, role)
	p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spreadOver(w, zone, match), spreadOver(w, pick(w, host, rack), match)}
}

func spreadPolicies(w *writer, p *corev1.Pod, role string, _ []string) {
	w.about("spread with node policies")
	c := spreadOver(w, pick(w, zone, rack, host), whom(w, role))
	c.NodeAffinityPolicy, c.NodeTaintsPolicy = inclusion(w), inclusion(w)
	p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{c}
	if w.one(2) {
		p.Spec.NodeSelector = map[string]string{"pool": pick(w, "a", "b")}
	}
}

func inclusion(w *writer) *corev1.NodeInclusionPolicy {
	p := pick(w, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
	return &p
}

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

// unselected is a key whose values are the pod's own, unless a selector has it already, which the API server refuses.
func unselected(s *metav1.LabelSelector, key string) []string {
	if s == nil {
		return nil
	}
	_, selected := s.MatchLabels[key]
	if selected || slices.ContainsFunc(s.MatchExpressions, func(e metav1.LabelSelectorRequirement) bool { return e.Key == key }) {
		return nil
	}
	return []string{key}
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
