package main

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/nodedeclaredfeatures/features/restartallcontainers"

	"github.com/signalbox-dev/signalbox/test/build"
)

// rareEvery is how often a scenario has what few clusters and few jobs have.
const rareEvery = 5

// isRare says that the scenario of a seed is one of those.
func isRare(seed uint64) bool { return seed%rareEvery == 2 }

// rarity is what few clusters or jobs have, and what is done to a scenario to have it.
type rarity struct {
	name string
	make func(w *writer)
}

// rarities are drawn by seeds, so that the scenarios of the other seeds stay what they are.
func rarities() []rarity {
	return []rarity{
		{"nodes that offer less than is used", (*writer).shrinkNodes},
		{"host names that are not the nodes'", (*writer).nameHosts},
		{"nodes in odd states", (*writer).oddNodes},
		{"features that nodes declare", (*writer).declareFeatures},
		{"pods that are resized", (*writer).resize},
		{"ports of running pods", (*writer).portsOfOthers},
		{"containers of all sorts", (*writer).containers},
		{"amounts of nothing", (*writer).nothing},
		{"several terms of anti-affinity", (*writer).severalTerms},
		{"expressions in node affinity", (*writer).expressions},
		{"spread of all sorts", (*writer).spreads},
		{"runtime classes", (*writer).runtimeClasses},
		{"disks of all sorts", (*writer).disks},
		{"drivers that nodes lack", (*writer).lackDrivers},
		{"volumes of several terms", (*writer).volumeTerms},
		{"pods on nodes that are gone", (*writer).lostPods},
		{"terms of running pods", (*writer).termsOfOthers},
		{"room that others make", (*writer).nominate},
	}
}

// rare draws one or two of them.
func (w *writer) rare(seed uint64) {
	if !isRare(seed) {
		return
	}
	all := rarities()
	for _, at := range w.Perm(len(all))[:1+w.IntN(2)] {
		r := all[at]
		w.about(r.name)
		r.make(w)
	}
}

// eachRole changes the pods of the first role, and of most others.
func (w *writer) eachRole(change func(spec *corev1.PodSpec, role string)) {
	for i := range w.s.gang.Groups {
		if g := &w.s.gang.Groups[i]; i == 0 || !w.one(3) {
			change(&g.Pod.Spec, g.Name)
		}
	}
}

// shrinkNodes takes from nodes what is in use there: a device has failed, or the kubelet keeps more to itself.
func (w *writer) shrinkNodes() {
	for _, n := range w.s.nodes {
		has := n.Status.Allocatable
		switch w.IntN(6) {
		case 0:
			has[build.GPU] = *resource.NewQuantity(int64(w.IntN(3)), resource.DecimalSI)
		case 1:
			has[corev1.ResourceCPU] = resource.MustParse(pick(w, "0", "1500m", "3"))
		case 2:
			has[corev1.ResourcePods] = resource.MustParse(pick(w, "0", "1", "2"))
		case 3:
			delete(has, pick(w, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, build.GPU, corev1.ResourcePods))
		}
	}
}

// nameHosts gives nodes host names that are not their own names, that they share, or none.
func (w *writer) nameHosts() {
	way := w.IntN(3)
	for i, n := range w.s.nodes { // a snapshot without any was written by hand: there nodes go by their names
		switch {
		case way == 0:
			n.Labels[host] = "host-" + n.Name
		case way == 1 && w.one(3):
			n.Labels[host] = fmt.Sprintf("n%02d", i/2)
		case way == 2 && i > 0 && w.one(3):
			delete(n.Labels, host)
		}
	}
}

// oddNodes are cordoned without a taint, tainted without being cordoned, unheard of, or on their way out.
func (w *writer) oddNodes() {
	for _, n := range w.s.nodes {
		switch w.IntN(8) {
		case 0:
			n.Spec.Unschedulable = true
		case 1:
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
		case 2:
			n.Status.Conditions[0].Status = corev1.ConditionUnknown
		case 3:
			n.Status.Conditions = append([]corev1.NodeCondition{{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue}}, n.Status.Conditions...)
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeDiskPressure, Effect: corev1.TaintEffectNoSchedule})
		case 4:
			now := metav1.Now()
			n.DeletionTimestamp, n.Finalizers = &now, []string{"x/y"}
		}
	}
}

// declareFeatures asks for a feature that nodes have to declare, as some do.
func (w *writer) declareFeatures() {
	for i, n := range w.s.nodes {
		if i == 0 || !w.one(3) {
			n.Status.DeclaredFeatures = []string{restartallcontainers.RestartAllContainersOnContainerExits}
		} else if w.one(2) {
			n.Status.DeclaredFeatures = []string{"SomethingElse"}
		}
	}
	w.eachRole(func(spec *corev1.PodSpec, _ string) {
		never := corev1.ContainerRestartPolicyNever
		c := &spec.Containers[0]
		c.RestartPolicy = &never
		c.RestartPolicyRules = []corev1.ContainerRestartRule{{
			Action:    corev1.ContainerRestartRuleActionRestartAllContainers,
			ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{42}},
		}}
	})
}

// resize lets running pods ask for other amounts than their nodes have granted, for the container or the pod.
func (w *writer) resize() {
	for _, p := range w.s.pods {
		c := &p.Spec.Containers[0]
		was := c.Resources.Requests.DeepCopy()
		now := corev1.ResourceList{}
		maps.Copy(now, was)
		now[corev1.ResourceCPU] = *resource.NewQuantity(int64(w.IntN(6)), resource.DecimalSI)
		status := corev1.ContainerStatus{Name: c.Name}
		switch w.IntN(6) {
		case 0:
			c.Resources.Requests = now
			status.AllocatedResources = was
		case 1:
			c.Resources.Requests = now
			status.AllocatedResources, status.Resources = now, &corev1.ResourceRequirements{Requests: was}
		case 2:
			c.Resources.Requests = now
			status.AllocatedResources = was
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonInfeasible})
		case 3:
			asked := asks(corev1.ResourceCPU, "6")
			granted := asks(corev1.ResourceCPU, fmt.Sprint(6+w.IntN(4)))
			p.Spec.Resources, p.Status.Resources = &asked, &granted
			p.Status.AllocatedResources = granted.Requests
		default:
			continue
		}
		if status.AllocatedResources != nil {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{status}
		}
	}
}

// portsOfOthers are ports of addresses and protocols, and of pods on the host's network.
func (w *writer) portsOfOthers() {
	port := func(hostNetwork bool) corev1.ContainerPort {
		p := corev1.ContainerPort{
			ContainerPort: pick(w, int32(2222), 29500), HostIP: pick(w, "", "0.0.0.0", "10.0.0.1", "10.0.0.2", "::"),
			Protocol: pick(w, corev1.ProtocolTCP, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP),
		}
		if p.HostPort = p.ContainerPort; hostNetwork && w.one(2) {
			p.HostPort = 0 // as the API server fills it in
		}
		return p
	}
	set := func(spec *corev1.PodSpec) {
		spec.HostNetwork = w.one(3)
		at := port(spec.HostNetwork)
		if w.one(3) {
			always := corev1.ContainerRestartPolicyAlways
			c := corev1.Container{Name: "ported", Ports: []corev1.ContainerPort{at}}
			if !w.one(3) {
				c.RestartPolicy = &always
			}
			spec.InitContainers = append(spec.InitContainers, c)
			return
		}
		spec.Containers[0].Ports = append(spec.Containers[0].Ports, at)
	}
	for _, p := range w.s.pods {
		if w.one(3) {
			set(&p.Spec)
			hostNetworkPorts(&p.Spec)
		}
	}
	w.eachRole(func(spec *corev1.PodSpec, _ string) { set(spec) })
}

// hostNetworkPorts fills in the ports of a pod on the host's network, as the API server does.
func hostNetworkPorts(spec *corev1.PodSpec) {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			for j := range list[i].Ports {
				if p := &list[i].Ports[j]; spec.HostNetwork && p.HostPort == 0 {
					p.HostPort = p.ContainerPort
				}
			}
		}
	}
}

// containers are several, some before the others, and ask for GPUs and memory, by limits alone too.
func (w *writer) containers() {
	w.eachRole(func(spec *corev1.PodSpec, _ string) {
		always := corev1.ContainerRestartPolicyAlways
		amounts := func() corev1.ResourceRequirements {
			list := corev1.ResourceList{
				corev1.ResourceCPU:    resource.MustParse(pick(w, "250m", "1", "3", "0.1")),
				corev1.ResourceMemory: resource.MustParse(pick(w, "1Gi", "500M", "1500000000m", "2e9")),
			}
			if w.one(3) {
				q := *resource.NewQuantity(int64(w.IntN(4)), resource.DecimalSI)
				return corev1.ResourceRequirements{Requests: corev1.ResourceList{build.GPU: q}, Limits: corev1.ResourceList{build.GPU: q, corev1.ResourceCPU: list[corev1.ResourceCPU]}}
			}
			if w.one(2) {
				return corev1.ResourceRequirements{Limits: list}
			}
			return corev1.ResourceRequirements{Requests: list}
		}
		for i := range w.IntN(4) {
			c := corev1.Container{Name: fmt.Sprintf("before-%d", i), Resources: amounts()}
			if w.one(2) {
				c.RestartPolicy = &always
			}
			spec.InitContainers = append(spec.InitContainers, c)
		}
		for i := range 1 + w.IntN(2) {
			spec.Containers = append(spec.Containers, corev1.Container{Name: fmt.Sprintf("beside-%d", i), Resources: amounts()})
		}
		if w.one(4) {
			r := corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("12")}}
			if w.one(2) {
				r.Requests = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("40Gi")}
				r.Limits[corev1.ResourceMemory] = resource.MustParse("48Gi")
			}
			spec.Resources = &r
		}
	})
}

// nothing asks for zero of something, of what no node has too, or for nothing at all.
func (w *writer) nothing() {
	w.eachRole(func(spec *corev1.PodSpec, _ string) {
		zero := resource.MustParse("0")
		r := &spec.Containers[0].Resources
		if w.one(3) {
			r.Requests, r.Limits = corev1.ResourceList{}, corev1.ResourceList{}
		}
		if r.Requests == nil {
			r.Requests = corev1.ResourceList{}
		}
		if r.Limits == nil {
			r.Limits = corev1.ResourceList{}
		}
		name := pick(w, build.GPU, "example.com/fpga", corev1.ResourceCPU, corev1.ResourceMemory, "hugepages-2Mi")
		r.Requests[name], r.Limits[name] = zero, zero
	})
	if w.one(2) {
		w.shrinkNodes()
	}
}

// selectorOf chooses pods by any operator, all pods, or none.
func (w *writer) selectorOf() *metav1.LabelSelector {
	e := metav1.LabelSelectorRequirement{Key: pick(w, "app", "role", "tier"), Operator: pick(w, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist)}
	if e.Operator == metav1.LabelSelectorOpIn || e.Operator == metav1.LabelSelectorOpNotIn {
		e.Values = pick(w, []string{"train"}, []string{"web", "cache"}, []string{"worker", "master"}, []string{"worker"})
	}
	return pick(w, nil, &metav1.LabelSelector{}, &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{e}}, &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{e}})
}

// oddTerm is over any topology, one that no node is in too.
func (w *writer) oddTerm() corev1.PodAffinityTerm {
	t := w.term(pick(w, host, zone, rack, "pool", "generation", "nowhere"), nil)
	t.LabelSelector = w.selectorOf()
	return t
}

// severalTerms keep pods apart in several ways, or near and apart at once.
func (w *writer) severalTerms() {
	w.eachRole(func(spec *corev1.PodSpec, _ string) {
		if spec.Affinity == nil {
			spec.Affinity = &corev1.Affinity{}
		}
		apart := &corev1.PodAntiAffinity{}
		for range 1 + w.IntN(3) {
			apart.RequiredDuringSchedulingIgnoredDuringExecution = append(apart.RequiredDuringSchedulingIgnoredDuringExecution, w.oddTerm())
		}
		spec.Affinity.PodAntiAffinity = apart
		if w.one(3) {
			near := &corev1.PodAffinity{}
			for range 1 + w.IntN(2) {
				near.RequiredDuringSchedulingIgnoredDuringExecution = append(near.RequiredDuringSchedulingIgnoredDuringExecution, w.oddTerm())
			}
			spec.Affinity.PodAffinity = near
		}
	})
}

// termsOfOthers are terms of pods that run, over any topology, by any selector.
func (w *writer) termsOfOthers() {
	for _, p := range w.s.pods {
		if !w.one(2) {
			continue
		}
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{w.oddTerm()}}}
		if w.one(3) { // nothing of these keeps others away
			p.Spec.Affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{w.oddTerm()}}
			p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spreadOver(w, zone, map[string]string{"app": "train"})}
		}
	}
}

// nominate lets pods wait for room that others make for them on a node.
func (w *writer) nominate() {
	for i := range 1 + w.IntN(3) {
		n := w.s.clusterState.nodes[w.IntN(len(w.s.clusterState.nodes))]
		p := build.Pod(fmt.Sprintf("next-%d", i), build.In(pick(w, home, other)), build.PodLabel("app", pick(w, "train", "web")), build.Requests(fmt.Sprintf("cpu=%d", w.IntN(6))))
		if w.one(2) {
			build.Asks(fmt.Sprint(1 + w.IntN(8)))(p)
		}
		p.Spec.Priority, p.Status.NominatedNodeName = new(int32(0)), n.Name
		w.s.pods = append(w.s.pods, p)
	}
}

// expressions are several of a term, beside fields, of labels that are no numbers, or a term of none.
func (w *writer) expressions() {
	w.eachRole(func(spec *corev1.PodSpec, _ string) {
		var terms []corev1.NodeSelectorTerm
		for range 1 + w.IntN(2) {
			var t corev1.NodeSelectorTerm
			for range w.IntN(3) {
				e := corev1.NodeSelectorRequirement{Key: pick(w, "pool", zone, "generation", rack, host, "nowhere"), Operator: pick(w, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt)}
				switch e.Operator {
				case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
					e.Values = []string{pick(w, "a", "z0", "1", "r0", "n00"), pick(w, "b", "z1", "5", "r1", "n01")}
				case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
					e.Values = []string{pick(w, "0", "4", "-3")}
				case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist: // the key says it all
				}
				t.MatchExpressions = append(t.MatchExpressions, e)
			}
			if w.one(3) {
				t.MatchFields = []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: pick(w, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), Values: []string{pick(w, "n00", "n01", "n02")}}}
			}
			terms = append(terms, t)
		}
		pod := corev1.Pod{Spec: *spec}
		require(&pod, terms...)
		*spec = pod.Spec
		if w.one(4) {
			spec.NodeSelector = map[string]string{pick(w, zone, "pool", "nowhere"): pick(w, "z0", "a")}
		}
	})
}

// spreads are several constraints, some of which need not hold, by any selector over any topology.
func (w *writer) spreads() {
	w.eachRole(func(spec *corev1.PodSpec, role string) {
		spec.TopologySpreadConstraints = nil
		keys := []string{zone, rack, host, "pool", "generation", "nowhere"}
		w.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		for i := range 1 + w.IntN(3) {
			c := spreadOver(w, keys[i], map[string]string{"role": role})
			if w.one(2) {
				c.LabelSelector = w.selectorOf()
			}
			if w.one(4) {
				c.WhenUnsatisfiable, c.MinDomains = corev1.ScheduleAnyway, nil
			}
			if w.one(3) {
				c.NodeAffinityPolicy, c.NodeTaintsPolicy = inclusion(w), inclusion(w)
			}
			if c.LabelSelector == nil {
				c.MatchLabelKeys = nil // as the API server has it
			} else if w.one(6) {
				c.MatchLabelKeys = []string{"nowhere"}
			}
			spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, c)
		}
	})
}

// runtimeClasses put overhead, a node selector and tolerations on pods when they are made.
func (w *writer) runtimeClasses() {
	class := &nodev1.RuntimeClass{Handler: "kata"}
	class.Name = "kata"
	if !w.one(3) {
		class.Overhead = &nodev1.Overhead{PodFixed: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("750m"), corev1.ResourceMemory: resource.MustParse("2Gi")}}
	}
	if !w.one(3) {
		class.Scheduling = &nodev1.Scheduling{Tolerations: []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists}}}
		if w.one(2) {
			class.Scheduling.NodeSelector = map[string]string{"pool": pick(w, "a", "b")}
		}
	}
	w.add(class)
	w.eachRole(func(spec *corev1.PodSpec, _ string) {
		if of := spec.NodeSelector["pool"]; of != "" && class.Scheduling != nil && class.Scheduling.NodeSelector["pool"] != of {
			return // the API server refuses the pod
		}
		spec.RuntimeClassName, spec.Overhead = &class.Name, nil
	})
}

// admitted is a pod with what its runtime class adds (k8s.io/kubernetes v1.37 plugin/pkg/admission/runtimeclass).
func (s *scenario) admitted(p *corev1.Pod) {
	if p.Spec.RuntimeClassName == nil {
		return
	}
	for _, o := range s.objects {
		class, ok := o.(*nodev1.RuntimeClass)
		if !ok || class.Name != *p.Spec.RuntimeClassName {
			continue
		}
		if class.Overhead != nil {
			p.Spec.Overhead = class.Overhead.PodFixed
		}
		if class.Scheduling == nil {
			continue
		}
		for key, value := range class.Scheduling.NodeSelector {
			if p.Spec.NodeSelector == nil {
				p.Spec.NodeSelector = map[string]string{}
			}
			p.Spec.NodeSelector[key] = value
		}
		p.Spec.Tolerations = append(p.Spec.Tolerations, class.Scheduling.Tolerations...)
	}
}

// lostPods are on nodes that are gone, and in namespaces of which nothing is known.
func (w *writer) lostPods() {
	for i := range 1 + w.IntN(3) {
		p := build.Pod(fmt.Sprintf("lost-%d", i), build.In(pick(w, home, other)), build.On("gone"), build.PodLabel("app", pick(w, "train", "web", "cache")), build.Requests("cpu=1"))
		if w.one(2) {
			p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{w.oddTerm()}}}
		}
		w.s.pods = append(w.s.pods, p)
	}
	for i := range w.IntN(3) { // pods that wait keep no other away
		p := build.Pod(fmt.Sprintf("waits-%d", i), build.In(home), build.PodLabel("app", "train"), build.Requests("cpu=1"))
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{w.oddTerm()}}}
		w.s.pods = append(w.s.pods, p)
	}
}
