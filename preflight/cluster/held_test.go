package cluster

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/test/resident"
)

// What is held packed is handed out as it was written; what cannot be read, or is of a kind of which there are few, is
// not packed. Of what is looked at by name alone, and by what was read, nothing else is held.
func TestAnObjectIsHandedOutAsItWasWritten(t *testing.T) {
	for name, tc := range map[string]struct {
		text         string
		packed, lean bool
	}{
		"a claim":          {"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, namespace: ml, resourceVersion: '7', labels: {a: <b>&}}\nspec: {volumeName: v, resources: {requests: {storage: 1073741824}}}", false, true},
		"a slice":          {"apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\nspec: {driver: d, nodeName: node-1, pool: {name: node-1, generation: 1, resourceSliceCount: 1}, devices: [{name: g}]}", false, true},
		"a device claim":   {"apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c, namespace: ml, labels: {a: <b>&}}\nspec: {devices: {requests: [{name: g, exactly: {deviceClassName: gpu}}]}}", true, false},
		"a broken claim":   {"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, namespace: ml}\nspec: {volumeName: [7]}", false, false},
		"a class":          {"apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast}\nprovisioner: p", false, false},
		"nobody reads it":  {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: ml}\ndata: {a: b}", false, false},
		"of another group": {"apiVersion: example.com/v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, namespace: ml}", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := yaml.YAMLToJSON([]byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			u := &unstructured.Unstructured{}
			if err := u.UnmarshalJSON(text); err != nil {
				t.Fatal(err)
			}
			want := u.DeepCopy()
			held := Hold(u)
			if (held.packed != nil) != tc.packed || (held.whole == nil) != (tc.packed || tc.lean) {
				t.Errorf("packed: %t, whole: %t", held.packed != nil, held.whole != nil)
			}
			if tc.lean {
				want = &unstructured.Unstructured{}
				want.SetGroupVersionKind(u.GroupVersionKind())
				want.SetNamespace(u.GetNamespace())
				want.SetName(u.GetName())
			}
			var l Store
			l.KeepObject(held)
			got, there := l.objects.kinds[u.GroupVersionKind().GroupKind()].Get(Name{u.GetNamespace(), u.GetName(), u.GroupVersionKind().Version})
			if !there {
				t.Fatal("it is not in the store")
			}
			asJSON := func(u *unstructured.Unstructured) string {
				text, err := u.MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				return string(text)
			}
			if diff := cmp.Diff(asJSON(want), asJSON(got.raw(u.GroupVersionKind().GroupKind(), held.name))); diff != "" {
				t.Error(diff)
			}
			if meta := held.GetObjectMeta(); meta.GetName() != u.GetName() || meta.GetNamespace() != u.GetNamespace() || meta.GetResourceVersion() != u.GetResourceVersion() {
				t.Errorf("the informer is told %v", meta)
			}
			l.DropObject(held.gvk, held.name.Namespace, held.name.Name)
			if _, there := l.objects.kinds[u.GroupVersionKind().GroupKind()].Get(held.name); there {
				t.Error("it stays")
			}
		})
	}
}

// A cluster of 5,000 nodes has tens of thousands of claims, each with its volume.
func TestAClaimAndItsVolumeTakeLittle(t *testing.T) {
	const pairs, most, mostObjects = 4000, 760, 7 // bytes; held whole, as Go has them, they would be three times as many
	var held Store
	before, objects := resident.Live()
	for i := range pairs {
		for _, text := range []string{
			fmt.Sprintf("{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-%05d, namespace: team-1, uid: 0b5e8c1e-4f0a-4b0e-9c57-0000000%05d}, spec: {volumeName: pv-%05d, storageClassName: fast, accessModes: [ReadWriteOnce], volumeMode: Filesystem, resources: {requests: {storage: 100Gi}}}, status: {phase: Bound, accessModes: [ReadWriteOnce], capacity: {storage: 100Gi}}}", i, i, i),
			fmt.Sprintf("{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv-%05d, uid: 1b5e8c1e-4f0a-4b0e-9c57-0000000%05d}, spec: {capacity: {storage: 100Gi}, accessModes: [ReadWriteOnce], storageClassName: fast, volumeMode: Filesystem, claimRef: {namespace: team-1, name: data-%05d, uid: 0b5e8c1e-4f0a-4b0e-9c57-0000000%05d}, csi: {driver: csi.example.com, volumeHandle: vol-%05d}}, status: {phase: Bound}}", i, i, i, i, i),
		} {
			u := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
				t.Fatal(err)
			}
			held.KeepObject(Hold(u))
		}
	}
	after, more := resident.Live()
	if each := (after - before) / pairs; each > most {
		t.Errorf("a claim and its volume take %d bytes; want %d at most", each, most)
	}
	if each := float64(more-objects) / pairs; each > mostObjects {
		t.Errorf("a claim and its volume are %.1f objects; want %d at most", each, mostObjects)
	}
	t.Logf("a claim and its volume take %d bytes in %.1f objects", (after-before)/pairs, float64(more-objects)/pairs)
	runtime.KeepAlive(&held)
}

// A cluster of 5,000 nodes has a hundred thousand pods, each of which comes with words of its own.
func TestAPodInAStoreTakesLittle(t *testing.T) {
	for each, size := range map[int]struct{ bytes, objects float64 }{20: {300, 3.4}, 1: {740, 13.5}} { // one that is alone has all words alone
		podsTake(t, each, size.bytes, size.objects)
	}
}

func podsTake(t *testing.T, each int, most, mostObjects float64) {
	const pods = 5000
	var held Store
	before, objects := resident.Live()
	for i := range pods {
		yes, job, node := true, fmt.Sprint("train-", i/each), fmt.Sprint("gpu-", i/20)
		held.SetPod(&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: *sharedText(fmt.Sprint("team-", i/each%50)), Name: fmt.Sprintf("%s-worker-%d", job, i%each),
				Labels: map[string]string{
					"training.kubeflow.org/job-name": job, "training.kubeflow.org/operator-name": "pytorchjob-controller",
					"training.kubeflow.org/replica-index": fmt.Sprint(i % each), "training.kubeflow.org/replica-type": "worker", "team": "speech",
				},
				OwnerReferences: []metav1.OwnerReference{{Kind: "PyTorchJob", Name: *sharedText(job), Controller: &yes}},
			},
			Spec: corev1.PodSpec{NodeName: *sharedText(node), Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}}}},
		})
	}
	after, more := resident.Live()
	bytes, many := float64(after-before)/pods, float64(more-objects)/pods
	if bytes > most || many > mostObjects {
		t.Errorf("one of %d pods of a job takes %.0f bytes in %.2f objects; want %.0f in %.2f at most", each, bytes, many, most, mostObjects)
	}
	runtime.KeepAlive(&held)
}
