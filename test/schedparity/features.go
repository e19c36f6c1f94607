package main

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
