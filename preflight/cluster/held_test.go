package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// What is held packed is handed out as it was written; what cannot be read, or is of a kind of which there are few, is
// not packed.
func TestAnObjectIsHandedOutAsItWasWritten(t *testing.T) {
	for name, tc := range map[string]struct {
		text   string
		packed bool
	}{
		"a claim":          {"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, namespace: ml, resourceVersion: '7', labels: {a: <b>&}}\nspec: {volumeName: v, resources: {requests: {storage: 1073741824}}}", true},
		"a slice":          {"apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\nspec: {driver: d, nodeName: node-1, pool: {name: node-1, generation: 1, resourceSliceCount: 1}, devices: [{name: g}]}", true},
		"a broken claim":   {"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, namespace: ml}\nspec: {volumeName: [7]}", false},
		"a class":          {"apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast}\nprovisioner: p", false},
		"nobody reads it":  {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: ml}\ndata: {a: b}", false},
		"of another group": {"apiVersion: example.com/v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, namespace: ml}", false},
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
			if (held.packed != nil) != tc.packed || (held.whole == nil) != tc.packed {
				t.Errorf("packed: %t", held.packed != nil)
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
			if diff := cmp.Diff(asJSON(want), asJSON(got.Raw())); diff != "" {
				t.Error(diff)
			}
			if meta := held.GetObjectMeta(); meta.GetName() != u.GetName() || meta.GetNamespace() != u.GetNamespace() || meta.GetResourceVersion() != u.GetResourceVersion() {
				t.Errorf("the informer is told %v", meta)
			}
			l.ForgetObject(held)
			if _, there := l.objects.kinds[u.GroupVersionKind().GroupKind()].Get(held.name); there {
				t.Error("it stays")
			}
		})
	}
}
