//go:build integration

package cluster_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/test/cluster"
)

// trainer is a pod with two containers: the one that trains and one beside it.
func trainer(name string, policy corev1.RestartPolicy, annotations map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations},
		Spec: corev1.PodSpec{RestartPolicy: policy, Containers: []corev1.Container{
			{Name: "trainer", Image: "example.org/trainer:1", Resources: corev1.ResourceRequirements{
				Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")},
			}},
			{Name: "metrics", Image: "example.org/metrics:1"},
		}},
	}
}

// story is what kubectl describe would tell about the first container, in a line.
func story(pod *corev1.Pod) string {
	s := string(pod.Status.Phase)
	if pod.Status.Reason != "" {
		s += " " + pod.Status.Reason
	}
	if len(pod.Status.ContainerStatuses) == 0 {
		return s
	}
	first := pod.Status.ContainerStatuses[0]
	say := func(state corev1.ContainerState) string {
		switch {
		case state.Waiting != nil:
			return "waiting " + state.Waiting.Reason
		case state.Terminated != nil:
			return fmt.Sprintf("ended %d %s", state.Terminated.ExitCode, state.Terminated.Reason)
		case state.Running != nil:
			return "running"
		}
		return ""
	}
	s += ", " + say(first.State)
	if last := say(first.LastTerminationState); last != "" {
		s += ", before " + last
	}
	if first.RestartCount > 0 {
		s += ", restarted"
	}
	return s
}

func TestAPodTakesTheStateOfItsAnnotation(t *testing.T) {
	c := cluster.ForTest(t, cluster.Options{Parts: cluster.Machinery})
	if err := c.CreateNodes(t.Context(), cluster.GPUNode("gpu-a", "NVIDIA-H100-80GB-HBM3", 64)); err != nil {
		t.Fatal(err)
	}
	state := func(s cluster.State, more ...string) map[string]string {
		a := map[string]string{cluster.StateAnnotation: string(s), cluster.AfterAnnotation: "100ms"}
		for i := 0; i < len(more); i += 2 {
			a[more[i]] = more[i+1]
		}
		return a
	}
	cases := map[string]struct {
		policy      corev1.RestartPolicy
		annotations map[string]string
		want        string
	}{
		"unmarked":             {corev1.RestartPolicyNever, nil, "Running, running"},
		"succeeded":            {corev1.RestartPolicyNever, state(cluster.Succeeded), "Succeeded, ended 0 Completed"},
		"oom-for-good":         {corev1.RestartPolicyNever, state(cluster.OOMKilled), "Failed, ended 137 OOMKilled"},
		"oom-waits":            {corev1.RestartPolicyOnFailure, state(cluster.OOMKilled), "Running, waiting CrashLoopBackOff, before ended 137 OOMKilled"},
		"exit-1":               {corev1.RestartPolicyNever, state(cluster.ExitCode), "Failed, ended 1 Error"},
		"exit-139":             {corev1.RestartPolicyNever, state(cluster.ExitCode, cluster.ExitCodeAnnotation, "139"), "Failed, ended 139 Error"},
		"no-image":             {corev1.RestartPolicyNever, state(cluster.ImagePullBackOff), "Pending, waiting ImagePullBackOff"},
		"crash-loop-comes-bak": {corev1.RestartPolicyAlways, state(cluster.CrashLoop, cluster.BackOffAnnotation, "100ms", cluster.AfterAnnotation, "3s"), "Running, running, before ended 1 Error, restarted"},
		"evicted":              {corev1.RestartPolicyNever, state(cluster.Evicted), "Failed Evicted, ended 137 Error"},
		"node-lost":            {corev1.RestartPolicyNever, state(cluster.NodeLost), "Running NodeLost, running"},
		"another-rank":         {corev1.RestartPolicyNever, state(cluster.OOMKilled, cluster.OnlyRankAnnotation, "3"), "Running, running"},
	}
	pods := c.Clientset().CoreV1().Pods("default")
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := pods.Create(t.Context(), trainer(name, tc.policy, tc.annotations), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			eventually(t, func(ctx context.Context) error {
				pod, err := pods.Get(ctx, name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				if diff := cmp.Diff(tc.want, story(pod)); diff != "" {
					return fmt.Errorf("pod (-want +got):\n%s", diff)
				}
				return nil
			})
		})
	}
}

func TestALivePodIsKilledAndItsLogsAnswer(t *testing.T) {
	c := cluster.ForTest(t, cluster.Options{Parts: cluster.Machinery})
	if err := c.CreateNodes(t.Context(), cluster.GPUNode("gpu-a", "NVIDIA-H100-80GB-HBM3", 8)); err != nil {
		t.Fatal(err)
	}
	pods := c.Clientset().CoreV1().Pods("default")
	pod := trainer("rank-0", corev1.RestartPolicyNever, nil)
	pod.Labels = map[string]string{"job": "demo"}
	if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	podsLike(t, c, "job=demo", 1, corev1.PodRunning)

	for _, set := range []struct {
		do              func(context.Context, string, string, string, string) error
		container, file string
	}{
		{c.PodLogs, "trainer", "out-of-memory.log"},
		{c.PodLogs, "metrics", "training.log"},
		{c.PreviousPodLogs, "trainer", "training.log"},
	} {
		if err := set.do(t.Context(), "default", "rank-0", set.container, set.file); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.SetPodState(t.Context(), "default", "rank-0", cluster.OOMKilled, nil); err != nil {
		t.Fatal(err)
	}
	podsLike(t, c, "job=demo", 1, corev1.PodFailed)

	const killed = "loading tokenized shard 0017\nbuilding index over 48211934 samples\nKilled\n"
	cases := map[string]struct{ args, want string }{
		"trainer":   {"-c trainer", killed},
		"last line": {"-c trainer --tail=1", "Killed\n"},
		"previous":  {"-c trainer --previous --tail=1", "step 200 loss 2.644 tokens/s 41790\n"},
		"neighbour": {"-c metrics --timestamps --tail=1", "2026-11-20T08:00:05.910000000Z step 200 loss 2.644 tokens/s 41790\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := c.Kubectl(t.Context(), append([]string{"logs", "rank-0"}, strings.Fields(tc.args)...)...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("kubectl logs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALogAnnotationIsEnough(t *testing.T) {
	c := cluster.ForTest(t, cluster.Options{Parts: cluster.Machinery})
	if err := c.CreateNodes(t.Context(), cluster.GPUNode("gpu-a", "NVIDIA-H100-80GB-HBM3", 8)); err != nil {
		t.Fatal(err)
	}
	quiet := trainer("quiet", corev1.RestartPolicyNever, nil)
	talks := trainer("talks", corev1.RestartPolicyNever, map[string]string{cluster.LogAnnotation: "out-of-memory.log"})
	for _, pod := range []*corev1.Pod{quiet, talks} {
		pod.Labels = map[string]string{"job": "demo"}
		if _, err := c.Clientset().CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	podsLike(t, c, "job=demo", 2, corev1.PodRunning)
	for pod, want := range map[string]string{"quiet": "", "talks": "Killed\n"} {
		eventually(t, func(ctx context.Context) error {
			got, err := c.Kubectl(ctx, "logs", pod, "-c", "trainer", "--tail=1")
			if err != nil {
				return err
			}
			if diff := cmp.Diff(want, got); diff != "" {
				return fmt.Errorf("kubectl logs %s (-want +got):\n%s", pod, diff)
			}
			return nil
		})
	}
}

func TestALostNodeIsTaintedAndComesBack(t *testing.T) {
	c := cluster.ForTest(t, cluster.Options{Parts: cluster.Machinery})
	if err := c.CreateNodes(t.Context(), cluster.GPUNode("gpu-a", "NVIDIA-H100-80GB-HBM3", 8), cluster.CPUNode("cpu-a")); err != nil {
		t.Fatal(err)
	}
	taints := func(want string) func(context.Context) error {
		return func(ctx context.Context) error {
			node, err := c.Clientset().CoreV1().Nodes().Get(ctx, "gpu-a", metav1.GetOptions{})
			if err != nil {
				return err
			}
			var got []string
			for _, taint := range node.Spec.Taints {
				got = append(got, taint.ToString())
			}
			if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
				return fmt.Errorf("taints of a lost node (-want +got):\n%s", diff)
			}
			return nil
		}
	}
	if err := c.LoseNode(t.Context(), "gpu-a"); err != nil {
		t.Fatal(err)
	}
	eventually(t, taints("node.kubernetes.io/unreachable:NoSchedule node.kubernetes.io/unreachable:NoExecute"))
	if err := c.FindNode(t.Context(), "gpu-a"); err != nil {
		t.Fatal(err)
	}
	eventually(t, taints(""))
}

func TestNodesWithoutAnybodyToWatchThem(t *testing.T) {
	c := cluster.ForTest(t, cluster.Options{})
	var nodes []cluster.Node
	for i := range 200 {
		nodes = append(nodes, cluster.GPUNode(fmt.Sprintf("gpu-%03d", i), "NVIDIA-H100-80GB-HBM3", 8))
	}
	if err := c.CreateNodes(t.Context(), nodes...); err != nil {
		t.Fatal(err)
	}
	list, err := c.Clientset().CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var gpus int64
	for _, node := range list.Items {
		if len(node.Spec.Taints) > 0 {
			t.Errorf("%s has taints %v", node.Name, node.Spec.Taints)
		}
		gpus += node.Status.Allocatable.Name("nvidia.com/gpu", resource.DecimalSI).Value()
	}
	if gpus != 1600 {
		t.Errorf("allocatable: %d GPUs, want 1600", gpus)
	}
}
