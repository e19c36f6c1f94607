package policies_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xeipuuv/gojsonschema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	"github.com/signalbox-dev/signalbox/test/golden"
)

const contractJob = `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: train
  namespace: ml
  labels: {team: vision, kueue.x-k8s.io/queue-name: team}
  annotations:
    cost-center: "4711"
    kubectl.kubernetes.io/last-applied-configuration: '{"env":"sesame"}'
  managedFields: [{manager: kubectl}]
spec:
  runPolicy: {activeDeadlineSeconds: 3600, backoffLimit: 2}
  elasticPolicy: {minReplicas: 1, maxReplicas: 3}
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      restartPolicy: OnFailure
      template:
        metadata:
          labels: {tier: gold}
          annotations: {kubectl.kubernetes.io/last-applied-configuration: sesame}
        spec:
          hostPID: true
          serviceAccountName: trainer
          nodeSelector: {nvidia.com/gpu.product: H100}
          containers:
          - name: pytorch
            image: registry.example.com/train:1
            command: [python, train.py, --api-key, sesame-0123456789abcdef]
            env:
            - {name: TOKEN, value: sesame}
            - {name: KEY, valueFrom: {secretKeyRef: {name: keys, key: k}}}
            resources: {limits: {nvidia.com/gpu: 8}}
            volumeMounts: [{name: out, mountPath: /out}]
          volumes:
          - {name: out, persistentVolumeClaim: {claimName: results}}
          - {name: etc, hostPath: {path: /etc}}
status: {conditions: [{type: Created}]}
---
apiVersion: v1
kind: Node
metadata: {name: a, labels: {nvidia.com/gpu.product: H100, node.kubernetes.io/instance-type: p5.48xlarge}}
status: {allocatable: {cpu: "96", memory: 1Ti, pods: "110", nvidia.com/gpu: "8"}}
---
apiVersion: v1
kind: Node
metadata: {name: b}
status: {allocatable: {cpu: "96", memory: 1Ti, pods: "110", nvidia.com/gpu: "4"}}
---
apiVersion: v1
kind: Pod
metadata: {name: other, namespace: ml}
spec:
  nodeName: a
  containers: [{name: main, image: a, resources: {requests: {nvidia.com/gpu: 3}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: elsewhere, namespace: web}
spec:
  nodeName: a
  containers: [{name: main, image: a, resources: {requests: {nvidia.com/gpu: 1}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: waits-0, namespace: ml, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: waits, uid: u, controller: true}]}
spec:
  containers: [{name: main, image: a, resources: {requests: {nvidia.com/gpu: 2}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: waits-1, namespace: ml, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: waits, uid: u, controller: true}]}
spec:
  containers: [{name: main, image: a, resources: {requests: {nvidia.com/gpu: 2}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: waits, namespace: web}
spec:
  containers: [{name: main, image: a, resources: {requests: {nvidia.com/gpu: 8}}}]
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: train
  namespace: ml
  uid: before
  creationTimestamp: "2026-12-23T08:00:00Z"
  annotations:
    signalbox.dev/diagnosis: '{"schema":"signalbox.dev/diagnosis/v1","category":"host-oom-killed","observedAt":"2026-12-23T10:00:09Z","root":{"signature":"oom-killed","standing":"proven","owner":"user","retry":"no","line":"token=sesame-0123456789abcdef killed"}}'
spec:
  pytorchReplicaSpecs:
    Worker: {replicas: 2, template: {spec: {containers: [{name: pytorch, image: a, resources: {limits: {nvidia.com/gpu: 8}}}]}}}
status:
  startTime: "2026-12-23T09:00:00Z"
  conditions: [{type: Failed, status: "True", reason: PyTorchJobFailed, lastTransitionTime: "2026-12-23T10:00:00Z"}]
---
apiVersion: v1
kind: Namespace
metadata: {name: ml, annotations: {cost-center: "4711"}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: gpus, namespace: ml}
spec: {hard: {requests.nvidia.com/gpu: "16", pods: "20"}}
status: {hard: {requests.nvidia.com/gpu: "16", pods: "20"}, used: {requests.nvidia.com/gpu: "3", pods: "1"}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: elsewhere, namespace: web}
spec: {hard: {pods: "1"}}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: team, namespace: ml}
spec: {clusterQueue: vision}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: vision}
spec:
  cohort: all
  resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}]}]
status: {flavorsReservation: [{name: h100, resources: [{name: nvidia.com/gpu, total: 6}]}]}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: speech}
spec:
  cohort: all
  resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 4}]}]}]
`

// witness keeps what it is asked.
type witness struct{ seen []preflight.Input }

func (w *witness) InForce() preflight.Policies { return w }
func (w *witness) Revision() string            { return "" }
func (w *witness) ReadsAnnotation(string) bool { return false }
func (w *witness) Unasked(string, preflight.Stage, string) preflight.Ruled {
	return preflight.Ruled{}
}

func (w *witness) Decide(_ context.Context, in preflight.Input, _ preflight.Question) (preflight.Ruled, error) {
	w.seen = append(w.seen, in)
	return preflight.Ruled{}, nil
}

// inputOf is what policies see of a stream of a job and objects of the cluster.
func inputOf(t *testing.T, text string) []byte {
	t.Helper()
	var view manifest.View
	request := preflight.Request{
		Operation: "CREATE", User: "ana", Groups: []string{"vision"}, Namespace: map[string]string{"tier": "x"},
		Now: time.Date(2026, 12, 24, 10, 0, 0, 0, time.FixedZone("CET", 3600)),
	}
	for doc, err := range manifest.Read("job.yaml", strings.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		if request.Object == nil {
			request.Object = doc.Object
			continue
		}
		view.Objects = append(view.Objects, doc.Object)
	}
	var err error
	if request.Cluster, err = view.Snapshot(); err != nil {
		t.Fatal(err)
	}
	w := &witness{}
	if _, err := (&preflight.Reviewer{Policies: w}).Review(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	out, err := json.MarshalIndent(w.seen[len(w.seen)-1], "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

// TestInputIsAContract: the input of one job with everything in it, and its schema, to the byte.
func TestInputIsAContract(t *testing.T) {
	got := inputOf(t, contractJob)
	golden.Equal(t, "testdata/input.golden", got)
	if strings.Contains(string(got), "sesame") {
		t.Error("the value of a variable is in the input")
	}
	schema, err := json.MarshalIndent(policies.InputSchema(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "testdata/input-schema.golden", append(schema, '\n'))
	checked, err := gojsonschema.Validate(gojsonschema.NewBytesLoader(schema), gojsonschema.NewBytesLoader(got))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range checked.Errors() {
		t.Error(e)
	}
}

// TestObjectsAreShownWithoutValues: wherever variables are written.
func TestObjectsAreShownWithoutValues(t *testing.T) {
	cases := map[string]string{
		"a variable":                  `{spec: {env: [{name: A, value: sesame}]}}`,
		"deep below":                  `{spec: {a: [{b: {env: [{name: A, value: sesame}]}}]}}`,
		"an object of variables":      `{spec: {env: {A: sesame}}}`,
		"an env that is neither":      `{spec: {env: sesame}}`,
		"a runtime of Ray":            `{spec: {runtimeEnvYAML: "env_vars: {A: sesame}"}}`,
		"the copy that kubectl keeps": `{metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: sesame}}}`,
		"the same of a template":      `{spec: {template: {metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: sesame}}}}}`,
		"the status":                  `{status: {message: sesame}}`,
		"an option of a command":      `{spec: {command: [train, --hf-token, sesame-0123456789]}}`,
		"the text of a command":       `{spec: {args: ["-c", "curl -H 'Authorization: Bearer sesame-0123456789' a"]}}`,
		"an address":                  `{spec: {args: ["https://ana:sesame-0123@git.example.com/a.git"]}}`,
		"an annotation":               `{metadata: {annotations: {wandb-api-key: sesame-0123456789abcdef}}}`,
		"a label of a template":       `{spec: {template: {metadata: {annotations: {password: sesame-0123456789abcdef}}}}}`,
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			var object map[string]any
			if err := yaml.Unmarshal([]byte(text), &object); err != nil {
				t.Fatal(err)
			}
			before, _ := json.Marshal(object)
			got, err := json.Marshal(preflight.Object{Written: &unstructured.Unstructured{Object: object}})
			if err != nil || strings.Contains(string(got), "sesame") {
				t.Errorf("%s (%v)", got, err)
			}
			if after, _ := json.Marshal(object); string(after) != string(before) {
				t.Errorf("the object itself was changed: %s", after)
			}
		})
	}
}

// TestAnUpdateShowsWhatWasBefore: an update in the same form, and null for what is new.
func TestAnUpdateShowsWhatWasBefore(t *testing.T) {
	job := func(replicas int64) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "a", "namespace": "ml"},
			"spec": map[string]any{"parallelism": replicas, "template": map[string]any{"spec": map[string]any{
				"restartPolicy": "Never",
				"containers":    []any{map[string]any{"name": "a", "image": "a", "env": []any{map[string]any{"name": "A", "value": "sesame"}}}},
			}}},
		}}
	}
	o := load(t, files("a.rego", policy("a", `deny contains sprintf("from %v to %v", [input.old_object.spec.parallelism, input.object.spec.parallelism])`)))
	for old, want := range map[*unstructured.Unstructured]string{job(1): "from 1 to 2", nil: ""} {
		report, err := (&preflight.Reviewer{Policies: o}).Review(t.Context(), preflight.Request{
			Object: job(2), Old: old, Namespace: map[string]string{preflight.ModeLabel: preflight.ModeEnforce}, Operation: "UPDATE",
		})
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		for _, r := range report.Rulings {
			said += r.Message
		}
		if said != want || len(report.Undecided) > 0 {
			t.Errorf("%q, undecided %q; want %q", said, report.Undecided, want)
		}
	}
}

// TestWhatWasNotLookedAtIsUndecided: a rule about quotas, the namespace or pods that wait does not pass
// where they were not seen.
func TestWhatWasNotLookedAtIsUndecided(t *testing.T) {
	const nodes = "\n---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: \"8\", memory: 8Gi, pods: \"110\"}}\n"
	for rule, part := range map[string]string{
		`some q in input.cluster.quotas; q.left < 0`:        "ResourceQuotas",
		`input.request.namespace_annotations.frozen == "y"`: "namespace",
		`input.cluster.pending.jobs > 3`:                    "pods",
	} {
		view := &manifest.View{}
		for doc, err := range manifest.Read("a", strings.NewReader(nodes)) {
			if err != nil {
				t.Fatal(err)
			}
			view.Objects = append(view.Objects, doc.Object)
		}
		snapshot, err := view.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		var job *unstructured.Unstructured
		for doc := range manifest.Read("job.yaml", strings.NewReader(contractJob)) {
			job = doc.Object
			break
		}
		o := load(t, files("a.rego", policy("a", "deny contains \"no\" if { "+rule+" }")))
		report, err := (&preflight.Reviewer{Policies: o}).Review(t.Context(), preflight.Request{Object: job, Cluster: snapshot, Namespace: map[string]string{preflight.ModeLabel: preflight.ModeEnforce}})
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Undecided) != 1 || !strings.Contains(report.Undecided[0], part) {
			t.Errorf("%s: undecided %q; want one about the %s", rule, report.Undecided, part)
		}
	}
}

// TestFewOfWhatNobodyCountedIsUndecided: where no cluster was looked at, a rule about few nodes neither denies nor
// passes, and no exception rests on it.
func TestFewOfWhatNobodyCountedIsUndecided(t *testing.T) {
	for _, fact := range []string{"nodes", "gpus_per_node"} {
		few := "if input.cluster." + fact + " < 100"
		o := load(t, files(
			"a.rego", policy("a", `deny contains "no" `+few),
			"b.rego", policy("b", "deny contains {\"path\": \"spec\", \"msg\": \"no\"} if input.job.pods > 0\nexempt contains {\"path\": \"spec\", \"msg\": \"small\"} "+few),
		))
		job, _ := streamed(t, contractJob[:strings.Index(contractJob, "---")])
		report, err := (&preflight.Reviewer{Policies: o}).Review(t.Context(), preflight.Request{Object: job, Namespace: map[string]string{preflight.ModeLabel: preflight.ModeEnforce}})
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Rulings) != 1 || report.Rulings[0].Policy != "b" || !slices.Contains(report.Undecided, "a: it reads cluster, which is not whole: no cluster was looked at") {
			t.Errorf("%s: rulings %v, undecided %q; want that of b alone, and a undecided", fact, report.Rulings, report.Undecided)
		}
	}
}

// TestQuotasOfAQueueThatWereNotLookedAtAreUndecided: a rule about quotas does not pass where part of the
// job's queue was not seen, and is decided where all of it was.
func TestQuotasOfAQueueThatWereNotLookedAtAreUndecided(t *testing.T) {
	const (
		local  = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: team, namespace: ml}\nspec: {clusterQueue: vision}\n"
		alone  = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: vision}\nspec: {resourceGroups: []}\n"
		shares = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: vision}\nspec: {cohort: all, resourceGroups: []}\n"
		circle = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: Cohort\nmetadata: {name: all}\nspec: {parentName: up}\n" +
			"---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: Cohort\nmetadata: {name: up}\nspec: {parentName: all}\n"
		odd      = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: vision}\nspec: {resourceGroups: 7}\n"
		oddLocal = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: team, namespace: ml}\nspec: 7\n"
		oddQuota = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: a, namespace: ml}\nspec: {hard: {pods: none}}\n"
	)
	cases := map[string]struct {
		objects []string
		lacks   string // resource that was not listed
		want    string // in the reason; empty: it is decided
	}{
		"no quotas":                    {[]string{local, alone}, "resourcequotas", "the ResourceQuotas of the cluster were not looked at"},
		"no local queue":               {nil, "localqueues", "the LocalQueues of the cluster were not looked at"},
		"not all local queues":         {[]string{local, alone}, "localqueues", "the LocalQueues of the cluster were not looked at"},
		"no cluster queue":             {[]string{local}, "clusterqueues", "the ClusterQueues of the cluster were not looked at"},
		"no cohort, of a queue in one": {[]string{local, shares}, "cohorts", "the Cohorts of the cluster were not looked at"},
		"cohorts in a circle":          {[]string{local, shares, circle}, "", "cohorts are below each other"},
		"a cluster queue that is odd":  {[]string{local, odd}, "", "ClusterQueue vision could not be read"},
		"a local queue that is odd":    {[]string{oddLocal, alone}, "", "LocalQueue team could not be read"},
		"a quota that is odd":          {[]string{oddQuota, local, alone}, "", "a ResourceQuota of the namespace could not be read"},
		"a queue without a cohort":     {[]string{local, alone}, "cohorts", ""},
		"a queue in a cohort":          {[]string{local, shares}, "", ""},
		"a queue that is not there":    {nil, "cohorts", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			const node = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: \"8\", memory: 8Gi, pods: \"110\"}}\n"
			job, view := streamed(t, contractJob[:strings.Index(contractJob, "---")], append(tc.objects, node)...)
			for _, r := range []string{"resourcequotas", "localqueues.kueue.x-k8s.io", "clusterqueues.kueue.x-k8s.io", "cohorts.kueue.x-k8s.io"} {
				if tc.lacks == "" || !strings.HasPrefix(r, tc.lacks) {
					view.Complete = append(view.Complete, schema.ParseGroupResource(r))
				}
			}
			snapshot, err := view.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			o := load(t, files("a.rego", policy("a", "deny contains \"no\" if { some q in input.cluster.quotas; q.left < 0 }")))
			report, err := (&preflight.Reviewer{Policies: o}).Review(t.Context(), preflight.Request{Object: job, Cluster: snapshot, Namespace: map[string]string{preflight.ModeLabel: preflight.ModeEnforce}})
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(report.Undecided, "; ")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("undecided %q; want %q", got, tc.want)
			}
		})
	}
}

// streamed reads a job and the objects of its cluster.
func streamed(t *testing.T, texts string, more ...string) (job *unstructured.Unstructured, view *manifest.View) {
	t.Helper()
	view = &manifest.View{}
	for doc, err := range manifest.Read("job.yaml", strings.NewReader(strings.Join(append([]string{texts}, more...), "\n---\n"))) {
		if err != nil {
			t.Fatal(err)
		}
		if job == nil {
			job = doc.Object
			continue
		}
		view.Objects = append(view.Objects, doc.Object)
	}
	return job, view
}

// TestAMisspeltFieldIsAnErrorAtLoad: in every part of the input, with file and line.
func TestAMisspeltFieldIsAnErrorAtLoad(t *testing.T) {
	for _, field := range []string{
		"input.jobs", "input.job.gpu", "input.job.roles[_].gpu", "input.job.roles[_].volumes[_].sort", "input.request.usr", "input.cluster.model",
		"input.cluster.models[_].gpu", "input.findings[_].rule", "input.job.runtime.names",
		"input.cluster.quotas[_].free", "input.cluster.pending.job", "input.cluster.pools[_].gpus", "input.request.namespace_annotation", "input.old",
		"input.earlier.run", "input.earlier.runs[_].cause", "input.earlier.known_to",
		"input.job.roles[_].pod.toleration", "input.job.roles[_].pod.tolerations[_].operater", "input.job.roles[_].pod.containers",
		"input.job.roles[_].containers[_].spec.securityContext.privilegd", "input.job.roles[_].containers[_].spec.env[_].value",
	} {
		_, err := policies.Load(files("a.rego", policy("a", "deny contains \"no\" if "+field+" == \"x\"")))
		if err == nil || !strings.Contains(err.Error(), "a.rego:8: undefined ref: ") {
			t.Errorf("%s: %v; want a.rego:8: undefined ref", field, err)
		}
	}
	if _, err := policies.Load(files("a.rego", policy("a", `deny contains "no" if input.object.spec.whatever.there == "is"`))); err != nil {
		t.Errorf("a field of the object: %v", err)
	}
}

// TestSettingsOfOldStandInConfig: what was written below signalbox is found below config.
func TestSettingsOfOldStandInConfig(t *testing.T) {
	for _, place := range []string{"config", "signalbox"} {
		o := load(t, files("a.rego", policy("a", `deny contains "no" if input.job.gpus > data.config.limit.most`), "x.yaml", place+": {limit: {most: 8}}"))
		want := []preflight.Ruling{{Policy: "a", Effect: preflight.Deny, Message: "no", Remedy: "Do it otherwise."}}
		if diff := cmp.Diff(want, decide(t, o, input("enforce")).Rulings); diff != "" {
			t.Errorf("%s (-want +got):\n%s", place, diff)
		}
	}
}

// TestRunsOfANamespaceThatIsGoneAreNobodys: whoever is given its name later is not denied for them, and reads nothing of them.
func TestRunsOfANamespaceThatIsGoneAreNobodys(t *testing.T) {
	runs := preflight.EarlierOf([]preflight.RunFacts{
		{Name: "theirs", Phase: "failed", Ended: "2026-12-23T09:59:59Z"}, {Name: "ours", Phase: "failed", Ended: "2026-12-23T10:00:01Z"},
	}, 3)
	for made, want := range map[string]string{
		"":                     "ours theirs and 3", // as in a snapshot that does not say
		"2026-12-23T09:00:00Z": "ours theirs and 3",
		"2026-12-23T10:00:00Z": "ours and 0",
		"2026-12-23T11:00:00Z": " and 0",
	} {
		ns := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "ml"}}}
		if made != "" {
			ns.Object["metadata"].(map[string]any)["creationTimestamp"] = made
		}
		var b cluster.Builder
		b.Object(ns)
		job, _ := streamed(t, contractJob[:strings.Index(contractJob, "---")])
		job.SetNamespace("ml")
		o := load(t, files("a.rego", policy("a", `warn contains sprintf("%s and %d", [concat(" ", [r.name | some r in input.earlier.runs]), input.earlier.more])`)))
		report, err := (&preflight.Reviewer{Policies: o}).Review(t.Context(), preflight.Request{Object: job, Earlier: &runs, Cluster: b.Snapshot(time.Now())})
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Rulings) != 1 || report.Rulings[0].Message != want {
			t.Errorf("of a namespace that was made at %q: %+v; want %q", made, report.Rulings, want)
		}
	}
}

// TestEarlierRunsThatWereNotLookedAtAreUndecided: none is no success, and a sum that lacks one is no sum.
func TestEarlierRunsThatWereNotLookedAtAreUndecided(t *testing.T) {
	run := preflight.RunFacts{Name: "before", Phase: "failed", Ended: "2026-12-23T10:00:00Z"}
	whole := preflight.EarlierOf([]preflight.RunFacts{run}, 0)
	const inARow, sum = "input.earlier.failures_in_a_row > 3", "input.earlier.gpu_seconds_failed > 9"
	cases := map[string]struct {
		earlier *preflight.EarlierFacts
		rule    string
		want    string
	}{
		"nobody looked":             {nil, inARow, "earlier runs were not looked at"},
		"a part was looked at":      {&preflight.EarlierFacts{}, inARow, "earlier runs were not looked at"},
		"they are whole":            {&whole, inARow, ""},
		"how long one ran is dark":  {&whole, sum, "how long before held its GPUs is not known"},
		"a rule that reads nothing": {nil, "input.job.gpus > 900", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			job, _ := streamed(t, contractJob[:strings.Index(contractJob, "---")])
			o := load(t, files("a.rego", policy("a", "deny contains \"no\" if "+tc.rule)))
			report, err := (&preflight.Reviewer{Policies: o}).Review(t.Context(), preflight.Request{
				Object: job, Earlier: tc.earlier, Namespace: map[string]string{preflight.ModeLabel: preflight.ModeEnforce},
			})
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(report.Undecided, "; ")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("undecided %q; want %q", got, tc.want)
			}
		})
	}
}
