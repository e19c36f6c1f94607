package main

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
)

const nodes, podsPerNode = 5000, 20

// view is the cluster that a webhook looks at. Policies are asked with it in memory, as they are where they
// serve: the collector of garbage runs as seldom as there, and takes as long.
func view(now time.Time) *cluster.Snapshot {
	var b cluster.Builder
	b.Complete(schema.GroupResource{Resource: "nodes"}, schema.GroupResource{Resource: "pods"})
	room := corev1.ResourceList{
		"cpu": resource.MustParse("96"), "memory": resource.MustParse("1Ti"), "pods": resource.MustParse("110"), "nvidia.com/gpu": resource.MustParse("8"),
	}
	asks := corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("2"), "memory": resource.MustParse("8Gi")}}
	for i := range nodes {
		name := fmt.Sprintf("gpu-%05d", i)
		b.Node(&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: fmt.Sprint("zone-", i%3)}},
			Status:     corev1.NodeStatus{Allocatable: room, Capacity: room, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		})
		for k := range podsPerNode {
			b.Pod(&corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: fmt.Sprintf("team-%02d", i%50), Name: fmt.Sprintf("train-%05d-worker-%02d", i, k),
					UID: types.UID(fmt.Sprintf("%08d-0000-4000-8000-%012d", i, k)), Labels: map[string]string{"job": fmt.Sprintf("train-%05d", i)},
				},
				Spec:   corev1.PodSpec{NodeName: name, Containers: []corev1.Container{{Name: "main", Resources: asks}}},
				Status: corev1.PodStatus{Phase: corev1.PodRunning},
			})
		}
	}
	return b.Snapshot(now)
}
