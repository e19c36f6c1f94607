package policies_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// strict is a set that lets no stranger's image, no privilege and no more than eight GPUs pass.
func strict(t *testing.T) *policies.OPA {
	t.Helper()
	o, err := policies.Load(policies.Library(), files("data.yaml", `config:
  host_access: {namespaces: ["*"], paths: [/dev/shm]}
  registries: {default: [registry.example.com/team]}
  gpu_limit: {default: 8}
`))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func reviewStrictly(t *testing.T, o *policies.OPA, object *unstructured.Unstructured) preflight.Report {
	t.Helper()
	r := preflight.Reviewer{Policies: o}
	report, err := r.Review(t.Context(), preflight.Request{Object: object, Namespace: map[string]string{preflight.ModeLabel: preflight.ModeEnforce}})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestMoreGPUsThanPodsName: devices that are asked for in other words than one resource.
func TestMoreGPUsThanPodsName(t *testing.T) {
	const job = `apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: ml}
spec:
  template:
    %s
    spec:
      restartPolicy: Never
      %s
      containers: [{name: main, image: "registry.example.com/team/x:1", resources: {%s}}]
`
	cases := map[string]struct{ meta, pod, container, want string }{
		"eight":                     {container: "limits: {nvidia.com/gpu: 8}"},
		"nine":                      {container: "limits: {nvidia.com/gpu: 9}", want: "denied: the job asks for 9 GPUs (pods: 1); one job in namespace ml may ask for 8"},
		"one, and many slices":      {container: "limits: {nvidia.com/gpu: 1, nvidia.com/mig-1g.5gb: 56}", want: "denied: the job asks for 57 GPUs (pods: 1); one job in namespace ml may ask for 8"},
		"of two vendors":            {container: "limits: {amd.com/gpu: 1, nvidia.com/gpu: 64}", want: "denied: the job asks for 65 GPUs (pods: 1); one job in namespace ml may ask for 8"},
		"memory is no other GPU":    {container: "limits: {nvidia.com/gpu: 8, nvidia.com/gpumem: 8000}"},
		"by claims":                 {pod: "resourceClaims: [{name: gpus, resourceClaimTemplateName: sixty-four}]", container: "claims: [{name: gpus}]", want: "undecided: it reads job.gpus, which is not whole: pod asks for devices by ResourceClaims, which may be GPUs"},
		"by a class":                {container: "limits: {deviceclass.resource.kubernetes.io/gpu.nvidia.com: 64}", want: "undecided: it reads job.gpus, which is not whole: pod asks for devices of a DeviceClass, which may be GPUs"},
		"in an annotation":          {meta: `metadata: {annotations: {hivedscheduler.microsoft.com/pod-scheduling-spec: "leafCellNumber: 64"}}`, container: "limits: {hivedscheduler.microsoft.com/pod-scheduling-enable: 1}", want: "undecided: it reads job.gpus, which is not whole: pod asks for GPUs in an annotation that HiveD reads"},
		"by their cores alone":      {container: "limits: {koordinator.sh/gpu-memory-ratio: 800, koordinator.sh/gpu-core: 800}", want: "undecided: it reads job.gpus, which is not whole: pod asks for koordinator.sh/gpu-core, which may be of several GPUs"},
		"with zeros behind them":    {container: `limits: {nvidia.com/gpu: "9.` + strings.Repeat("0", 80) + `"}`, want: "denied: the job asks for 9 GPUs (pods: 1); one job in namespace ml may ask for 8"},
		"by claims, and denied yet": {pod: "resourceClaims: [{name: gpus, resourceClaimTemplateName: one}]", container: "limits: {nvidia.com/gpu: 9}, claims: [{name: gpus}]", want: "denied: the job asks for 9 GPUs (pods: 1); one job in namespace ml may ask for 8"},
	}
	o := strict(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			report := reviewStrictly(t, o, object(t, fmt.Sprintf(job, tc.meta, tc.pod, tc.container)))
			got := ""
			for _, r := range report.Rulings {
				got += "denied: " + r.Message
			}
			for _, u := range report.Undecided {
				if why, of := strings.CutPrefix(u, "max-gpus-per-job: "); of {
					got += "undecided: " + why
				} else if strings.HasPrefix(u, "image-registry") {
					t.Errorf("a rule about images rests on GPUs: %s", u)
				}
			}
			if got != tc.want {
				t.Errorf("%s\nwant %s", got, tc.want)
			}
		})
	}
}

// TestPodsBesideThoseThatAreWritten: what operators make of words that say the opposite, or something else.
func TestPodsBesideThoseThatAreWritten(t *testing.T) {
	const pods = "template: {spec: {containers: [{name: pytorch, image: \"registry.example.com/team/x:1\", resources: {limits: {nvidia.com/gpu: 1}}}]}}"
	for name, text := range map[string]string{
		"a RayJob that selects a cluster of no name": "{apiVersion: ray.io/v1, kind: RayJob, metadata: {name: j, namespace: ml}, spec: {clusterSelector: {}, submissionMode: HTTPMode, rayClusterSpec: {headGroupSpec: {" + pods + "}, workerGroupSpecs: [{groupName: w, replicas: 15, " + pods + "}]}}}",
		"a roll-out that doubles the groups":         "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: j, namespace: ml}, spec: {replicas: 4, rolloutStrategy: {rollingUpdateConfiguration: {maxSurge: 100%}}, leaderWorkerTemplate: {size: 2, worker" + strings.Replace(pods, "t", "T", 1) + "}}}",
		"a TensorBoard of eight GPUs":                "{apiVersion: batch.tensorstack.dev/v1beta1, kind: PyTorchTrainingJob, metadata: {name: j, namespace: ml}, spec: {tensorboardSpec: {resources: {limits: {nvidia.com/gpu: 1}}}, replicaSpecs: [{type: worker, replicas: 15, " + pods + "}]}}",
		"a role in two spellings":                    "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: j, namespace: ml}, spec: {pytorchReplicaSpecs: {Worker: {replicas: 8, " + pods + "}, worker: {replicas: 8, " + pods + "}}}}",
	} {
		report := reviewStrictly(t, strict(t), object(t, text))
		got := ""
		for _, r := range report.Rulings {
			got += r.Message
		}
		if want := "the job asks for 16 GPUs (pods: 16); one job in namespace ml may ask for 8"; got != want {
			t.Errorf("%s: %s; want %s", name, got, want)
		}
	}
}

// TestALabelCalledEnvIsSeen: the values of variables are left out, and nothing else that bears the name.
func TestALabelCalledEnvIsSeen(t *testing.T) {
	o, err := policies.Load(files("a.rego", `# METADATA
# title: no job for production
# description: x
# custom: {remedy: x}
package signalbox.no_production

deny contains {"path": "spec", "msg": "a pod"} if {
	some role in input.job.roles
	role.pod.nodeSelector.env == "prod"
}

deny contains {"path": "spec", "msg": "the object"} if input.object.spec.template.metadata.labels.env == "prod"

deny contains {"path": "spec", "msg": "what Ray calls so"} if input.object.spec.template.metadata.labels.env_vars == "prod"

deny contains {"path": "spec", "msg": "a variable"} if {
	some c in input.object.spec.template.spec.containers
	some e in c.env
	e.value
}
`))
	if err != nil {
		t.Fatal(err)
	}
	report := reviewStrictly(t, o, object(t, `apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: ml}
spec: {template: {metadata: {labels: {env: prod, env_vars: prod}}, spec: {nodeSelector: {env: prod}, containers: [{name: main, image: x, env: [{name: A, value: secret}]}]}}}
`))
	var got []string
	for _, r := range report.Rulings {
		got = append(got, r.Message)
	}
	if want := []string{"a pod", "the object", "what Ray calls so"}; !slices.Equal(got, want) {
		t.Errorf("denied are %q; want %q", got, want)
	}
}

// TestASurgeIsOfItsModel: a roll-out doubles the groups, and so what they hold of one model.
func TestASurgeIsOfItsModel(t *testing.T) {
	o, err := policies.Load(policies.Library(), files("data.yaml", "config: {namespace_gpus: {ml: {H100: 8}}}"))
	if err != nil {
		t.Fatal(err)
	}
	const job = `apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: j, namespace: ml}
spec:
  replicas: 4
  rolloutStrategy: {rollingUpdateConfiguration: {maxSurge: %s}}
  leaderWorkerTemplate: {size: 2, workerTemplate: {spec: {nodeSelector: {nvidia.com/gpu.product: H100}, containers: [{name: main, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}}
`
	for surge, want := range map[string]string{
		"0":    "",
		"100%": "the job asks for 16 GPUs of model H100, and namespace ml holds 0 already; its share is 8",
	} {
		got := ""
		for _, r := range reviewStrictly(t, o, object(t, fmt.Sprintf(job, surge))).Rulings {
			got += r.Message
		}
		if got != want {
			t.Errorf("surge %s: %q; want %q", surge, got, want)
		}
	}
}

// TestNoOptionHidesACapability: what is masked as the value of an option is seen by no policy.
func TestNoOptionHidesACapability(t *testing.T) {
	o, err := policies.Load(files("a.rego", `# METADATA
# title: no capability of the system
# description: x
# custom: {remedy: x}
package signalbox.no_sys_admin

deny contains {"path": "spec", "msg": "of a container"} if {
	some role in input.job.roles
	some c in role.containers
	"SYS_ADMIN" in c.spec.securityContext.capabilities.add
}

deny contains {"path": "spec", "msg": "of the object"} if {
	some c in input.object.spec.template.spec.containers
	"SYS_ADMIN" in c.securityContext.capabilities.add
}
`))
	if err != nil {
		t.Fatal(err)
	}
	report := reviewStrictly(t, o, object(t, "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: ml}, spec: {template: {spec: {containers: [{name: main, image: x, securityContext: {capabilities: {add: [--token, SYS_ADMIN]}}}]}}}}"))
	if len(report.Rulings) != 2 {
		t.Errorf("denied are %v; want both rules to deny", report.Rulings)
	}
}

// TestARoleOfAnyNameIsSeen: TFJob makes pods of each, known or not, and takes either of two spellings.
func TestARoleOfAnyNameIsSeen(t *testing.T) {
	const job = "apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: j, namespace: ml}\nspec:\n  tfReplicaSpecs:\n    Worker: {template: {spec: {containers: [{name: tensorflow, image: \"registry.example.com/team/x:1\"}]}}}\n    %s: {replicas: 64, template: {spec: {containers: [{name: tensorflow, image: evil/x, resources: {limits: {nvidia.com/gpu: 8}}}]}}}\n"
	for _, role := range []string{"Weird", "worker", "Wroker"} {
		report := reviewStrictly(t, strict(t), object(t, fmt.Sprintf(job, role)))
		var by []string
		for _, r := range report.Rulings {
			by = append(by, r.Policy)
		}
		if !slices.Equal(by, []string{"image-registry", "max-gpus-per-job"}) {
			t.Errorf("%s: denied by %q; want image-registry and max-gpus-per-job", role, by)
		}
	}
}

// TestEveryPlaceOfAJobIsSeen: an image, a privilege and a network of the node are denied wherever a kind takes them:
// each is written into each place of the kinds' own examples, one at a time.
func TestEveryPlaceOfAJobIsSeen(t *testing.T) {
	o, tried := strict(t), 0
	root := filepath.Join("..", "preflight", "kinds", "testdata")
	err := filepath.WalkDir(root, func(file string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".yaml" {
			return err
		}
		text, err := os.Open(file)
		if err != nil {
			return err
		}
		defer text.Close()
		for doc, err := range manifest.Read(file, text) {
			if err != nil || kinds.For(doc.Object.GroupVersionKind()) == nil {
				continue
			}
			doc.Object.SetNamespace("ml")
			for _, e := range evasions(doc.Object.Object["spec"], []any{"spec"}) {
				evaded := doc.Object.DeepCopy()
				at, _ := below(evaded.Object, e.at).(map[string]any)
				e.write(at)
				tried++
				report := reviewStrictly(t, o, evaded)
				denied := strings.HasPrefix(strings.Join(report.Undecided, "\n"), e.policy+":") || strings.Contains(strings.Join(report.Undecided, "\n"), "\n"+e.policy+":")
				for _, r := range report.Rulings {
					denied = denied || r.Policy == e.policy && strings.Contains(r.Message, e.word)
				}
				if where := fmt.Sprint(e.at); !denied && !slices.ContainsFunc(unserved, func(of string) bool { return where+" "+e.word == of }) {
					t.Errorf("%s: %s at %v passes", file, e.word, e.at)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if tried < 300 {
		t.Errorf("%d were tried; want 300 at least", tried)
	}
}

// unserved are fields that the API does not have there, and drops: LeaderWorkerSet v0.9 has no template of its own,
// the override of a container has no image (trainer v2.1 ContainerOverride), a patch of pods no namespaces of the
// node (trainer v2.2 PodSpecPatch), and a TensorBoard no containers.
var unserved = []string{
	"[spec template spec] " + stranger,
	"[spec podTemplateOverrides 0 spec] " + stranger,
	"[spec runtimePatches 0 trainingRuntimeSpec template spec replicatedJobs 0 template spec template spec] hostNetwork",
	"[spec runtimePatches 0 trainingRuntimeSpec template spec replicatedJobs 0 template spec template spec] hostPID",
	"[spec tensorboardSpec] privileged",
}

// evasion is one thing that is written into a place of a job.
type evasion struct {
	at           []any
	policy, word string
	write        func(map[string]any)
}

const stranger = "evil.example.org/x:1"

// evasions are what may be written into a value: into what has an image, and into what has containers.
func evasions(v any, at []any) (out []evasion) {
	switch v := v.(type) {
	case []any:
		for i := range v {
			out = append(out, evasions(v[i], append(slices.Clip(at), i))...)
		}
	case map[string]any:
		if image, ok := v["image"].(string); ok && image != "" {
			out = append(out,
				evasion{at, "image-registry", stranger, func(m map[string]any) { m["image"] = stranger }},
				evasion{at, "no-host-access", "privileged", func(m map[string]any) { m["securityContext"] = map[string]any{"privileged": true} }})
		}
		if _, ok := v["containers"].([]any); ok {
			out = append(out,
				evasion{at, "no-host-access", "hostNetwork", func(m map[string]any) { m["hostNetwork"] = true }},
				evasion{at, "no-host-access", "hostPID", func(m map[string]any) { m["hostPID"] = true }},
				evasion{at, "image-registry", stranger, func(m map[string]any) {
					m["initContainers"] = []any{map[string]any{"name": "first", "image": stranger}}
				}},
				evasion{at, "image-registry", stranger, func(m map[string]any) {
					m["volumes"] = []any{map[string]any{"name": "v", "image": map[string]any{"reference": stranger}}}
				}},
				evasion{at, "no-host-access", "/etc", func(m map[string]any) {
					m["volumes"] = []any{map[string]any{"name": "v", "hostPath": map[string]any{"path": "/etc"}}}
				}})
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, evasions(v[key], append(slices.Clip(at), key))...)
		}
	}
	return out
}

// below is the value at a place.
func below(v any, at []any) any {
	for _, step := range at {
		switch key := step.(type) {
		case int:
			v = v.([]any)[key] //nolint:forcetypeassert // a place that was seen
		case string:
			v = v.(map[string]any)[key] //nolint:forcetypeassert // a place that was seen
		}
	}
	return v
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	job, _ := streamed(t, text)
	return job
}

// TestWhereARuleSaysItIs: a text, or what walk gives.
func TestWhereARuleSaysItIs(t *testing.T) {
	const job = `apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: ml, annotations: {example.com/owner: ana}}
spec:
  template:
    spec:
      restartPolicy: Never
      initContainers: [{name: first, image: "registry.example.com/team/x:1", securityContext: {capabilities: {add: [NET_ADMIN]}}}]
      containers: [{name: main, image: "registry.example.com/team/x:1", env: [{name: A, value: sesame}]}]
      tolerations: [{operator: Exists}]
`
	for rules, want := range map[string]string{
		"deny contains {\"msg\": \"no\", \"path\": path} if {\n\twalk(input.object, [path, c])\n\tc.capabilities.add\n}":                                   "deny spec.template.spec.initContainers[0].securityContext: no",
		"deny contains {\"msg\": \"no\", \"path\": path} if {\n\twalk(input.object, [path, \"ana\"])\n}":                                                   "deny metadata.annotations[\"example.com/owner\"]: no",
		"deny contains {\"msg\": \"no\", \"path\": [1.5]} if input.job.name == \"j\"":                                                                      "undecided a: deny: holds an element whose path is [1.5]; want a text, or a list of keys and positions as walk has it",
		"deny contains {\"msg\": c.name, \"path\": c.path} if {\n\tsome role in input.job.roles\n\tsome c in role.containers\n\tc.spec.securityContext\n}": "deny spec.template.spec.initContainers[0]: first",
		"deny contains {\"msg\": \"no\", \"path\": role.path} if {\n\tsome role in input.job.roles\n\tsome t in role.pod.tolerations\n\tnot t.key\n}":      "deny spec: no",
	} {
		report := reviewStrictly(t, load(t, files("a.rego", policy("a", rules))), object(t, job))
		got := ""
		for _, r := range report.Rulings {
			got += fmt.Sprintf("%s %s: %s", r.Effect, r.Path, r.Message)
		}
		for _, u := range report.Undecided {
			got += "undecided " + u
		}
		if got != want {
			t.Errorf("%s: %s\nwant %s", rules, got, want)
		}
	}
}
