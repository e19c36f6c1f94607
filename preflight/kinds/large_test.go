package kinds

import (
	"fmt"
	"runtime"
	"slices"
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
	of := objectOf(t, `{spec: {mlPolicy: {torch: {}}, template: {spec: {replicatedJobs: [{name: node,
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
		"Job with as many flags as it may have": {batchJob, m{"template": pod(m{"containers": []any{m{
			"command": append([]any{"torchrun"}, many(largest-10, func(i int) any { return "--" + name(i) + "=1" })...),
		}}})}},
		"LeaderWorkerSet with many claims": {leaderWorkerSet, m{"leaderWorkerTemplate": m{
			"volumeClaimTemplates": many(6000, func(i int) any { return m{"metadata": m{"name": name(i)}, "spec": m{}} }),
			"workerTemplate":       pod(m{"containers": []any{m{"name": "a"}}}),
		}}},
		"Volcano Job with many volumes": {volcanoJob, m{
			"volumes": many(5000, func(i int) any { return m{"mountPath": "/" + name(i), "volumeClaimName": name(i)} }),
			"tasks":   []any{m{"name": "a", "template": pod(m{"containers": many(9, func(i int) any { return m{"name": name(i)} })})}},
		}},
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
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			begun := time.Now()
			j, _ := tc.kind.Read(u, func(Want) (*unstructured.Unstructured, job.Presence) { return of, job.Present })
			if took := time.Since(begun); took > time.Minute {
				t.Errorf("took %v", took)
			} else {
				t.Logf("took %v", took)
			}
			if j == nil {
				t.Error("was not read")
			}
			runtime.ReadMemStats(&after)
			if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 512 {
				t.Errorf("took %d MiB", took)
			}
		})
	}
}

// TestVolumesOfAJobAreMountedUpToABound: each is one in each container of each task.
func TestVolumesOfAJobAreMountedUpToABound(t *testing.T) {
	for volumes, good := range map[int]bool{largest / 20: true, largest/20 + 1: false} {
		u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "x"}}}
		var list, tasks []any
		for i := range volumes {
			list = append(list, map[string]any{"mountPath": fmt.Sprint("/", i), "volumeClaimName": fmt.Sprint("c", i)})
		}
		for i := range 10 {
			tasks = append(tasks, map[string]any{"name": fmt.Sprint("t", i), "template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "a"}}}}})
		}
		u.Object["spec"] = map[string]any{"volumes": list, "tasks": tasks}
		j, err := volcanoJob.Read(u, nil)
		if n := len(j.Roles[9].Pod.Spec.Containers[0].VolumeMounts); (err == nil) != good || (n == volumes) != good {
			t.Errorf("%d volumes for 10 tasks: %d are mounted, %v", volumes, n, err)
		}
	}
}

// TestFlagsOfManyCommandsTakeTimeAsTheirNumber: the square of this number is minutes.
func TestFlagsOfManyCommandsTakeTimeAsTheirNumber(t *testing.T) {
	var flags []string
	for i := range 300_000 {
		flags = append(flags, fmt.Sprint("flag", i))
	}
	done := make(chan job.Launch, 1)
	go func() {
		done <- agree([]job.Launch{{Program: "torchrun", Flags: flags[:200_000]}, {Program: "torchrun", Flags: flags[100_000:]}})
	}()
	select {
	case out := <-done:
		if !slices.Equal(out.Flags, flags) {
			t.Errorf("%d flags of 300,000", len(out.Flags))
		}
	case <-time.After(20 * time.Second):
		t.Error("took longer than 20s")
	}
}

// TestNoFieldIsLostBehindOthers: an API server that knows no schema stores whatever stands beside the fields of a kind.
func TestNoFieldIsLostBehindOthers(t *testing.T) {
	padded := func(fields map[string]any) map[string]any {
		for i := range 20_000 {
			fields[fmt.Sprintf("a%d", i)] = map[string]any{}
		}
		for i := range 20_000 {
			fields[fmt.Sprintf("activeDeadlineSeconds%d", i)] = int64(1)
		}
		return fields
	}
	type m = map[string]any
	u := &unstructured.Unstructured{Object: m{"metadata": m{"name": "x"}, "spec": padded(m{"taskRoles": []any{padded(m{
		"name": "w", "taskNumber": int64(64), "task": padded(m{"pod": padded(m{"spec": padded(m{"containers": []any{padded(m{
			"name": "c", "image": "evil.example/x:1", "resources": padded(m{"limits": m{"nvidia.com/gpu": int64(8)}}),
		})}})})}),
	})}})}}
	j, err := framework.Read(u, nil)
	if err == nil {
		t.Error("nobody is told that it was cut")
	}
	if j == nil || len(j.Roles) != 1 || j.Roles[0].Replicas.Max != 64 || j.Roles[0].Pod.GPUs().N != 8 || j.Roles[0].Pod.Spec.Containers[0].Image != "evil.example/x:1" {
		t.Errorf("%+v; want 64 pods of that image with 8 GPUs each", j)
	}
}
