// Package build makes nodes, pods and clusters for tests in one readable line each. It
// knows no cluster and no fixtures; start at Cluster.
package build

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
)

// GPU is the resource that GPUs and the GPU amounts of tests count.
const GPU corev1.ResourceName = "nvidia.com/gpu"

// Taken is when every cluster of this package was looked at.
var Taken = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Item is a part of a cluster: a *corev1.Node or a *corev1.Pod.
type Item interface{ metav1.Object }

// Cluster is a snapshot that holds all nodes and pods there are.
func Cluster(items ...Item) *cluster.Snapshot {
	var b cluster.Builder
	for _, item := range items {
		switch v := item.(type) {
		case *corev1.Node:
			b.Node(v)
		case *corev1.Pod:
			b.Pod(v)
		default:
			panic(fmt.Sprintf("build: a cluster is made of nodes and pods, not of %T", item))
		}
	}
	b.Complete(schema.GroupResource{Resource: "nodes"}, schema.GroupResource{Resource: "pods"})
	return b.Snapshot(Taken)
}

// NodeOption changes a node.
type NodeOption func(*corev1.Node)

// Node is a ready node with 96 CPUs, 1Ti of memory, room for 110 pods and no GPU.
func Node(name string, options ...NodeOption) *corev1.Node {
	n := &corev1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
	}
	n.Status.Allocatable = corev1.ResourceList{}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	for _, o := range append([]NodeOption{Allocatable("cpu", "96"), Allocatable("memory", "1Ti"), Allocatable("pods", "110")}, options...) {
		o(n)
	}
	n.Status.Capacity = n.Status.Allocatable.DeepCopy()
	return n
}

// Nodes are count equal nodes: name-1, name-2 ….
func Nodes(count int, name string, options ...NodeOption) []Item {
	out := make([]Item, count)
	for i := range out {
		out[i] = Node(fmt.Sprintf("%s-%d", name, i+1), options...)
	}
	return out
}

// GPUs is the number of GPUs a node offers.
func GPUs(n int) NodeOption {
	return func(node *corev1.Node) {
		node.Status.Allocatable[GPU] = *resource.NewQuantity(int64(n), resource.DecimalSI)
	}
}

// Allocatable sets one resource of a node; an empty amount takes it away.
func Allocatable(name corev1.ResourceName, amount string) NodeOption {
	return func(node *corev1.Node) {
		if amount == "" {
			delete(node.Status.Allocatable, name)
			return
		}
		node.Status.Allocatable[name] = resource.MustParse(amount)
	}
}

// Taint adds a taint as kubectl writes it: key=value:Effect or key:Effect.
func Taint(text string) NodeOption {
	head, effect, ok := strings.Cut(text, ":")
	key, value, _ := strings.Cut(head, "=")
	if !ok {
		panic("build: a taint is key=value:Effect, not " + text)
	}
	return func(node *corev1.Node) {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)})
	}
}

// Label sets a label of a node.
func Label(key, value string) NodeOption {
	return func(node *corev1.Node) { node.Labels[key] = value }
}

// Cordoned marks a node as unschedulable.
func Cordoned() NodeOption { return func(node *corev1.Node) { node.Spec.Unschedulable = true } }

// NotReady makes a node's Ready condition false.
func NotReady() NodeOption {
	return func(node *corev1.Node) { node.Status.Conditions[0].Status = corev1.ConditionFalse }
}

// NodeAnnotation sets an annotation of a node.
func NodeAnnotation(key, value string) NodeOption {
	return func(node *corev1.Node) { metav1.SetMetaDataAnnotation(&node.ObjectMeta, key, value) }
}
