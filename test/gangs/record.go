package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// label is what the board reads.
type label struct {
	Category string   `json:"category"`
	Also     []string `json:"also_acceptable,omitempty"`
	FirstPod []string `json:"first_pod,omitempty"`
	Key      []string `json:"key_patterns,omitempty"`
	Running  bool     `json:"running,omitempty"`
	Source   string   `json:"source"`
}

// record writes the gang as a case.
func (g *gang) record(at string) error {
	if err := os.RemoveAll(at); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(at, "ts"), 0o755); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	l := label{Category: g.category, Also: g.also, Key: g.key, Running: g.running, Source: "a gang that was run by test/gangs"}
	if g.category != "healthy" && !g.anybody && g.victim >= 0 {
		l.FirstPod = []string{g.pods[g.victim].name}
		if g.mpi() {
			l.FirstPod = []string{g.pods[0].name, g.pods[min(g.victim+1, len(g.pods)-1)].name}
		}
	}
	if g.mpi() && g.victim < 0 && g.category != "healthy" {
		l.FirstPod = []string{g.pods[0].name}
	}
	pods := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "List"}}
	for _, p := range g.pods {
		pods.Items = append(pods.Items, g.object(p))
		text := strings.ReplaceAll(p.log.String(), g.dir, "/workspace")
		if p == g.pods[max(g.victim, 0)] {
			text = strings.Join(slices.Collect(strings.Lines(text))[g.headLost:], "")
			text = text[:len(text)-g.tailCut]
		}
		if err := os.WriteFile(filepath.Join(at, "ts", "log-"+p.name+".txt"), []byte(text), 0o644); err != nil {
			return fmt.Errorf("record: %w", err)
		}
	}
	for name, value := range map[string]any{"label.yaml": l, "pods.yaml": pods} {
		text, err := yaml.Marshal(value)
		if err != nil {
			return fmt.Errorf("record: %w", err)
		}
		if err := os.WriteFile(filepath.Join(at, name), text, 0o644); err != nil {
			return fmt.Errorf("record: %w", err)
		}
	}
	return nil
}

// object is the pod as the API server would show it.
func (g *gang) object(p *pod) corev1.Pod {
	kind, container, _ := g.kind()
	yes := true
	created := metav1.NewTime(g.pods[0].started.Add(-2 * time.Second).Truncate(time.Second))
	o := corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: p.name, Namespace: "ml", UID: types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", g.number, p.index+len(p.role)*100)), CreationTimestamp: created,
			Labels: map[string]string{
				"training.kubeflow.org/job-name": g.job, "training.kubeflow.org/operator-name": strings.ToLower(kind) + "-controller",
				"training.kubeflow.org/replica-type": p.role, "training.kubeflow.org/replica-index": strconv.Itoa(p.index),
			},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "kubeflow.org/v1", Kind: kind, Name: g.job, UID: types.UID(fmt.Sprintf("%08x-0000-4000-9000-000000000000", g.number)), Controller: &yes, BlockOwnerDeletion: &yes}},
		},
		Spec:   corev1.PodSpec{NodeName: p.node, RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: container, Image: "registry.example/train:1"}}},
		Status: corev1.PodStatus{PodIP: p.ip, StartTime: &created, Phase: corev1.PodRunning},
	}
	s := corev1.ContainerStatus{Name: container, Image: "registry.example/train:1"}
	started := metav1.NewTime(p.started.Add(p.ahead).Truncate(time.Second))
	switch {
	case p.cmd == nil && !g.mpi(): // it was never started
		o.Status.Phase, o.Spec.NodeName, o.Status.PodIP, o.Status.StartTime = corev1.PodPending, "", "", nil
		return o
	case p.cmd == nil, g.running, p.ended.Sub(p.started) > longest-time.Second:
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(created.Add(time.Second))}
		s.Ready = true
	default:
		reason := "Completed"
		o.Status.Phase = corev1.PodSucceeded
		if p.code != 0 {
			reason, o.Status.Phase = "Error", corev1.PodFailed
		}
		if p.oom {
			reason = "OOMKilled"
		}
		s.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: int32(p.code), Reason: reason, StartedAt: started, FinishedAt: metav1.NewTime(p.ended.Add(p.ahead).Truncate(time.Second))}
	}
	o.Status.ContainerStatuses = []corev1.ContainerStatus{s}
	return o
}
