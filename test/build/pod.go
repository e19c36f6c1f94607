package build

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// PodOption changes a pod.
type PodOption func(*corev1.Pod)

// Pod is a pending pod of one container in namespace default; On makes it run.
func Pod(name string, options ...PodOption) *corev1.Pod {
	p := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-" + name)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.example/main:1"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodPending},
	}
	for _, o := range options {
		o(p)
	}
	return p
}

// In puts a pod into a namespace.
func In(namespace string) PodOption { return func(p *corev1.Pod) { p.Namespace = namespace } }

// On makes a pod run on a node.
func On(node string) PodOption {
	return func(p *corev1.Pod) { p.Spec.NodeName, p.Status.Phase = node, corev1.PodRunning }
}

// Phase sets the phase of a pod.
func Phase(phase corev1.PodPhase) PodOption { return func(p *corev1.Pod) { p.Status.Phase = phase } }

// Requests sets what the container asks for: "cpu=4", "nvidia.com/gpu=8". Extended
// resources are limits too, as the API server demands.
func Requests(amounts ...string) PodOption {
	return func(p *corev1.Pod) {
		c := &p.Spec.Containers[0]
		for _, a := range amounts {
			name, amount, ok := strings.Cut(a, "=")
			if !ok {
				panic("build: a request is resource=amount, not " + a)
			}
			q := resource.MustParse(amount)
			set(&c.Resources.Requests, corev1.ResourceName(name), q)
			if strings.Contains(name, "/") {
				set(&c.Resources.Limits, corev1.ResourceName(name), q)
			}
		}
	}
}

// Asks is Requests for a number of GPUs.
func Asks(gpus string) PodOption { return Requests(string(GPU) + "=" + gpus) }

// PodLabel sets a label of a pod.
func PodLabel(key, value string) PodOption {
	return func(p *corev1.Pod) { metav1.SetMetaDataLabel(&p.ObjectMeta, key, value) }
}

// OwnedBy makes an object the controller of a pod.
func OwnedBy(kind, name string) PodOption {
	return func(p *corev1.Pod) {
		yes := true
		p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: kind, Name: name, UID: types.UID("uid-" + name), Controller: &yes})
	}
}

// HostPort makes the container take a TCP port of its node.
func HostPort(port int32) PodOption {
	return func(p *corev1.Pod) {
		c := &p.Spec.Containers[0]
		c.Ports = append(c.Ports, corev1.ContainerPort{ContainerPort: port, HostPort: port})
	}
}

// Spec changes anything else of a pod.
func Spec(change func(*corev1.PodSpec)) PodOption { return func(p *corev1.Pod) { change(&p.Spec) } }

func set(list *corev1.ResourceList, name corev1.ResourceName, q resource.Quantity) {
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[name] = q
}
