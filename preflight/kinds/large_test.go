package kinds

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// The largest objects that are read take time in proportion to their size. The bound is
// far above what that takes and far below what the square of it would.
func TestLargeObjectsAreReadInTime(t *testing.T) {
	type m = map[string]any
	many := func(n int, make func(i int) any) []any {
		out := []any{}
		for i := range n {
			out = append(out, make(i))
		}
		return out
	}
	name := func(i int) string { return fmt.Sprintf("n%d", i) }
	pod := func(pod m) m { return m{"spec": pod} }
	env := many(largest/4, func(i int) any { return m{"name": name(i), "value": "$(N)"} })
	runtime := objectOf(t, `{spec: {mlPolicy: {torch: {}}, template: {spec: {replicatedJobs: [{name: node,
		template: {metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}, spec: {template: {spec: {containers: [{name: node}]}}}}}]}}}}`)
	cases := map[string]struct {
		kind *Kind
		spec m
	}{
		"JobSet of many Jobs": {jobSet, m{"replicatedJobs": many(4000, func(i int) any {
			return m{"name": name(i), "template": pod(m{"template": pod(m{"containers": []any{m{"name": "a"}}})})}
		})}},
		"Framework of many roles": {framework, m{"taskRoles": many(8000, func(i int) any { return m{"name": name(i), "taskNumber": int64(1)} })}},
		"TrainJob with a long environment": {trainJob, m{
			"runtimeRef": m{"name": "rt"},
			"trainer":    m{"env": env, "numNodes": int64(2)},
		}},
		"TrainJob with many patches": {trainJob, m{
			"runtimeRef": m{"name": "rt"},
			"podTemplateOverrides": many(4000, func(i int) any {
				return m{"targetJobs": []any{m{"name": "node"}}, "spec": m{"volumes": []any{m{"name": name(i)}}}}
			}),
		}},
		"Job with many arguments": {batchJob, m{"template": pod(m{"containers": []any{m{
			"command": append([]any{"torchrun"}, many(largest/4, func(i int) any { return "--" + name(i) + "=$(X)" })...),
			"env":     env[:largest/8],
		}}})}},
		"PyTorchJob of many strange roles": {pytorchJob, m{"pytorchReplicaSpecs": func() m {
			out := m{}
			for i := range largest / 2 {
				out["Worke"+name(i)] = int64(1)
			}
			return out
		}()}},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			u := &unstructured.Unstructured{Object: m{"metadata": m{"name": "x"}, "spec": tc.spec}}
			begun := time.Now()
			j, _ := tc.kind.Read(u, func(Want) (*unstructured.Unstructured, job.Presence) { return runtime, job.Present })
			if took := time.Since(begun); took > time.Minute {
				t.Errorf("took %v", took)
			} else {
				t.Logf("took %v", took)
			}
			if j == nil {
				t.Error("was not read")
			}
		})
	}
}
