package snapshot

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	runtimeobject "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	with "github.com/signalbox-dev/signalbox/test/build"
)

// plainObject is an object as the API server hands it out.
func plainObject(t testing.TB, o any, kind string) *unstructured.Unstructured {
	t.Helper()
	fields, err := runtimeobject.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: fields}
	u.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	return u
}

// bigView is nodes with twenty pods each, as operators make them, trimmed.
func bigView(t testing.TB, nodes int) manifest.View {
	v := manifest.View{Taken: with.Taken, Complete: []schema.GroupResource{{Resource: "nodes"}, {Resource: "pods"}}}
	for i := range nodes {
		n := with.Node(fmt.Sprintf("gpu-%05d", i), with.GPUs(8), with.Label("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB"),
			with.Label("nvidia.com/gpu.count", "8"), with.Label("node.kubernetes.io/instance-type", "a2-ultragpu-8g"),
			with.Label("topology.kubernetes.io/zone", fmt.Sprintf("europe-west4-%c", 'a'+rune(i%3))), with.Label("topology.kubernetes.io/region", "europe-west4"))
		v.Objects = append(v.Objects, apiserver.Trim(plainObject(t, n, "Node")))
	}
	for i := range nodes {
		for j := range 20 {
			p := with.Pod(fmt.Sprintf("train-%05d-worker-%02d", i, j), with.In(fmt.Sprintf("team-%02d", i%50)), with.On(fmt.Sprintf("gpu-%05d", i)),
				with.Requests("cpu=3500m", "memory=12Gi"), with.OwnedBy("PyTorchJob", fmt.Sprintf("train-%05d", i)),
				with.PodLabel("training.kubeflow.org/job-name", fmt.Sprintf("train-%05d", i)), with.PodLabel("training.kubeflow.org/operator-name", "pytorchjob-controller"),
				with.PodLabel("training.kubeflow.org/replica-index", fmt.Sprint(j)), with.PodLabel("training.kubeflow.org/replica-type", "worker"))
			for e := range 12 {
				p.Spec.Containers[0].Env = append(p.Spec.Containers[0].Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", e), Value: "a value of some length, as they are"})
			}
			v.Objects = append(v.Objects, apiserver.Trim(plainObject(t, p, "Pod")))
		}
	}
	return v
}

func TestASnapshotIsReadBackAsItWasWritten(t *testing.T) {
	want := bigView(t, 60) // 1,200 pods: as tables, or plain
	for name, plain := range map[string]bool{"c.json": false, "c.yaml": false, "c.json.gz": true, "c.yaml.gz": false} {
		file := filepath.Join(t.TempDir(), name)
		if err := saveView(nil, file, plain, want); err != nil {
			t.Fatal(err)
		}
		got, err := manifest.ReadView([]string{file}, nil, apiserver.Trim)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(got.Objects)+len(got.Pods) != len(want.Objects) {
			t.Errorf("%s: %d objects and %d pods were read of %d", name, len(got.Objects), len(got.Pods), len(want.Objects))
		}
		if diff := cmp.Diff(mustSnapshot(t, &want).Nodes(), mustSnapshot(t, &got).Nodes(), cmpopts.IgnoreUnexported(cluster.Node{})); diff != "" {
			t.Errorf("%s (-written +read):\n%s", name, diff)
		}
	}
}

// TestASnapshotThatWasCutOffIsAnError cuts files at many places: nowhere may half of a
// cluster pass for a whole one.
func TestASnapshotThatWasCutOffIsAnError(t *testing.T) {
	v := bigView(t, 120) // more than a mebibyte: read object by object
	for _, name := range []string{"c.json", "c.yaml", "c.json.gz", "c.yaml.gz"} {
		file := filepath.Join(t.TempDir(), name)
		if err := saveView(nil, file, true, v); err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(whole) < 1<<20 && !strings.HasSuffix(name, ".gz") {
			t.Fatalf("%s has %d bytes; the test is about files of more than a mebibyte", name, len(whole))
		}
		line := bytes.LastIndexByte(whole[:len(whole)/2], '\n') + 1
		for _, at := range []int{10, len(whole) / 3, line, line - 1, line + 40, len(whole) - 4} {
			if at == line-1 && strings.HasSuffix(name, ".gz") {
				continue
			}
			if err := os.WriteFile(file, whole[:at], 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := manifest.ReadView([]string{file}, nil, apiserver.Trim)
			problem, ok := errors.AsType[*manifest.Problem](err)
			switch {
			case err == nil:
				t.Errorf("%s cut at %d of %d bytes is read as if it were whole", name, at, len(whole))
			case !ok || strings.Contains(problem.Error(), "\n") || len(problem.Error()) > 300:
				t.Errorf("%s cut at %d: %v; want one line that says what is there and what was expected", name, at, err)
			}
		}
	}
}

func TestPseudonymsKeepEveryRelation(t *testing.T) {
	guard := with.Pod("secret-guard", with.In("secret-team"), with.On("secret-node"), with.Asks("1"))
	guard.Labels = map[string]string{"app": "secret-app", "batch.kubernetes.io/job-completion-index": "7", "job-name": "secret-job"}
	if err := json.Unmarshal([]byte(`{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"app":"secret-app"},"matchExpressions":[{"key":"app","operator":"In","values":["secret-app","secret-other"]}]}}]}}`), &guard.Spec.Affinity); err != nil {
		t.Fatal(err)
	}
	daemon := with.Pod("secret-daemon", with.In("secret-team"), with.On("secret-node"), with.OwnedBy("DaemonSet", "secret-set"))
	view := func() *manifest.View {
		return &manifest.View{Objects: []*unstructured.Unstructured{
			apiserver.Trim(plainObject(t, with.Node("secret-node", with.GPUs(8), with.Label("pool", "train")), "Node")),
			apiserver.Trim(plainObject(t, guard, "Pod")), apiserver.Trim(plainObject(t, daemon, "Pod")),
		}}
	}
	text := func(v *manifest.View) string {
		var b bytes.Buffer
		if err := v.Write(&b, manifest.Form{JSON: true}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	a, again, other := view(), view(), view()
	disguise(a, "salt")
	disguise(again, "salt")
	disguise(other, "another")
	if strings.Contains(text(a), "secret") {
		t.Errorf("a name is left in\n%s", text(a))
	}
	if text(a) != text(again) {
		t.Error("the same salt gives other pseudonyms")
	}
	if text(a) == text(other) {
		t.Error("another salt gives the same pseudonyms")
	}
	pod := a.Objects[1]
	node, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
	if node != a.Objects[0].GetName() || a.Objects[0].GetLabels()["kubernetes.io/hostname"] != node || a.Objects[0].GetLabels()["pool"] != "train" {
		t.Errorf("the pod is on %q; the node is called %q, its labels say %v", node, a.Objects[0].GetName(), a.Objects[0].GetLabels())
	}
	terms, _, _ := unstructured.NestedSlice(pod.Object, "spec", "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
	selector, _, _ := unstructured.NestedMap(terms[0].(map[string]any), "labelSelector")
	app := pod.GetLabels()["app"]
	if selector["matchLabels"].(map[string]any)["app"] != app || app == "secret-app" {
		t.Errorf("the pod's label is %q, and its anti-affinity is to %v", app, selector)
	}
	if pod.GetLabels()["batch.kubernetes.io/job-completion-index"] != "7" {
		t.Errorf("the index of the pod is gone: %v", pod.GetLabels())
	}
	before, after := mustSnapshot(t, view()), mustSnapshot(t, a)
	was, is := before.Nodes()[0], after.Nodes()[0]
	if was.Resident("pods") != 1 || is.Resident("pods") != 1 || is.Used(with.GPU) != 1 {
		t.Errorf("with pseudonyms %d pods stay and %d GPUs are used; want what was before: %d, %d",
			is.Resident("pods"), is.Used(with.GPU), was.Resident("pods"), was.Used(with.GPU))
	}
}

// TestASnapshotKeepsWhatNodesDeclare: a pod that needs a feature of its node fits as it does on the cluster.
func TestASnapshotKeepsWhatNodesDeclare(t *testing.T) {
	n := with.Node("secret-node", with.GPUs(8))
	n.Status.DeclaredFeatures = []string{"RestartAllContainersOnContainerExits"}
	v := &manifest.View{Objects: []*unstructured.Unstructured{apiserver.Trim(plainObject(t, n, "Node"))}}
	disguise(v, "salt")
	if got := mustSnapshot(t, v).Nodes()[0].Object().Status.DeclaredFeatures; !slices.Equal(got, n.Status.DeclaredFeatures) {
		t.Errorf("the node declares %v, want %v", got, n.Status.DeclaredFeatures)
	}
}

// TestASnapshotKeepsForWhichNodeAVolumeIsMade: other pods of the claim cannot go elsewhere.
func TestASnapshotKeepsForWhichNodeAVolumeIsMade(t *testing.T) {
	claim := &corev1.PersistentVolumeClaim{}
	claim.Namespace, claim.Name = "secret-team", "data"
	claim.Annotations = map[string]string{"volume.kubernetes.io/selected-node": "secret-node", "volume.beta.kubernetes.io/storage-class": "fast", "note": "secret"}
	v := &manifest.View{Objects: []*unstructured.Unstructured{
		apiserver.Trim(plainObject(t, with.Node("secret-node", with.GPUs(8)), "Node")), apiserver.Trim(plainObject(t, claim, "PersistentVolumeClaim")),
	}}
	disguise(v, "salt")
	want := map[string]string{"volume.kubernetes.io/selected-node": v.Objects[0].GetName(), "volume.beta.kubernetes.io/storage-class": "fast"}
	if diff := cmp.Diff(want, v.Objects[1].GetAnnotations()); diff != "" {
		t.Errorf("annotations of the claim (-want +got):\n%s", diff)
	}
}

// Teams, their namespaces and their nodes are often called alike; what jobs refer to has to
// keep its name then, and everything else must not.
func TestPseudonymsLeaveWhatJobsReferTo(t *testing.T) {
	const text = `
apiVersion: v1
kind: Node
metadata: {name: secret-node, labels: {kubernetes.io/hostname: secret-host, pool: training}}
spec: {taints: [{key: dedicated, value: training, effect: NoSchedule}]}
status: {allocatable: {cpu: 96, nvidia.com/gpu: 8, pods: 110}, conditions: [{type: Ready, status: "True"}]}
---
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: secret-node}, spec: {drivers: []}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: training, labels: {team: secret-team, kubernetes.io/metadata.name: training}}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: secret-account, namespace: training}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: secret-volume, labels: {topology.kubernetes.io/zone: b, owner: secret-owner}}
spec: {nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [secret-host]}, {key: pool, operator: In, values: [training]}]}]}}}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: training}
spec: {namespaceSelector: {matchLabels: {team: secret-team}, matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [training]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta1, kind: ResourceFlavor, metadata: {name: gpus}, spec: {nodeLabels: {pool: training}, nodeTaints: [{key: dedicated, value: training, effect: NoSchedule}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta1, kind: LocalQueue, metadata: {name: secret-queue, namespace: training}, spec: {clusterQueue: training}}
---
{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: secret-group, namespace: training, labels: {app: secret-app}}, spec: {minMember: 2}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: secret-budget, namespace: training}, spec: {selector: {matchLabels: {app: secret-app}}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: cluster-autoscaler-status, namespace: kube-system}}
`
	v := manifest.View{Complete: []schema.GroupResource{{Resource: "nodes"}, {Resource: "pods"}, {Resource: "namespaces"}, {Resource: "serviceaccounts"}, {Group: "kueue.x-k8s.io", Resource: "localqueues"}, {Group: "kueue.x-k8s.io", Resource: "clusterqueues"}}}
	for d, err := range manifest.Read("view", strings.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		v.Objects = append(v.Objects, apiserver.Trim(d.Object))
	}
	disguise(&v, "salt")
	by := map[string]map[string]any{}
	for _, o := range v.Objects {
		by[o.GetKind()] = o.Object
	}
	at := func(kind, path string) any {
		got, err := job.Path(path).Resolve(by[kind])
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	var b bytes.Buffer
	if err := v.Write(&b, manifest.Form{JSON: true}); err != nil || strings.Contains(b.String(), "secret") {
		t.Errorf("a name is left (%v) in\n%s", err, b.String())
	}
	node, host, team, app := at("Node", "metadata.name"), at("Node", `metadata.labels["kubernetes.io/hostname"]`), at("Namespace", "metadata.labels.team"), at("PodGroup", "metadata.labels.app")
	const terms = "spec.nodeAffinity.required.nodeSelectorTerms[0]"
	for _, tc := range []struct {
		kind, path string
		want       any
	}{
		{"Node", "metadata.labels.pool", "training"},
		{"Node", "spec.taints[0].value", "training"},
		{"CSINode", "metadata.name", node},
		{"PersistentVolume", terms + ".matchExpressions[0].values[0]", host},
		{"PersistentVolume", terms + ".matchExpressions[1].values[0]", "training"},
		{"PersistentVolume", `metadata.labels["topology.kubernetes.io/zone"]`, "b"},
		{"ClusterQueue", "metadata.name", "training"},
		{"ClusterQueue", "spec.namespaceSelector.matchLabels.team", team},
		{"ClusterQueue", "spec.namespaceSelector.matchExpressions[0].values[0]", at("Namespace", "metadata.name")},
		{"LocalQueue", "spec.clusterQueue", "training"},
		{"ResourceFlavor", "metadata.name", "gpus"},
		{"ResourceFlavor", "spec.nodeLabels.pool", "training"},
		{"ResourceFlavor", "spec.nodeTaints[0].value", "training"},
		{"PodDisruptionBudget", "spec.selector.matchLabels.app", app},
		{"ConfigMap", "metadata.namespace", "kube-system"},
		{"ConfigMap", "metadata.name", "cluster-autoscaler-status"},
	} {
		if got := at(tc.kind, tc.path); got != tc.want {
			t.Errorf("%s: %s is %v, want %v", tc.kind, tc.path, got, tc.want)
		}
	}
	if at("Namespace", "metadata.name") == "training" {
		t.Error("the namespace has its real name")
	}
	want := []schema.GroupResource{{Resource: "nodes"}, {Resource: "pods"}, {Group: "kueue.x-k8s.io", Resource: "clusterqueues"}}
	if diff := cmp.Diff(want, v.Complete); diff != "" {
		t.Errorf("what is whole (-want +got):\n%s", diff)
	}
}

func TestRuntimesAreKeptWithoutSecrets(t *testing.T) {
	const text = `
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch}
spec:
  template:
    spec:
      containers:
      - name: node
        command: [torchrun, --api-key, hunter22, --nnodes, "2", "--token=abcdefgh12345678"]
        args: [sh, -c, "wandb login && export DB_PASSWORD=hunter22 && git clone https://me:hunter22@host/x"]
        env: [{name: HF_TOKEN, value: hunter22}, {name: KEY, value: hunter22}, {name: DB_PASS, value: hunter22}, {name: NCCL_DEBUG, value: INFO}]
`
	for d, err := range manifest.Read("runtime", strings.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		js, err := json.Marshal(apiserver.Trim(d.Object).Object)
		if err != nil {
			t.Fatal(err)
		}
		got := string(js)
		if strings.Contains(got, "hunter22") || strings.Contains(got, "abcdefgh12345678") {
			t.Errorf("a secret is left in %s", got)
		}
		for _, stays := range []string{"torchrun", "--nnodes", `"2"`, "wandb login", "NCCL_DEBUG", "INFO", "HF_TOKEN"} {
			if !strings.Contains(got, stays) {
				t.Errorf("%s is gone from %s", stays, got)
			}
		}
	}
}

// Of what pods name by its keys the names of the keys stay, and nothing of what is in it.
func TestKeysAreKeptWithoutWhatIsInThem(t *testing.T) {
	for _, text := range []string{
		`{apiVersion: v1, kind: Secret, metadata: {name: hf}, data: {token: aHVudGVyMjI=}, stringData: {other: hunter22}}`,
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: hf}, data: {token: hunter22}, binaryData: {other: aHVudGVyMjI=}}`,
	} {
		for d, err := range manifest.Read("keys", strings.NewReader(text)) {
			if err != nil {
				t.Fatal(err)
			}
			js, err := json.Marshal(apiserver.Trim(d.Object).Object)
			if err != nil {
				t.Fatal(err)
			}
			got := string(js)
			if strings.Contains(got, "hunter22") || strings.Contains(got, "aHVudGVyMjI") {
				t.Errorf("a value is left in %s", got)
			}
			if !strings.Contains(got, `"token":""`) || !strings.Contains(got, `"other":""`) {
				t.Errorf("the keys are gone from %s", got)
			}
		}
	}
	bare := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "hf"}}}
	if out := apiserver.Trim(bare).Object; out["data"] != nil || out["stringData"] != nil {
		t.Errorf("keys that nobody saw are held as none: %v", out)
	}
}

func mustSnapshot(t *testing.T, v *manifest.View) *cluster.Snapshot {
	t.Helper()
	s, err := v.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// FuzzReadView: no file makes the reader panic, and one that is read makes a snapshot or
// an error.
func FuzzReadView(f *testing.F) {
	v := bigView(f, 1)
	for _, form := range []manifest.Form{{}, {JSON: true}} {
		var b bytes.Buffer
		if err := v.Write(&b, form); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		_, _ = z.Write(b.Bytes()) // a buffer
		_ = z.Close()
		f.Add(zipped.Bytes())
		f.Add(zipped.Bytes()[:zipped.Len()/2])
	}
	f.Add([]byte(`{"kind":"List","apiVersion":"v1","metadata":{"annotations":{"signalbox.dev/objects":"-1"}},"items":[]}`))
	f.Add([]byte("apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: -1e99, nvidia.com/gpu: 9e99}}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := manifest.ReadView([]string{"-"}, bytes.NewReader(text), apiserver.Trim)
		if err != nil {
			return
		}
		disguise(&read, "salt")
		s, err := read.Snapshot()
		if err != nil {
			return
		}
		whatif.Answer(t.Context(), s, gang.Gang{Groups: []gang.Group{{Name: "w", Count: 3}}})
	})
}

// TestASnapshotHoldsTheAnnotationsOfNamespaces: policies read them; a long one is left out as in the webhook's view,
// and what is secret is masked.
func TestASnapshotHoldsTheAnnotationsOfNamespaces(t *testing.T) {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	o.SetName("ml")
	o.SetAnnotations(map[string]string{
		"frozen": "yes", "note": "password=hunter22", "most": strings.Repeat("x", 128), "more": strings.Repeat("x", 129),
		corev1.LastAppliedConfigAnnotation: "{}",
	})
	want := map[string]string{"frozen": "yes", "note": "password=[masked]", "most": strings.Repeat("x", 128)}
	if diff := cmp.Diff(want, apiserver.Trim(o).GetAnnotations()); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}
