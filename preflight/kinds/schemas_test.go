package kinds

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestFieldsThatTheCRDDrops(t *testing.T) {
	const trainer = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: x}\nspec:\n  runtimeRef: {name: torch}\n"
	const worker = "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: x}\nspec:\n  pytorchReplicaSpecs:\n    Worker:\n      template:\n"
	const jobset = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: x}\nspec:\n  replicatedJobs:\n  - name: a\n    template: {spec: {template: {spec: {containers: [{name: a, image: b}]}}}}\n"
	cases := map[string]struct{ text, want string }{
		"newer than the CRD":          {worker + "        spec: {containers: [{name: pytorch, image: a}], resources: {limits: {cpu: 1}}}", "spec.pytorchReplicaSpecs.Worker.template.spec.resources: not a field here: Kubernetes has it, and the CRD (training-operator v1.9.3) does not"},
		"in what nobody else reads":   {jobset + "  failurePolicy: {maxRestart: 3}", "spec.failurePolicy.maxRestart: not a field here; the nearest is maxRestarts"},
		"of a newer version":          {jobset + "  volumeClaimPolicies: []", ""},
		"in the pod's metadata":       {worker + "        metadata: {label: {a: b}}\n        spec: {containers: [{name: pytorch, image: a}]}", "spec.pytorchReplicaSpecs.Worker.template.metadata.label: not a field here; the nearest is labels"},
		"one level too high":          {worker + "        spec: {imagePullPolicy: Always, containers: [{name: pytorch, image: a}]}", "spec.pytorchReplicaSpecs.Worker.template.spec.imagePullPolicy: not a field here; there is containers[].imagePullPolicy"},
		"null is nothing":             {worker + "        metadata: {creationTimestamp: null}\n        spec: {containers: [{name: pytorch, image: a}], sidecars: null}", ""},
		"keys of maps are no fields":  {worker + "        metadata: {labels: {any: thing}}\n        spec: {nodeSelector: {some: label}, containers: [{name: pytorch, image: a, resources: {limits: {nvidia.com/gpu: 1}}}]}", ""},
		"of no version of Trainer":    {trainer + "  trainer: {elasticPolicy: {maxNodes: 4}}", "spec.trainer.elasticPolicy: not a field here, up to trainer v2.3.0"},
		"of two versions of Trainer":  {trainer + "  podTemplateOverrides: [{targetJobs: [{name: node}]}]\n  activeDeadlineSeconds: 60", ""},
		"beside spec":                 {trainer + "sepc: {}", "sepc: not a field here; the nearest is spec"},
		"in a kind without a CRD":     {"apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\nspec: {parallelsim: 2, template: {spec: {containers: [{name: a, image: b}]}}}", "spec.parallelsim: not a field here; the nearest is parallelism"},
		"in the other MPIJob":         {"apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: x}\nspec: {cleanPodPolicy: All, mpiReplicaSpecs: {Launcher: {template: {spec: {containers: [{name: a, image: b}]}}}}}", "spec.cleanPodPolicy: not a field here; there is runPolicy.cleanPodPolicy"},
		"a status is the operator's":  {worker + "        spec: {containers: [{name: pytorch, image: a}]}\nstatus: {anything: {goes: 1}}", ""},
		"where a list is no list":     {jobset + "  successPolicy: []", ""},
		"in a list inside of a field": {jobset + "  failurePolicy: {rules: [{name: r, actoin: FailJobSet}]}", "spec.failurePolicy.rules[0].actoin: not a field here; the nearest is action"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := map[string]any{}
			if err := yaml.Unmarshal([]byte(tc.text), &m); err != nil {
				t.Fatal(err)
			}
			u := &unstructured.Unstructured{Object: normal(m).(map[string]any)}
			j, _ := For(u.GroupVersionKind()).Read(u, nil)
			var got []string
			for _, r := range j.Unread {
				if r.NotAField() {
					got = append(got, string(r.Path)+": "+r.String())
				}
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("remarks (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEveryCRDIsOfAKind: a line that no reader uses is a slip in the generator.
func TestEveryCRDIsOfAKind(t *testing.T) {
	used := map[string]bool{}
	for _, k := range All() {
		for _, gvk := range k.GVKs {
			if c := crdOf(gvk.GroupVersion().String(), gvk.Kind); c != nil {
				used[gvk.GroupVersion().String()+" "+gvk.Kind] = true
				if len(c.object(c.spec)) < 2 {
					t.Errorf("%s has %d fields in its spec", gvk, len(c.object(c.spec)))
				}
			}
		}
	}
	for _, kind := range []string{"ClusterTrainingRuntime", "TrainingRuntime"} { // read for the TrainJobs that name them
		if c := crdOf("trainer.kubeflow.org/v1alpha1", kind); c != nil && len(c.object(c.spec)) > 1 {
			used[kind] = true
		}
	}
	if len(used) != len(crds()) || len(used) < 11 {
		t.Errorf("%d CRDs are carried, %d are used: %v", len(crds()), len(used), used)
	}
}
