package diagnose_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

func TestWhatTheOperatorCountsIsHeldAgainstThePods(t *testing.T) {
	counts := func(active, failed int64) map[string]any {
		return map[string]any{"Worker": map[string]any{"active": active, "failed": failed}}
	}
	one := []corev1.Pod{ended("train-worker-0", "gpu-1", 1, "Error", noon)}
	cases := map[string]struct {
		status any
		pods   []corev1.Pod
		want   string // of the remarks; empty: none
	}{
		"as many as there are":               {counts(0, 1), one, ""},
		"failed pods that are gone":          {counts(0, 3), one, "The operator counts 3 failed pods of role Worker; 1 was seen, and what the others had to say is gone."},
		"active pods of which none is left":  {counts(2, 0), nil, "The operator counts 2 active pods of role Worker; none exists."},
		"it has not looked since they ended": {counts(1, 0), one, ""},
		"a status that is none":              {"odd", one, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			j := train(3)
			j.Source = &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"replicaStatuses": tc.status}}}
			r := diagnose.Diagnose(t.Context(), diagnose.Case{Job: j, Kind: replicas, State: kinds.State{Phase: kinds.Failed}, Now: noon, Pods: tc.pods}, catalog(t), diagnose.Options{})
			if got := strings.Join(r.Remarks, "\n"); got != tc.want {
				t.Errorf("remarks are %q, want %q", got, tc.want)
			}
		})
	}
}

func TestADebugContainerIsNamedAndItsEndIsNotTheJobs(t *testing.T) {
	p := running("train-worker-0", "gpu-1")
	p.Status.EphemeralContainerStatuses = []corev1.ContainerStatus{{Name: "debugger-x7k", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137}}}}
	c := diagnose.Case{Job: train(0), Kind: replicas, State: kinds.State{Phase: kinds.Running}, Now: noon, Pods: []corev1.Pod{p}}
	c.Job.Roles = c.Job.Roles[:1]
	r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{})
	if got := strings.Join(r.Remarks, "\n"); !strings.HasPrefix(got, "Somebody attached the container debugger-x7k to train-worker-0 (kubectl debug); it has ended: exit code 137") {
		t.Errorf("remarks are %q", got)
	}
	if r.Root != nil {
		t.Errorf("its end is taken for the cause: %+v", r.Root)
	}
}

// The scheduler's word about a gang of Kubernetes' own says why the job waits.
func TestAPodGroupThatIsNotScheduled(t *testing.T) {
	group := &unstructured.Unstructured{Object: map[string]any{
		"kind": "PodGroup", "metadata": map[string]any{"name": "train"},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": "PodGroupInitiallyScheduled", "status": "False", "reason": "Unschedulable",
			"message": "0/4 nodes are available: 4 Insufficient nvidia.com/gpu.",
		}}},
	}}
	c := diagnose.Case{Job: train(3), Kind: replicas, State: kinds.State{Phase: kinds.Created}, Now: noon, Objects: []*unstructured.Unstructured{group}}
	r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{})
	if r.Root == nil || r.Root.Signature != "unschedulable-gpu" || string(r.Root.Cites[0]) != "PodGroup/train/PodGroupInitiallyScheduled" {
		t.Errorf("root is %+v", r.Root)
	}
}
