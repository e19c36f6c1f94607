package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Node is a machine to pretend.
type Node struct {
	Name        string
	Labels      map[string]string
	Annotations map[string]string
	Taints      []corev1.Taint
	Allocatable corev1.ResourceList // also its capacity
}

// GPUNode is a machine with GPUs of NVIDIA as its device plugin and feature discovery would describe it:
// 96 CPUs, 1 TiB, 110 pods.
func GPUNode(name, product string, gpus int64) Node {
	n := CPUNode(name)
	n.Labels = map[string]string{
		"nvidia.com/gpu.present": "true",
		"nvidia.com/gpu.product": product,
		"nvidia.com/gpu.count":   fmt.Sprint(gpus),
	}
	n.Allocatable["nvidia.com/gpu"] = *resource.NewQuantity(gpus, resource.DecimalSI)
	return n
}

// CPUNode is a machine without accelerators: 96 CPUs, 1 TiB, 110 pods.
func CPUNode(name string) Node {
	return Node{Name: name, Allocatable: corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("96"),
		corev1.ResourceMemory:           resource.MustParse("1Ti"),
		corev1.ResourceEphemeralStorage: resource.MustParse("2Ti"),
		corev1.ResourcePods:             resource.MustParse("110"),
	}}
}

// CreateNodes returns when every node is Ready and open for pods.
func (c *Cluster) CreateNodes(ctx context.Context, nodes ...Node) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(64)
	for _, n := range nodes {
		g.Go(func() error { return c.createNode(gctx, n) })
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("create nodes: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.Patience)
	defer cancel()
	wanted := map[string]bool{}
	for _, n := range nodes {
		wanted[n.Name] = true
	}
	if err := until(ctx, func(ctx context.Context) error { return c.nodesReady(ctx, wanted) }); err != nil {
		return fmt.Errorf("wait for nodes: %w", err)
	}
	return nil
}

func (c *Cluster) createNode(ctx context.Context, n Node) error {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Annotations: n.Annotations, Labels: map[string]string{
			corev1.LabelHostname: n.Name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
		}},
		Spec:   corev1.NodeSpec{Taints: n.Taints},
		Status: corev1.NodeStatus{Allocatable: n.Allocatable, Capacity: n.Allocatable},
	}
	maps.Copy(node.Labels, n.Labels)
	if !c.has(Kwok) {
		node.Status.Conditions = []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastHeartbeatTime: metav1.Now(),
		}}
	}
	nodes := c.clientset.CoreV1().Nodes()
	created, err := nodes.Create(ctx, node, metav1.CreateOptions{})
	if err != nil || c.has(ControllerManager) {
		return err
	}
	// Admission closes every new node with a not-ready taint; without the controller manager nothing opens it.
	created.Spec.Taints = n.Taints
	_, err = nodes.Update(ctx, created, metav1.UpdateOptions{})
	return err
}

func (c *Cluster) nodesReady(ctx context.Context, wanted map[string]bool) error {
	list, err := c.clientset.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	ready := 0
	for _, node := range list.Items {
		if wanted[node.Name] && open(&node) {
			ready++
		}
	}
	if ready < len(wanted) {
		return fmt.Errorf("%d of %d nodes are ready", ready, len(wanted))
	}
	return nil
}

func open(node *corev1.Node) bool {
	for _, taint := range node.Spec.Taints {
		if taint.Key == corev1.TaintNodeNotReady {
			return false
		}
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// LoseNode makes a node stop answering, as a crashed kubelet would: Ready turns Unknown, and the controller
// manager does the rest (taints, pods not ready, eviction after their toleration).
func (c *Cluster) LoseNode(ctx context.Context, name string) error {
	return c.annotateNode(ctx, name, `"lost"`)
}

// FindNode takes LoseNode back.
func (c *Cluster) FindNode(ctx context.Context, name string) error {
	return c.annotateNode(ctx, name, "null")
}

func (c *Cluster) annotateNode(ctx context.Context, name, value string) error {
	if !c.has(Kwok) {
		return errors.New("change state of node: this cluster has no kwok")
	}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s}}}`, StateAnnotation, value)
	if _, err := c.clientset.CoreV1().Nodes().Patch(ctx, name, mergePatch, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("change state of node %s: %w", name, err)
	}
	return nil
}
