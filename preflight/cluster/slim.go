package cluster

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// LeanPod is a pod that counts as p does in every view, PodOf(LeanPod(p)) being PodOf(p),
// and holds hardly anything else: no commands, environments, images, other annotations, nothing
// of its status. What its containers ask for is one container's.
func LeanPod(p *corev1.Pod) *corev1.Pod {
	out := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: p.Namespace, Name: p.Name, Labels: p.Labels, DeletionTimestamp: p.DeletionTimestamp,
	}}
	for key, value := range p.Annotations {
		if key == mirrorAnnotation || slices.Contains(placeAnnotations, key) {
			metav1.SetMetaDataAnnotation(&out.ObjectMeta, key, value)
		}
	}
	if o := metav1.GetControllerOfNoCopy(p); o != nil {
		out.OwnerReferences = []metav1.OwnerReference{{APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: o.UID, Controller: o.Controller}}
	}
	s := &p.Spec
	out.Spec = corev1.PodSpec{
		NodeName: s.NodeName, ResourceClaims: s.ResourceClaims, SchedulingGates: s.SchedulingGates,
		Priority:   s.Priority,
		Containers: []corev1.Container{{Name: "all", Resources: corev1.ResourceRequirements{Requests: occupiedBy(p)}, Ports: portsOf(s)}},
	}
	if s.Priority == nil {
		out.Spec.PriorityClassName = s.PriorityClassName
	}
	if terms := podspec.AntiAffinity(s); len(terms) > 0 {
		out.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
	}
	for i := range s.Volumes {
		if len(podspec.Disks(&s.Volumes[i])) > 0 {
			out.Spec.Volumes = append(out.Spec.Volumes, s.Volumes[i])
		}
	}
	for i, claim := range podspec.ClaimNames(p) {
		v := corev1.Volume{Name: strconv.Itoa(i)}
		v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}
		out.Spec.Volumes = append(out.Spec.Volumes, v)
	}
	if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
		out.Status.Phase = p.Status.Phase
	}
	out.Status.NominatedNodeName = p.Status.NominatedNodeName
	return out
}

// placeAnnotations say which pod of its job it is: of an indexed Job
// (https://kubernetes.io/docs/reference/labels-annotations-taints/#batch-kubernetes-io-job-completion-index), of a
// LeaderWorkerSet (sigs.k8s.io/lws v0.7.0 api/leaderworkerset/v1/leaderworkerset_types.go), of a Volcano Job
// (volcano.sh/apis v1.12.0 pkg/apis/batch/v1alpha1/labels.go). They are those of kinds.PodAnnotations.
var placeAnnotations = []string{
	"batch.kubernetes.io/job-completion-index", "leaderworkerset.sigs.k8s.io/size", "volcano.sh/task-spec", "volcano.sh/task-index",
}

// occupiedBy is Occupied as quantities.
func occupiedBy(p *corev1.Pod) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, n := range podspec.Occupied(p) {
		switch {
		case n <= 0:
		case name == corev1.ResourceCPU:
			out[name] = *resource.NewMilliQuantity(n, resource.DecimalSI)
		case name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage:
			out[name] = *resource.NewQuantity(n, resource.BinarySI)
		default:
			out[name] = *resource.NewQuantity(n, resource.DecimalSI)
		}
	}
	return out
}

// portsOf are the ports of the node that a pod takes, as one container's.
func portsOf(s *corev1.PodSpec) []corev1.ContainerPort {
	var out []corev1.ContainerPort
	for _, p := range podspec.HostPorts(s) {
		port := corev1.ContainerPort{ContainerPort: p.Port, HostPort: p.Port}
		if p.Protocol != corev1.ProtocolTCP {
			port.Protocol = p.Protocol
		}
		if p.IP != "0.0.0.0" {
			port.HostIP = p.IP
		}
		out = append(out, port)
	}
	return out
}

// Decode turns an object of the API into its Go type. The error names the object and,
// where a quantity stands in the way, its field.
func Decode(o *unstructured.Unstructured, into any) error {
	if !mayTakeLong(o.Object) && runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, into) == nil {
		return nil
	}
	return decode(o, into)
}

// mayTakeLong says that some text in an object might be an amount that takes minutes to read:
// a reader has to look first which fields are amounts.
func mayTakeLong(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if mayTakeLong(e) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, mayTakeLong)
	case string:
		return monstrous(v)
	}
	return false
}

// monstrous says that reading a text as an amount might take minutes: it has very many
// digits, or an exponent above those of amounts. Most texts that begin with a digit are UIDs.
func monstrous(text string) bool {
	suffix := strings.TrimLeft(strings.TrimLeft(text, "+-"), ".0123456789")
	number := len(text) - len(suffix)
	if number > mostDigits || number == 0 || suffix == "" || suffix[0] != 'e' && suffix[0] != 'E' {
		return number > mostDigits
	}
	exponent := strings.TrimLeft(strings.TrimLeft(suffix[1:], "+-"), "0")
	n, err := strconv.Atoi(exponent)
	return strings.Trim(exponent, "0123456789") == "" && (len(exponent) > 2 || err == nil && n > mostExponent)
}

// PodName is what tells pods apart that take the same.
type PodName struct {
	Namespace, Name string
	Node            string // empty: it waits for a place
	Owner           string // the name of its controller; empty: as the other's
	Labels          map[string]string
}

// Plain says that nothing of what the pod takes goes by its name, its namespace or its
// node, as claims and anti-affinity do.
func (p *Pod) Plain() bool { return len(p.claims)+len(p.disks)+len(p.apart) == 0 }

// As is a pod that takes the same as p, which must be Plain, by another name.
func (p *Pod) As(n PodName) *Pod {
	owner := p.Owner()
	if n.Owner != "" {
		owner.Name = n.Owner
	}
	out := newPod(n.Namespace, owner, n.Labels)
	out.podMore, out.requests, out.name, out.node = p.podMore, p.requests, n.Name, n.Node
	out.priority, out.resident, out.deleted, out.ended = p.priority, p.resident, p.deleted, p.ended
	return out
}
