package kinds

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

func TestTrainJobNeedsItsRuntime(t *testing.T) {
	cases := map[string]struct{ ref, want string }{
		"cluster runtime by default": {`{name: torch}`, `[{trainer.kubeflow.org/v1alpha1, Kind=ClusterTrainingRuntime  torch}]`},
		"runtime of the namespace":   {`{kind: TrainingRuntime, name: torch}`, `[{trainer.kubeflow.org/v1alpha1, Kind=TrainingRuntime ml torch}]`},
		"another kind":               {`{kind: MyRuntime, name: torch}`, `[]`},
		"no name":                    {`{}`, `[]`},
		"not an object":              {`torch`, `[]`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := objectOf(t, "{metadata: {name: x, namespace: ml}, spec: {runtimeRef: "+tc.ref+"}}")
			if diff := cmp.Diff(tc.want, fmt.Sprint(trainJob.Needs(u))); diff != "" {
				t.Errorf("Needs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTrainJobWithoutItsRuntime(t *testing.T) {
	u := objectOf(t, `{metadata: {name: x}, spec: {runtimeRef: {name: torch}, trainer: {numNodes: 3}}}`)
	answers := map[string]struct {
		got  Got
		want job.UnreadKind
	}{
		"nobody looked": {nil, job.RuntimeUnseen},
		"unknown":       {func(Want) (*unstructured.Unstructured, job.Presence) { return nil, job.Unknown }, job.RuntimeUnseen},
		"absent":        {func(Want) (*unstructured.Unstructured, job.Presence) { return nil, job.Absent }, job.RuntimeMissing},
		"present, nil":  {func(Want) (*unstructured.Unstructured, job.Presence) { return nil, job.Present }, job.RuntimeUnseen},
	}
	for name, tc := range answers {
		t.Run(name, func(t *testing.T) {
			j, err := trainJob.Read(u, tc.got)
			if err != nil {
				t.Fatal(err)
			}
			want := []job.Unread{{Path: "spec.runtimeRef", Kind: tc.want, Args: []string{"ClusterTrainingRuntime torch"}}}
			if diff := cmp.Diff(want, j.Unread); diff != "" {
				t.Errorf("Unread (-want +got):\n%s", diff)
			}
			if r := j.Role("node"); r == nil || r.Replicas != job.Exactly(3) {
				t.Errorf("roles are %+v", j.Roles)
			}
		})
	}
}

// Trainer takes only resources with "gpu" in their name for GPUs.
func TestTrainJobCountsProcessesLikeTrainer(t *testing.T) {
	const frame = `{metadata: {name: rt}, spec: {mlPolicy: {%s}, template: {spec: {replicatedJobs: [
		{name: node, template: {metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}, spec: {template: {spec: {containers: [{name: node}]}}}}}]}}}}`
	cases := map[string]struct{ policy, trainer, want string }{
		"auto with GPUs is torchrun's":       {`torch: {}`, `{resourcesPerNode: {limits: {nvidia.com/gpu: 8}}}`, ""},
		"auto with NPUs is the CPUs":         {`torch: {}`, `{resourcesPerNode: {limits: {huawei.com/Ascend910: 8, cpu: 96}}}`, "96@spec.runtimeRef"},
		"auto with fractions of a CPU is 1":  {`torch: {}`, `{resourcesPerNode: {limits: {huawei.com/Ascend910: 8}}}`, "1@spec.runtimeRef"},
		"a number is a number":               {`torch: {}`, `{numProcPerNode: 4, resourcesPerNode: {limits: {nvidia.com/gpu: 8}}}`, "4@spec.trainer.numProcPerNode"},
		"cpu counts CPUs":                    {`torch: {numProcPerNode: cpu}`, `{resourcesPerNode: {limits: {nvidia.com/gpu: 8}, requests: {cpu: 6}}}`, "6@spec.runtimeRef"},
		"MPI with one process takes GPUs":    {`mpi: {numProcPerNode: 1}`, `{resourcesPerNode: {limits: {nvidia.com/gpu: 8}}}`, "8@spec.runtimeRef"},
		"MPI with more keeps them":           {`mpi: {numProcPerNode: 2}`, `{resourcesPerNode: {limits: {nvidia.com/gpu: 8}}}`, "2@spec.runtimeRef"},
		"a runtime without policy says none": {`numNodes: 1`, `{resourcesPerNode: {limits: {nvidia.com/gpu: 8}}}`, ""},
		"the command says it itself":         {`torch: {}`, `{command: [torchrun, --nproc_per_node=3, x.py], numProcPerNode: 4}`, "3@spec.trainer.command[1]"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			runtime := objectOf(t, fmt.Sprintf(frame, tc.policy))
			u := objectOf(t, "{metadata: {name: x}, spec: {runtimeRef: {name: rt}, trainer: "+tc.trainer+"}}")
			j, err := trainJob.Read(u, func(Want) (*unstructured.Unstructured, job.Presence) { return runtime, job.Present })
			if err != nil {
				t.Fatal(err)
			}
			got, l := "", j.Roles[0].Launch
			if l.ProcsPerNode.Said() {
				got = spanText(l.ProcsPerNode) + "@" + string(l.ProcsPath)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("processes per node (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRuntimeIsNotChangedByItsJobs(t *testing.T) {
	for file, f := range fixtures(t) {
		for _, o := range f.others {
			before := o.DeepCopy()
			_, _ = f.kind.Read(f.object, f.got)
			if diff := cmp.Diff(before, o); diff != "" {
				t.Errorf("%s: %s was changed:\n%s", file, o.GetKind(), diff)
			}
		}
	}
}
