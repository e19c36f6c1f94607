package policies

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/policies/plan"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// TestInputsAreWhatTheirJSONSays: with nothing in them, with everything, and with texts that are none.
func TestInputsAreWhatTheirJSONSays(t *testing.T) {
	full := preflight.Input{
		Job: preflight.JobView{
			Name: "a\xffb\xfe\xfd", Labels: map[string]string{"k\xff": "<v>&\u2028"}, GPUs: 1 << 60, Runtime: &preflight.RuntimeView{Kind: "K", Path: "spec.x"},
			Roles: []preflight.RoleView{{Name: "r", Requests: job.Resources{"cpu": -1, "memory": 1 << 40}, Images: []string{}, KeepsFiles: true}, {}},
		},
		Findings: []finding.Finding{{Check: "c", Severity: finding.Error, Path: job.Path("spec"), Message: "m", Facts: []finding.Fact{{Name: "n", Value: int64(7)}, {Name: "s", Value: "x"}, {}}}},
		Object:   preflight.Object{Written: &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"n": int64(3), "f": 1.5}}}},
		Earlier:  preflight.EarlierFacts{Runs: []preflight.RunFacts{{}}},
	}
	full.Cluster.Quotas = []preflight.QuotaFacts{{Kind: "ResourceQuota", Left: 512}}
	for name, in := range map[string]preflight.Input{"empty": {}, "full": full} {
		t.Run(name, func(t *testing.T) {
			want, err := ast.InterfaceToValue(in)
			if err != nil {
				t.Fatal(err)
			}
			got, err := readInput()(&plan.Machine{}, &in).AsOPA()
			if err != nil {
				t.Fatal(err)
			}
			if got.Compare(want) != 0 {
				t.Errorf("%v\nwant %v", got, want)
			}
		})
	}
}

// seen remembers what it was asked.
type seen struct {
	*set
	in *preflight.Input
}

func (s seen) InForce() preflight.Policies { return s }

func (s seen) Decide(_ context.Context, in preflight.Input, _ preflight.Question) (preflight.Ruled, error) {
	*s.in = in
	return preflight.Ruled{}, nil
}

func (seen) Asks(preflight.Stage) bool          { return true }
func (seen) Reads(preflight.Stage, string) bool { return true }

// TestAFieldOfAPodIsThatOfTheWhole: each is read by itself, and is what the whole has under its name.
func TestAFieldOfAPodIsThatOfTheWhole(t *testing.T) {
	const text = `apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: ml}
spec:
  template:
    spec:
      restartPolicy: Never
      nodeSelector: {zone: a}
      tolerations: [{operator: Exists, tolerationSeconds: 3}]
      priority: 7
      hostUsers: false
      securityContext: {runAsUser: 0, sysctls: [{name: a, value: b}]}
      imagePullSecrets: [{name: pull}]
      resources: {limits: {cpu: 1500m}}
      overhead: {cpu: 250m}
      affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: k, operator: In, values: [v]}]}]}}}
      volumes:
      - {name: v, emptyDir: {sizeLimit: 1.5Gi}}
      - name: e
        ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}}}
      initContainers: [{name: first, image: "a:1", env: [{name: A, value: sesame}], restartPolicy: Always}]
      containers:
      - name: main
        image: b:1
        args: [--password, opensesame, --lr=0.1]
        env: [{name: B, value: sesame}, {name: C, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
        ports: [{containerPort: 80}]
        livenessProbe: {httpGet: {port: http, httpHeaders: [{name: Authorization, value: Bearer 9f8a7c6b5d4e3f2a1b0c}]}}
        resources: {limits: {nvidia.com/gpu: "8", memory: 1.5Gi}}
        securityContext: {privileged: true, capabilities: {add: [NET_ADMIN]}}
`
	var job map[string]any
	if err := yaml.Unmarshal([]byte(text), &job); err != nil {
		t.Fatal(err)
	}
	var in preflight.Input
	r := preflight.Reviewer{Policies: seen{&set{}, &in}}
	if _, err := r.Review(t.Context(), preflight.Request{Object: &unstructured.Unstructured{Object: job}}); err != nil || len(in.Job.Roles) != 1 {
		t.Fatalf("%+v, %v", in.Job, err)
	}
	role := &in.Job.Roles[0]
	fields := fieldsAlone(t, plan.InputOf[preflight.Written[corev1.PodSpec]](), &role.Pod)
	for i := range role.Containers {
		fields += fieldsAlone(t, plan.InputOf[preflight.Written[corev1.Container]](), &role.Containers[i].Spec)
	}
	if fields != 24 {
		t.Errorf("%d fields were compared; want 24", fields)
	}
	if whole, err := json.Marshal(in.Job); err != nil || bytes.Contains(whole, []byte("sesame")) || bytes.Contains(whole, []byte("9f8a7c6b5d4e3f2a1b0c")) {
		t.Errorf("%s, %v: it holds a secret", whole, err)
	}
}

// fieldsAlone compares each field by itself with that of the JSON, and says how many there are.
func fieldsAlone[T corev1.PodSpec | corev1.Container](t *testing.T, read func(*plan.Machine, *preflight.Written[T]) *plan.Value, of *preflight.Written[T]) (compared int) {
	t.Helper()
	text, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := ast.ValueFromReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for field := range reflect.TypeFor[T]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		want := whole.(ast.Object).Get(ast.StringTerm(name)) //nolint:forcetypeassert // a struct is one
		got := read(&plan.Machine{}, of).Field(name)
		switch {
		case (want == nil) != (got == nil):
			t.Errorf("%s: it is there: by itself %v, in the whole %v", name, got != nil, want != nil)
		case want != nil:
			compared++
			if value, err := got.AsOPA(); err != nil || value.Compare(want.Value) != 0 {
				t.Errorf("%s is %v, %v; want %v", name, value, err, want)
			}
		}
	}
	return compared
}
