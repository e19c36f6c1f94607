// Package filled fills a real API server with what a large cluster holds, for benchmarks: nodes, pods as an
// operator makes them, claims with their volumes.
//
// Start reading at Fill.
package filled

import (
	"context"
	"fmt"
	"strconv"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/signalbox-dev/signalbox/test/cluster"
)

// Size is how much there is.
type Size struct{ Nodes, PodsPerNode, Claims int }

// Namespaces is over how many namespaces pods and claims are spread.
const Namespaces = 50

// Fill writes nodes, pods and claims as fast as the API server takes them.
func Fill(ctx context.Context, plane *cluster.Cluster, size Size) error {
	config := plane.Config()
	config.ContentType, config.QPS = "application/vnd.kubernetes.protobuf", -1
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	all := make([]cluster.Node, 0, size.Nodes)
	for i := range size.Nodes {
		n := cluster.GPUNode(NodeName(i), "NVIDIA-A100-SXM4-80GB", 8)
		n.Labels["topology.kubernetes.io/zone"] = fmt.Sprintf("zone-%d", i%3)
		n.Labels["node.kubernetes.io/instance-type"] = "a100.8"
		all = append(all, n)
	}
	if err := plane.CreateNodes(ctx, all...); err != nil {
		return err
	}
	for i := range Namespaces {
		if err := plane.CreateNamespace(ctx, NamespaceOf(i), nil); err != nil {
			return err
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(64)
	for i := range size.Claims {
		g.Go(func() error { return claim(ctx, kube, i) })
	}
	for i := range size.Nodes {
		for j := range size.PodsPerNode {
			g.Go(func() error {
				_, err := kube.CoreV1().Pods(NamespaceOf(i)).Create(ctx, Pod(i, j), metav1.CreateOptions{})
				return err
			})
		}
	}
	return g.Wait()
}

// NodeName is the name of a node by its number.
func NodeName(i int) string { return fmt.Sprintf("gpu-%05d", i) }

// PodName is the name of a pod by number of its node and its own there.
func PodName(node, i int) string { return fmt.Sprintf("train-%05d-worker-%02d", node, i) }

// NamespaceOf is where the pods of a node are.
func NamespaceOf(node int) string { return fmt.Sprintf("team-%02d", node%Namespaces) }

// claim writes a claim and the volume that it is bound to.
func claim(ctx context.Context, kube kubernetes.Interface, i int) error {
	volume, wanted := Claim(i)
	if _, err := kube.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{}); err != nil {
		return err
	}
	made, err := kube.CoreV1().PersistentVolumeClaims(wanted.Namespace).Create(ctx, wanted, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Status = wanted.Status
	_, err = kube.CoreV1().PersistentVolumeClaims(wanted.Namespace).UpdateStatus(ctx, made, metav1.UpdateOptions{})
	return err
}

// Claim is a claim and the volume that it is bound to.
func Claim(i int) (*corev1.PersistentVolume, *corev1.PersistentVolumeClaim) {
	class, name, namespace := "fast", fmt.Sprintf("data-%05d", i), NamespaceOf(i)
	amount := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("100Gi")}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pv-" + name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: amount, AccessModes: modes, StorageClassName: class, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			ClaimRef: &corev1.ObjectReference{Namespace: namespace, Name: name},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi.example.com", VolumeHandle: "vol-" + name},
			},
		},
	}
	return volume, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes, StorageClassName: &class, VolumeName: "pv-" + name, Resources: corev1.VolumeResourceRequirements{Requests: amount},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, AccessModes: modes, Capacity: amount},
	}
}

// Pod is a pod as an operator makes it: labels, an owner, a container with what real ones
// have and a view does not need.
func Pod(node, i int) *corev1.Pod {
	yes, jobName := true, fmt.Sprintf("train-%05d", node)
	requests := corev1.ResourceList{
		"cpu": *resource.NewMilliQuantity(100*int64(1+(node*7+i*3)%40), resource.DecimalSI), "memory": *resource.NewQuantity(int64(1+(node+i)%16)<<30, resource.BinarySI),
	}
	limits := corev1.ResourceList{"memory": requests["memory"]}
	if i < node%8 {
		requests["nvidia.com/gpu"], limits["nvidia.com/gpu"] = resource.MustParse("1"), resource.MustParse("1")
	}
	var env []corev1.EnvVar
	for n := range 12 {
		env = append(env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", n), Value: "a value of some length, as they are"})
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: PodName(node, i),
			Labels: map[string]string{
				"training.kubeflow.org/job-name": jobName, "training.kubeflow.org/operator-name": "pytorchjob-controller",
				"training.kubeflow.org/replica-index": strconv.Itoa(i), "training.kubeflow.org/replica-type": "worker", "team": NamespaceOf(node),
			},
			Annotations:     map[string]string{"sidecar.istio.io/inject": "false", "kubernetes.io/config.seen": "2026-01-01T00:00:00Z"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "kubeflow.org/v1", Kind: "PyTorchJob", Name: jobName, UID: "11111111-2222-3333-4444-555555555555", Controller: &yes}},
		},
		Spec: corev1.PodSpec{
			NodeName: NodeName(node),
			Containers: []corev1.Container{{
				Name: "pytorch", Image: "registry.example.com/team/train:2026-01", Command: []string{"torchrun", "--nnodes=2", "train.py"}, Env: env,
				Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits},
			}},
		},
	}
}
