package preflight_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight"
)

const endedJob = `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train, namespace: ml, creationTimestamp: "2026-12-23T08:00:00Z"}
spec: {pytorchReplicaSpecs: {Worker: {replicas: 2, template: {spec: {containers: [{name: pytorch, image: a, resources: {limits: {nvidia.com/gpu: 8}}}]}}}}}
status:
  startTime: "2026-12-23T09:00:00Z"
  conditions: [{type: Failed, status: "True", reason: PyTorchJobFailed, lastTransitionTime: "2026-12-23T10:00:00Z"}]
`

func TestRunOfSaysHowARunEnded(t *testing.T) {
	note := func(at, line string) string {
		return `{"category":"host-oom-killed","observedAt":"` + at + `","root":{"signature":"oom-killed","line":"` + line + `"}}`
	}
	plain := preflight.RunFacts{Name: "train", Ended: "2026-12-23T10:00:00Z", Phase: "failed", GPUSeconds: 57600, GPUSecondsKnown: true}
	told := plain
	told.Category, told.Signature, told.Line = "host-oom-killed", "oom-killed", "Killed"
	long := told
	long.Line = strings.Repeat("x", 199) + "…"
	unknown := plain
	unknown.GPUSeconds, unknown.GPUSecondsKnown = 0, false
	cases := map[string]struct {
		change func(*unstructured.Unstructured)
		want   preflight.RunFacts
	}{
		"as its status has it": {nil, plain},
		"as the diagnosis has it": {func(u *unstructured.Unstructured) {
			u.SetAnnotations(map[string]string{"signalbox.dev/diagnosis": note("2026-12-23T10:00:05Z", "Killed")})
		}, told},
		"a line one above the bound": {func(u *unstructured.Unstructured) {
			u.SetAnnotations(map[string]string{"signalbox.dev/diagnosis": note("2026-12-23T10:00:05Z", strings.Repeat("x", 201))})
		}, long},
		"a diagnosis from before the job": {func(u *unstructured.Unstructured) {
			u.SetAnnotations(map[string]string{"signalbox.dev/diagnosis": note("2026-12-22T10:00:05Z", "Killed")})
		}, plain},
		"a diagnosis that is none": {func(u *unstructured.Unstructured) {
			u.SetAnnotations(map[string]string{"signalbox.dev/diagnosis": "{"})
		}, plain},
		"without a beginning": {func(u *unstructured.Unstructured) {
			unstructured.RemoveNestedField(u.Object, "status", "startTime")
		}, unknown},
		"a job that runs": {func(u *unstructured.Unstructured) {
			unstructured.RemoveNestedField(u.Object, "status", "conditions")
		}, preflight.RunFacts{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := object(t, endedJob)
			if tc.change != nil {
				tc.change(u)
			}
			got, ended := preflight.RunOf(u)
			if !ended {
				got = preflight.RunFacts{}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error("-want +got\n" + diff)
			}
		})
	}
}

func TestAttemptsAreReadWhereTheStatusSaysThem(t *testing.T) {
	for text, want := range map[string]int64{
		"apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\nstatus: {restarts: 3, conditions: [{type: Failed, status: \"True\"}]}":             4,
		"apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: a}\nstatus: {retryCount: 2, state: {phase: Failed}}":                                     3,
		"apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\nstatus: {restarts: often, conditions: [{type: Failed, status: \"True\"}]}":         0,
		"apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\nstatus: {conditions: [{type: Failed, status: \"True\", lastTransitionTime: now}]}": 0,
	} {
		if run, ended := preflight.RunOf(object(t, text)); !ended || run.Attempts != want {
			t.Errorf("%s\n%+v, %v; want %d attempts", text, run, ended, want)
		}
	}
}

// TestEarlierRunsAreBounded: one above the bound, the newest first.
func TestEarlierRunsAreBounded(t *testing.T) {
	var runs []preflight.RunFacts
	for i := range 17 {
		phase := "failed"
		if i == 10 {
			phase = "succeeded"
		}
		runs = append(runs, preflight.RunFacts{Name: fmt.Sprint(i), Ended: fmt.Sprintf("2026-12-23T10:00:%02dZ", i), Phase: phase, GPUSeconds: 10, GPUSecondsKnown: true})
	}
	got := preflight.EarlierOf(runs, 2)
	if len(got.Runs) != 16 || got.More != 3 || got.Runs[0].Name != "16" || got.FailuresInARow != 6 || got.GPUSecondsFailed != 150 {
		t.Errorf("%d runs, %d more, first %s, %d failures in a row, %d GPU seconds", len(got.Runs), got.More, got.Runs[0].Name, got.FailuresInARow, got.GPUSecondsFailed)
	}
}

func TestASeriesIsNameGenerateNameAndController(t *testing.T) {
	u := object(t, endedJob)
	u.SetGenerateName("train-")
	yes := true
	u.SetOwnerReferences([]metav1.OwnerReference{{Kind: "CronJob", Name: "nightly", Controller: &yes}})
	want := []string{
		"PyTorchJob.kubeflow.org/ml/name/train", "PyTorchJob.kubeflow.org/ml/generateName/train-", "PyTorchJob.kubeflow.org/ml/owner/CronJob/nightly",
	}
	if diff := cmp.Diff(want, preflight.Series(u)); diff != "" {
		t.Error("-want +got\n" + diff)
	}
	// No controller is called so, and what a series is called is remembered when its jobs are gone.
	u.SetOwnerReferences([]metav1.OwnerReference{{Kind: "CronJob", Name: strings.Repeat("n", 254), Controller: &yes}})
	if diff := cmp.Diff(want[:2], preflight.Series(u)); diff != "" {
		t.Error("of an owner with a long name -want +got\n" + diff)
	}
}
