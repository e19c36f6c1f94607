package control

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// A pod that is deleted at the age that its queue allows was deleted for it; one that is deleted at another age, not.
func TestAPodThatBecameTooOldForItsQueue(t *testing.T) {
	made := time.Date(2026, 11, 22, 5, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		most string
		age  time.Duration
		rule string
		says string
	}{
		"at its age":     {"2h", 2*time.Hour + time.Minute, "queue-max-duration", "it was 2.0 h old, and queue research deletes pods older than 2h (maxDuration)"},
		"younger":        {"2h", time.Hour, "pod-deleted", "while it ran"},
		"much older":     {"2h", 5 * time.Hour, "pod-deleted", "while it ran"},
		"without limit":  {"", 2 * time.Hour, "pod-deleted", "while it ran"},
		"of other words": {"two hours", 2 * time.Hour, "pod-deleted", "while it ran"},
	} {
		t.Run(name, func(t *testing.T) {
			queue := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"maxDuration": tc.most}}}
			queue.SetAPIVersion("scheduler.tensorstack.dev/v1beta1")
			queue.SetKind("Queue")
			queue.SetName("research")
			gone := metav1.NewTime(made.Add(tc.age))
			b := &evidence.Bundle{
				Job:   &job.Job{Ref: job.Ref{Kind: "ColossalAIJob", Name: "train", UID: "u"}, Gang: job.GangPolicy{Queue: "research"}},
				State: kinds.State{Phase: kinds.Running}, Objects: []*unstructured.Unstructured{queue}, Now: gone.Time,
				Pods: []corev1.Pod{{
					ObjectMeta: metav1.ObjectMeta{Name: "train-worker-0", CreationTimestamp: metav1.NewTime(made), DeletionTimestamp: &gone},
					Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "worker", State: corev1.ContainerState{
						Terminated: &corev1.ContainerStateTerminated{ExitCode: 143, FinishedAt: metav1.NewTime(gone.Add(time.Second))},
					}}}},
				}},
			}
			got := ReadDeleted(b)
			if len(got) != 1 || got[0].Signature.ID != tc.rule || !strings.Contains(got[0].Line, tc.says) {
				t.Errorf("got %+v, want %s: %s", got, tc.rule, tc.says)
			}
		})
	}
}
