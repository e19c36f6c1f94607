package fit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/job"
	read "github.com/signalbox-dev/signalbox/preflight/manifest"
	"github.com/signalbox-dev/signalbox/test/build"
)

const nodePodAndClaim = `
apiVersion: v1
kind: Node
metadata: {name: a}
status:
  allocatable: {cpu: 95500m, memory: 1Ti, nvidia.com/gpu: "8", pods: "110"}
  conditions: [{type: Ready, status: "True"}]
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: ml}
spec: {nodeName: a, containers: [{name: c, image: i, resources: {requests: {nvidia.com/gpu: "4"}}}]}
status: {phase: Running}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: ml}
`

// viewOf is a snapshot of objects as they are printed; whole are resources of which it holds all.
func viewOf(t *testing.T, text string, whole ...string) (*cluster.Snapshot, error) {
	t.Helper()
	v := read.View{Objects: objects(t, text), Taken: build.Taken}
	for _, r := range whole {
		v.Complete = append(v.Complete, schema.ParseGroupResource(r))
	}
	return v.Snapshot()
}

func TestASnapshotFromWhatKubectlPrints(t *testing.T) {
	s, err := viewOf(t, nodePodAndClaim)
	if err != nil {
		t.Fatal(err)
	}
	n := s.Nodes()[0]
	if n.Free(build.GPU) != 4 || n.Free("cpu") != 95500 || !n.Ready {
		t.Errorf("node a has %d GPUs and %d milli-CPU free, ready %t; want 4, 95500, true", n.Free(build.GPU), n.Free("cpu"), n.Ready)
	}
	got := whatif.Answer(t.Context(), s, gpus(1, "4"))
	if got.Verdict != fit.Fits {
		t.Errorf("Fit says %s", got)
	}
	want := []string{"all pods of the snapshot are in namespace ml; pods of others are not counted"}
	if diff := cmp.Diff(want, got.Assumed); diff != "" {
		t.Errorf("Assumed (-want +got):\n%s", diff)
	}
}

func TestWhatASnapshotLacksIsUnknownUnlessItHoldsTheKindWhole(t *testing.T) {
	claim := schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
	class := schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"}
	runtime := schema.GroupVersionKind{Group: "trainer.kubeflow.org", Version: "v1alpha1", Kind: "ClusterTrainingRuntime"}
	part, err := viewOf(t, nodePodAndClaim)
	if err != nil {
		t.Fatal(err)
	}
	all, err := viewOf(t, nodePodAndClaim, "pods", "persistentvolumeclaims", "priorityclasses.scheduling.k8s.io", "clustertrainingruntimes.trainer.kubeflow.org")
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		gvk             schema.GroupVersionKind
		namespace, name string
		part, whole     job.Presence
	}{
		{claim, "ml", "data", job.Present, job.Present},
		{claim, "ml", "other", job.Unknown, job.Absent},
		{claim, "other", "data", job.Unknown, job.Absent},
		{claim.GroupKind().WithVersion("v2"), "ml", "data", job.Unknown, job.Unknown},
		{class, "", "high", job.Unknown, job.Absent},
		{runtime, "", "torch", job.Unknown, job.Absent},
		{schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, "ml", "s", job.Unknown, job.Unknown},
	}
	for _, tc := range cases {
		t.Run(fmt.Sprint(tc.gvk.Kind, " ", tc.namespace, "/", tc.name), func(t *testing.T) {
			if _, got := part.Lookup(tc.gvk, tc.namespace, tc.name); got != tc.part {
				t.Errorf("without a word on completeness it is %v, want %v", got, tc.part)
			}
			if _, got := all.Lookup(tc.gvk, tc.namespace, tc.name); got != tc.whole {
				t.Errorf("where the kind is whole it is %v, want %v", got, tc.whole)
			}
		})
	}
	if found, whole := all.Objects(claim.GroupKind(), "ml"); len(found) != 1 || !whole {
		t.Errorf("Objects finds %d claims, whole %t; want 1, true", len(found), whole)
	}
	if got := whatif.Answer(t.Context(), all, gpus(1, "4")); len(got.Assumed) > 0 {
		t.Errorf("pods are whole, and still %q is assumed", got.Assumed)
	}
}

func TestAnObjectThatCannotBeReadIsNamedWithItsField(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"a quantity that is none": {
			"{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: lots}}}",
			`read Node a: status.allocatable.cpu is "lots"; expected a quantity such as 8, 500m or 64Gi`,
		},
		"a quantity deep in a pod": {
			"{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ml}, spec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: x}}}]}}",
			`read Pod ml/p: spec.containers[0].resources.requests["nvidia.com/gpu"] is "x"; expected a quantity such as 8, 500m or 64Gi`,
		},
		"a type that is another": {"{apiVersion: v1, kind: Node, metadata: {name: a}, spec: {unschedulable: maybe}}", "read Node a: "},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := viewOf(t, tc.text); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("the error is %v; want one that begins with %q", err, tc.want)
			}
		})
	}
}

func TestANodeWrittenByHandIsTakenAtItsWord(t *testing.T) {
	s, err := viewOf(t, `{apiVersion: v1, kind: Node, metadata: {name: a}, status: {capacity: {nvidia.com/gpu: 8}}}`, "pods")
	if err != nil {
		t.Fatal(err)
	}
	got := whatif.Answer(t.Context(), s, gpus(1, "8"))
	if got.Verdict != fit.Fits || len(got.Assumed) != 1 || got.Assumed[0] != "1 node says nothing about health; counted as ready" {
		t.Errorf("Fit says %s, assumed %q; want fits, and that the node does not say whether it is ready", got, got.Assumed)
	}
}

func TestALedgerThatChangedEqualsAFreshOne(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 9))
		w := newWorld(r, 6, 3)
		var kept cluster.Store
		for _, n := range w.nodes {
			kept.SetNode(n)
		}
		for step := range 12 {
			p := build.Pod(fmt.Sprint("p", r.IntN(4)), build.On(w.nodes[r.IntN(len(w.nodes))].Name), build.Asks(fmt.Sprint(r.IntN(6))))
			switch r.IntN(4) {
			case 0:
				kept.DropPod(p.Namespace, p.Name)
				w.pods = without(w.pods, p.Name)
			case 1:
				kept.Snapshot(build.Taken, "")
			default:
				kept.SetPod(p)
				w.pods = append(without(w.pods, p.Name), p)
			}
			if step == 0 { // what newWorld put there
				for _, p := range w.pods {
					kept.SetPod(p)
				}
			}
		}
		kept.SetComplete(schema.GroupResource{Resource: "pods"}, true)
		want, got := whatif.Answer(t.Context(), w.snapshot(), w.gang), whatif.Answer(t.Context(), kept.Snapshot(build.Taken, ""), w.gang)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: Fit (-fresh +kept):\n%s", seed, diff)
		}
	}
}

func without(pods []*corev1.Pod, name string) []*corev1.Pod {
	var out []*corev1.Pod
	for _, p := range pods {
		if p.Name != name {
			out = append(out, p)
		}
	}
	return out
}

func TestASnapshotDoesNotChangeWithItsLedger(t *testing.T) {
	var l cluster.Store
	l.SetNode(build.Node("a", build.GPUs(8)))
	l.SetComplete(schema.GroupResource{Resource: "pods"}, true)
	claim := schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
	before := l.Snapshot(build.Taken, "")
	l.SetPod(build.Pod("p", build.On("a"), build.Asks("8")))
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(claim)
	u.SetNamespace("ml")
	u.SetName("data")
	l.SetObject(u)
	l.SetComplete(schema.GroupResource{Resource: "persistentvolumeclaims"}, true)
	after := l.Snapshot(build.Taken, "")
	l.DropNode("a")
	l.DropKind(claim.GroupKind())
	if whatif.Answer(t.Context(), before, gpus(1, "8")).Verdict != fit.Fits || whatif.Answer(t.Context(), after, gpus(1, "8")).Verdict != fit.Full {
		t.Error("a snapshot changed after it was taken: its nodes")
	}
	_, was := before.Lookup(claim, "ml", "data")
	_, is := after.Lookup(claim, "ml", "data")
	if was != job.Unknown || is != job.Present {
		t.Errorf("a snapshot changed after it was taken: the claim was %v and is %v; want unknown, present", was, is)
	}
}

// What a claim leads to and the view does not hold makes no yes.
func TestAClaimWhoseVolumeOrClassWasNotReadIsUnknown(t *testing.T) {
	const node = "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: 8, memory: 64Gi, pods: 110, nvidia.com/gpu: 8}, conditions: [{type: Ready, status: 'True'}]}\n---\n"
	const claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: ml, annotations: {pv.kubernetes.io/bind-completed: 'yes'}}\nspec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}, "
	g := in("ml", gangOf(group("Worker", 1, build.Asks("8"), build.Spec(func(s *corev1.PodSpec) {
		s.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	}))))
	for name, tc := range map[string]struct{ objects, want string }{
		"its volume": {claim + "volumeName: pv}\nstatus: {phase: Bound}\n", "the volume pv of the claim data was not read; it may bind Worker to some nodes"},
		"its class":  {claim + "storageClassName: fast}\nstatus: {phase: Pending}\n", "the claim data is not bound yet, and its class was not read; its volume may bind Worker to some nodes"},
		"the volumes of its class": {
			claim + "storageClassName: local}\nstatus: {phase: Pending}\n---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: local}\nprovisioner: kubernetes.io/no-provisioner\nvolumeBindingMode: WaitForFirstConsumer\n",
			"volumes of the class local were not read; the claim data may bind its pods to some nodes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := viewOf(t, node+tc.objects, "pods")
			if err != nil {
				t.Fatal(err)
			}
			if got := whatif.Answer(t.Context(), s, g); got.Verdict != fit.Unknown || !slices.Contains(got.Assumed, tc.want) {
				t.Errorf("Fit says %s, assumed %q; want unknown and %q", got.Verdict, got.Assumed, tc.want)
			}
		})
	}
}
