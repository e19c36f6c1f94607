package control_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// Kueue resumes the suspended jobs of its queues: where there is none nothing will, and a job that is not suspended, or names no
// queue, needs none.
func TestASuspendedJobOfAQueueWithoutKueue(t *testing.T) {
	for name, tc := range map[string]struct {
		queue  string
		absent []string
		held   bool
		want   bool
	}{
		"no Kueue":           {"team", []string{control.NoKueue}, true, true},
		"there is one":       {"team", nil, true, false},
		"it runs by itself":  {"team", []string{control.NoKueue}, false, false},
		"paused by a person": {"", []string{control.NoKueue}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "batch/v1", "kind": "Job",
				"metadata": map[string]any{"name": "train", "namespace": "ml", "uid": "u"},
				"spec": map[string]any{"suspend": tc.held, "template": map[string]any{"spec": map[string]any{
					"containers": []any{map[string]any{"name": "main", "image": "registry.example.com/train:1"}},
				}}},
			}}
			if tc.queue != "" {
				u.SetLabels(map[string]string{"kueue.x-k8s.io/queue-name": tc.queue})
			}
			j, err := kinds.For(u.GroupVersionKind()).Read(u, nil)
			if err != nil {
				t.Fatal(err)
			}
			said := control.ReadSilent(&evidence.Bundle{Job: j, Absent: tc.absent})
			if got := len(said) == 1 && said[0].Signature == control.Unqueued; got != tc.want {
				t.Errorf("said %v; want %v", said, tc.want)
			}
		})
	}
}
