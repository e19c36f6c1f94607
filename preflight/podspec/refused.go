package podspec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Refusal is what the API server refuses pods for: where it stands below the spec, and what is wrong with it.
type Refusal struct {
	At   job.Path
	Text string
	Gate string // of the API server, that is off by default and lets it through where it is on; empty: nothing does
}

// Refusals are what the API server refuses pods for, of what decides where they go and what they take there
// (https://github.com/kubernetes/kubernetes/blob/v1.37.1/pkg/apis/core/validation/validation.go, ValidatePodCreate).
func Refusals(pod *job.Pod) []Refusal {
	spec := &pod.Spec
	var r refusals
	r.tolerations(spec)
	r.affinity(pod)
	r.spread(pod)
	r.hugePages(spec)
	r.podLevel(spec)
	r.hostPorts(spec)
	r.ownClaims(spec)
	if spec.NodeName != "" && len(spec.SchedulingGates) > 0 { // a pod that waits for gates has no node yet
		r.add("nodeName", "the pod names its node and has scheduling gates")
	}
	return r
}

type refusals []Refusal

func (r *refusals) add(at job.Path, format string, args ...any) {
	*r = append(*r, Refusal{At: at, Text: fmt.Sprintf(format, args...)})
}

var (
	tolerationOperators = []corev1.TolerationOperator{"", corev1.TolerationOpEqual, corev1.TolerationOpExists, corev1.TolerationOpGt, corev1.TolerationOpLt}
	taintEffects        = []corev1.TaintEffect{"", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
)

// comparisonGate is alpha, and off, from 1.35 to 1.37 (k8s.io/kubernetes v1.37.1 pkg/features/kube_features.go).
const comparisonGate = "TaintTolerationComparisonOperators"

// tolerations: a value goes with Equal, seconds go with NoExecute.
func (r *refusals) tolerations(spec *corev1.PodSpec) {
	for k, t := range spec.Tolerations {
		at := job.Path("tolerations").Index(k)
		switch {
		case !slices.Contains(tolerationOperators, t.Operator):
			r.add(at, "a toleration of %s has operator %q; it takes Equal, Exists, Gt or Lt", t.Key, t.Operator)
		case t.Operator == corev1.TolerationOpExists && t.Value != "":
			r.add(at, "a toleration of %s has operator Exists and the value %q, and takes only one of the two", t.Key, t.Value)
		case t.Key == "" && t.Operator != corev1.TolerationOpExists:
			r.add(at, "a toleration has no key and operator %q; without a key it must be Exists", t.Operator)
		case t.Key != "" && len(validation.IsQualifiedName(t.Key)) > 0:
			r.add(at, "a toleration has the key %q, which no taint has: it takes letters, digits, dashes, dots and _, and a domain before a slash", t.Key)
		case len(validation.IsValidLabelValue(t.Value)) > 0:
			r.add(at, "a toleration of %s has the value %q, which no taint has: it takes at most 63 letters, digits, dashes, dots and _", t.Key, t.Value)
		case t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute:
			r.add(at, "a toleration of %s has tolerationSeconds %d and effect %q; seconds go with NoExecute only", t.Key, *t.TolerationSeconds, t.Effect)
		case !slices.Contains(taintEffects, t.Effect):
			r.add(at, "a toleration of %s has effect %q; it takes NoSchedule, PreferNoSchedule or NoExecute", t.Key, t.Effect)
		case (t.Operator == corev1.TolerationOpGt || t.Operator == corev1.TolerationOpLt) && !isInteger(t.Value):
			r.add(at, "a toleration of %s has operator %s and the value %q; it takes a whole number", t.Key, t.Operator, t.Value)
		case t.Operator == corev1.TolerationOpGt || t.Operator == corev1.TolerationOpLt:
			*r = append(*r, Refusal{at, fmt.Sprintf("a toleration of %s has operator %s", t.Key, t.Operator), comparisonGate})
		}
	}
}

func isInteger(text string) bool {
	_, err := strconv.ParseInt(text, 10, 64)
	return err == nil
}

// hugePages: large pages without what they are beside, and parts of a page (validateResourceRequirements).
func (r *refusals) hugePages(spec *corev1.PodSpec) {
	each := func(field job.Path, containers []corev1.Container) {
		for i := range containers {
			if hugePagesAlone(&containers[i].Resources) {
				r.add(field.Index(i).Child("resources"), "container %s asks for hugepages without cpu or memory", containers[i].Name)
			}
			r.partsOfPages(field.Index(i), &containers[i])
		}
	}
	each("initContainers", spec.InitContainers)
	each("containers", spec.Containers)
}

// partsOfPages: an amount of pages of one size is a multiple of it (pkg/apis/core/helper, IsHugePageResourceValueDivisible).
func (r *refusals) partsOfPages(at job.Path, c *corev1.Container) {
	for _, field := range []string{"limits", "requests"} {
		list := map[string]corev1.ResourceList{"limits": c.Resources.Limits, "requests": c.Resources.Requests}[field]
		for _, name := range slices.Sorted(maps.Keys(list)) {
			text, huge := strings.CutPrefix(string(name), corev1.ResourceHugePagesPrefix)
			size, err := resource.ParseQuantity(text)
			if amount := list[name]; huge && err == nil && size.Value() > 0 && amount.Value()%size.Value() != 0 {
				r.add(at.Child("resources", field).Key(string(name)), "container %s asks for %s %s, which is no multiple of %s", c.Name, amount.String(), name, text)
				break
			}
		}
	}
}

func hugePagesAlone(amounts *corev1.ResourceRequirements) bool {
	huge, plain := false, false
	for _, list := range []corev1.ResourceList{amounts.Limits, amounts.Requests} {
		for name := range list {
			huge = huge || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
			plain = plain || name == corev1.ResourceCPU || name == corev1.ResourceMemory
		}
	}
	return huge && !plain
}

// podLevel: what is asked for the whole pod holds what its containers ask for (validatePodResourceConsistency). Beside huge
// pages it takes two resources (pkg/apis/core/helper, SupportedPodLevelResources).
func (r *refusals) podLevel(spec *corev1.PodSpec) {
	whole := spec.Resources
	if whole == nil {
		return
	}
	at := job.Path("resources")
	if hugePagesAlone(whole) {
		r.add(at, "the pod asks for hugepages without cpu or memory")
	}
	each := func(field string, list corev1.ResourceList) {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			if name != corev1.ResourceCPU && name != corev1.ResourceMemory && !strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
				r.add(at.Child(field).Key(string(name)), "the pod as a whole asks for %s, which only containers may", name)
			}
		}
	}
	each("limits", whole.Limits)
	each("requests", whole.Requests)
	alone := *spec
	alone.Resources, alone.Overhead = nil, nil
	sum, asked := Effective(&alone), job.ResourcesOf(whole.Requests)
	for _, name := range asked.Names() {
		if sum[name] > asked[name] {
			r.add(at.Child("requests").Key(string(name)), "the pod requests %s %s, less than its containers together", whole.Requests.Name(name, resource.DecimalSI), name)
		}
	}
	for i := range spec.Containers {
		c := &spec.Containers[i]
		for _, name := range slices.Sorted(maps.Keys(c.Resources.Limits)) {
			own := c.Resources.Limits[name]
			if most, limited := whole.Limits[name]; limited && own.Cmp(most) > 0 {
				r.add(job.Path("containers").Index(i).Child("resources", "limits").Key(string(name)),
					"container %s has a limit of %s %s, and the pod one of %s", c.Name, own.String(), name, most.String())
			}
		}
	}
}

// hostPorts: a port of the node is one container's (checkHostPortConflicts). On the host's network each port is one.
func (r *refusals) hostPorts(spec *corev1.PodSpec) {
	type hostPort struct {
		HostPort
		ip string
	}
	var seen []hostPort
	for i := range spec.Containers {
		for k, p := range spec.Containers[i].Ports {
			at := hostPort{HostPort{Protocol: cmp.Or(p.Protocol, corev1.ProtocolTCP), Port: p.HostPort}, p.HostIP}
			if at.Port == 0 && spec.HostNetwork {
				at.Port = p.ContainerPort
			}
			if at.Port > 0 && slices.Contains(seen, at) {
				r.add(job.Path("containers").Index(i).Child("ports").Index(k), "the pod takes the host port %d twice", at.Port)
			}
			seen = append(seen, at)
		}
	}
}

var accessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOncePod}

// ownClaims: a claim that is made for the pod says how it is mounted and how large it is (ValidatePersistentVolumeClaimSpec).
func (r *refusals) ownClaims(spec *corev1.PodSpec) {
	for i := range spec.Volumes {
		v := &spec.Volumes[i]
		if v.Ephemeral == nil || v.Ephemeral.VolumeClaimTemplate == nil {
			continue
		}
		at, claim := job.Path("volumes").Index(i).Child("ephemeral", "volumeClaimTemplate"), &v.Ephemeral.VolumeClaimTemplate.Spec
		unknown := slices.IndexFunc(claim.AccessModes, func(m corev1.PersistentVolumeAccessMode) bool { return !slices.Contains(accessModes, m) })
		switch {
		case len(claim.AccessModes) == 0:
			r.add(at, "the claim of volume %s has no accessModes, and needs one such as ReadWriteOnce", v.Name)
		case unknown >= 0:
			r.add(at, "the claim of volume %s has access mode %q; it takes ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod", v.Name, claim.AccessModes[unknown])
		case slices.Contains(claim.AccessModes, corev1.ReadWriteOncePod) && slices.ContainsFunc(claim.AccessModes, func(m corev1.PersistentVolumeAccessMode) bool { return m != corev1.ReadWriteOncePod }):
			r.add(at, "the claim of volume %s has access mode ReadWriteOncePod and others, which it excludes", v.Name)
		}
		if size := claim.Resources.Requests[corev1.ResourceStorage]; size.Sign() <= 0 {
			r.add(at, "the claim of volume %s asks for no storage: resources.requests.storage is missing or not above 0", v.Name)
		}
		r.selector(at, claim.Selector)
	}
}
