package preflight_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// misnamed is a job that the operator's webhook refuses, where there is one: the container
// has another name than the operator looks for.
const misnamed = `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train, namespace: ml, labels: {team: vision}}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 1
      template:
        spec:
          containers:
          - {name: trainer, image: registry.example.com/train:1}
`

// batchWithAlways is a Job that the API server itself refuses.
const batchWithAlways = `apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: ml}
spec:
  template:
    spec:
      restartPolicy: Always
      containers:
      - {name: train, image: registry.example.com/train:1}
`

// registered is a view with one webhook under the name that the training-operator gives it.
func registered(name, more, rule string) string {
	return fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: validator.training-operator.kubeflow.org}
webhooks:
- name: %s
%s  rules:
  - %s
`, name, more, rule)
}

// TestWhoRefusesAJobSpeaks: a check about what the operator refuses is silent only where the
// operator is seen to answer, never in a shell, and what was left to it is listed.
func TestWhoRefusesAJobSpeaks(t *testing.T) {
	const own, rule = "validator.pytorchjob.training-operator.kubeflow.org", "{apiGroups: [kubeflow.org], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [pytorchjobs]}"
	cases := map[string]struct {
		job, cluster string
		req          preflight.Request
		silent       string // who answers; empty: the check speaks
	}{
		"the operator's webhook is registered":  {misnamed, registered(own, "", rule), preflight.Request{Admission: true}, "webhook " + own + " of ValidatingWebhookConfiguration validator.training-operator.kubeflow.org"},
		"the same in a shell, live":             {misnamed, registered(own, "", rule), preflight.Request{Live: true}, ""},
		"the same offline":                      {misnamed, registered(own, "", rule), preflight.Request{}, ""},
		"no webhook at all":                     {misnamed, four, preflight.Request{Admission: true, Live: true}, ""},
		"somebody else's webhook":               {misnamed, registered("vpytorchjob.kb.io", "", rule), preflight.Request{Admission: true}, ""},
		"another resource":                      {misnamed, registered(own, "", strings.Replace(rule, "pytorchjobs", "tfjobs", 1)), preflight.Request{Admission: true}, ""},
		"another group":                         {misnamed, registered(own, "", strings.Replace(rule, "kubeflow.org", "example.com", 1)), preflight.Request{Admission: true}, ""},
		"every resource of every group":         {misnamed, registered(own, "", "{apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*']}"), preflight.Request{Admission: true}, "webhook " + own},
		"called for updates only":               {misnamed, registered(own, "", strings.Replace(rule, "CREATE, ", "", 1)), preflight.Request{Admission: true}, ""},
		"an update":                             {misnamed, registered(own, "", strings.Replace(rule, "CREATE, ", "", 1)), preflight.Request{Admission: true, Operation: "UPDATE"}, "webhook " + own},
		"it may be passed over when it is down": {misnamed, registered(own, "  failurePolicy: Ignore\n", rule), preflight.Request{Admission: true}, ""},
		"called under a condition":              {misnamed, registered(own, "  matchConditions: [{name: a, expression: 'true'}]\n", rule), preflight.Request{Admission: true}, ""},
		"a namespace that it looks at":          {misnamed, registered(own, "  namespaceSelector: {matchLabels: {tier: gpu}}\n", rule), preflight.Request{Admission: true, Namespace: map[string]string{"tier": "gpu"}}, "webhook " + own},
		"a namespace that it passes by":         {misnamed, registered(own, "  namespaceSelector: {matchLabels: {tier: gpu}}\n", rule), preflight.Request{Admission: true, Namespace: map[string]string{}}, ""},
		"a namespace without known labels":      {misnamed, registered(own, "  namespaceSelector: {matchExpressions: [{key: tier, operator: DoesNotExist}]}\n", rule), preflight.Request{Admission: true}, ""},
		"a job that it passes by":               {misnamed, registered(own, "  objectSelector: {matchLabels: {team: audio}}\n", rule), preflight.Request{Admission: true}, ""},
		"a job that it looks at":                {misnamed, registered(own, "  objectSelector: {matchLabels: {team: vision}}\n", rule), preflight.Request{Admission: true}, "webhook " + own},
		"a Job, of which the API server knows":  {batchWithAlways, four, preflight.Request{Admission: true}, "the API server, which validates Job"},
		"the same Job in a shell":               {batchWithAlways, four, preflight.Request{Live: true}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.req.Object, tc.req.Cluster = object(t, tc.job), snapshot(t, tc.cluster)
			slug := map[string]string{misnamed: "container-name-missing", batchWithAlways: "restart-policy-always"}[tc.job]
			r := review(t, nil, tc.req)
			speaks := slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Check == slug })
			at := slices.IndexFunc(r.Skipped, func(s preflight.Skip) bool { return s.Check == slug && s.Why == check.OperatorAnswers })
			switch {
			case speaks == (at >= 0):
				t.Errorf("speaks: %t, skipped: %v; want one of both", speaks, r.Skipped)
			case speaks != (tc.silent == ""):
				t.Errorf("speaks: %t; want %q to answer", speaks, tc.silent)
			case at >= 0 && !strings.HasPrefix(r.Skipped[at].Reason, "answered by "+tc.silent):
				t.Errorf("skipped, %s; want it answered by %s", r.Skipped[at].Reason, tc.silent)
			}
		})
	}
}

// TestWhatAnOperatorLetsThroughIsSaid: what refuses a job answers for what it refuses, and for no more. Before v2.3
// Trainer's webhook takes a setting of TorchTune that is the runtime's.
func TestWhatAnOperatorLetsThroughIsSaid(t *testing.T) {
	const tune = `apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: train, namespace: ml}
spec:
  runtimeRef: {name: torchtune-llama3.2-1b}
  trainer: {command: [tune, run], args: [output_dir=/mine], numNodes: 2, numProcPerNode: 1}
`
	const runtime = `---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torchtune-llama3.2-1b}
spec:
  mlPolicy: {numNodes: 1, torch: {numProcPerNode: auto}}
  template: {spec: {replicatedJobs: [{name: node, template: {metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}, spec: {template: {spec: {containers: [{name: node, image: "a:1"}]}}}}}]}}
`
	webhook := registered("validator.trainjob.trainer.kubeflow.org", "", "{apiGroups: [trainer.kubeflow.org], apiVersions: ['*'], operations: [CREATE], resources: [trainjobs]}")
	r := review(t, nil, preflight.Request{Admission: true, Object: object(t, tune), Cluster: snapshot(t, webhook+runtime)})
	var said []string
	for _, f := range r.Findings {
		if f.Check == "trainjob-field-refused" {
			said = append(said, string(f.Path))
		}
	}
	if !slices.Equal(said, []string{"spec.trainer.args[0]"}) {
		t.Errorf("said of %q; want it of what Trainer takes alone", said)
	}
	if !slices.ContainsFunc(r.Skipped, func(s preflight.Skip) bool {
		return s.Check == "trainjob-field-refused" && s.Why == check.OperatorAnswers
	}) {
		t.Errorf("skipped is %v; what Trainer refuses is left to it", r.Skipped)
	}
}

// TestNobodyLearnsWhatOtherNamespacesHave: the webhook sees all of them; a shell sees what its user may read, and says where a
// runtime is that the job cannot use.
func TestNobodyLearnsWhatOtherNamespacesHave(t *testing.T) {
	const job = `apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: train, namespace: ml}
spec: {runtimeRef: {name: next-model, kind: TrainingRuntime}, trainer: {numNodes: 1}}
`
	const there = `apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata: {name: next-model, namespace: secret}
spec: {template: {spec: {replicatedJobs: []}}}
`
	var complete []schema.GroupResource
	for _, name := range []string{"nodes", "pods", "trainingruntimes.trainer.kubeflow.org", "clustertrainingruntimes.trainer.kubeflow.org"} {
		complete = append(complete, schema.ParseGroupResource(name))
	}
	view := manifest.View{Complete: complete, Objects: []*unstructured.Unstructured{object(t, there)}, Taken: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	seen, err := view.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	for admission, want := range map[bool]string{
		true:  `TrainingRuntime "next-model" does not exist`,
		false: `TrainingRuntime "next-model" does not exist; there is one in namespace secret, which jobs of other namespaces cannot use`,
	} {
		report := review(t, nil, preflight.Request{Object: object(t, job), Cluster: seen, Admission: admission})
		at := slices.IndexFunc(report.Findings, func(f finding.Finding) bool { return f.Check == "runtime-missing" })
		if at < 0 || report.Findings[at].Message != want {
			t.Errorf("admission %v: %v; want %q", admission, report.Findings, want)
		}
	}
}

// TestAServiceAccountThatWasMadeAMomentAgo: applied with the job, it may be there before the view has seen it.
func TestAServiceAccountThatWasMadeAMomentAgo(t *testing.T) {
	const job = `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train, namespace: ml}
spec: {pytorchReplicaSpecs: {Worker: {replicas: 1, restartPolicy: Never, template: {spec: {serviceAccountName: trainer, containers: [{name: pytorch, image: "a:1", command: [torchrun], resources: {limits: {cpu: 1, memory: 1Gi}}}]}}}}}
`
	var complete []schema.GroupResource
	for _, name := range []string{"nodes", "pods", "namespaces", "serviceaccounts"} {
		complete = append(complete, schema.ParseGroupResource(name))
	}
	var objects []*unstructured.Unstructured
	for _, text := range []string{
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: ml}\n",
		"apiVersion: v1\nkind: Node\nmetadata: {name: n-0}\nstatus: {allocatable: {cpu: 8, memory: 32Gi, pods: 110}, conditions: [{type: Ready, status: \"True\"}]}\n",
	} {
		objects = append(objects, object(t, text))
	}
	view := manifest.View{Complete: complete, Objects: objects, Taken: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	seen, err := view.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	for admission, want := range map[bool]string{
		true:  `Worker needs ServiceAccount "trainer", which is not yet in namespace ml`,
		false: `Worker needs ServiceAccount "trainer", which does not exist in namespace ml`,
	} {
		report := review(t, nil, preflight.Request{Object: object(t, job), Cluster: seen, Admission: admission})
		for _, f := range report.Findings {
			if strings.Contains(f.Message, "ServiceAccount") && f.Message != want || admission && strings.Contains(f.Message, "does not exist") {
				t.Errorf("admission %v: %q; want %q", admission, f.Message, want)
			}
		}
		if !slices.ContainsFunc(report.Findings, func(f finding.Finding) bool { return f.Message == want }) {
			t.Errorf("admission %v: %v; want %q", admission, report.Findings, want)
		}
	}
}

// TestANamespaceThatWasMadeAMomentAgo: the API server looks whether the namespace is there before it asks, so a view that has not
// seen it yet is behind. A shell's view was read just now.
func TestANamespaceThatWasMadeAMomentAgo(t *testing.T) {
	const job = `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train, namespace: ml}
spec: {pytorchReplicaSpecs: {Worker: {replicas: 2, restartPolicy: Never, template: {spec: {containers: [{name: pytorch, image: "a:1", command: [torchrun], resources: {limits: {cpu: 1, memory: 1Gi}}}]}}}}}
`
	var complete []schema.GroupResource
	for _, name := range []string{"nodes", "pods", "namespaces"} {
		complete = append(complete, schema.ParseGroupResource(name))
	}
	node := object(t, `apiVersion: v1
kind: Node
metadata: {name: n-0}
status: {allocatable: {cpu: 8, memory: 32Gi, pods: 110}, conditions: [{type: Ready, status: "True"}]}
`)
	view := manifest.View{Complete: complete, Objects: []*unstructured.Unstructured{node}, Taken: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	seen, err := view.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	for admission, want := range map[bool]bool{true: false, false: true} {
		report := review(t, nil, preflight.Request{Object: object(t, job), Cluster: seen, Admission: admission})
		said := slices.ContainsFunc(report.Findings, func(f finding.Finding) bool { return strings.Contains(f.Message, "does not exist") })
		if said != want {
			t.Errorf("admission %v: %v; that the namespace does not exist is to be said: %v", admission, report.Findings, want)
		}
	}
}
