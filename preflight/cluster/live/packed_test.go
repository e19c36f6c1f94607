package live

import (
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A job is shown as it was read, also when nothing but its text is left; and what is done to a copy is done to nothing else.
func TestAPackedJobIsShownAsItWasRead(t *testing.T) {
	read := func() *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON([]byte(`{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"namespace":"ml","name":"train","uid":"u","resourceVersion":"7","labels":{"team":"speech"}},"spec":{"replicas":9007199254740993,"share":0.5},"status":{"conditions":[{"type":"Created"}]}}`)); err != nil {
			t.Fatal(err)
		}
		return u
	}
	want := read()
	job, err := Pack(read())
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{"at first", "when it was collected"} {
		if diff := cmp.Diff(want.Object, job.Object().Object); diff != "" {
			t.Errorf("%s (-want +got):\n%s", state, diff)
		}
		o, err := meta.Accessor(job)
		if err != nil || o.GetNamespace() != "ml" || o.GetName() != "train" || o.GetResourceVersion() != "7" || o.GetLabels()["team"] != "speech" {
			t.Errorf("%s, the cache sees %v, %v", state, o, err)
		}
		copied := job.DeepCopyObject().(*unstructured.Unstructured)
		copied.SetLabels(nil)
		if diff := cmp.Diff(want.Object, job.Object().Object); diff != "" {
			t.Errorf("%s, a change of a copy shows (-want +got):\n%s", state, diff)
		}
		for range 3 {
			runtime.GC()
		}
	}
	if job.decoded.Value() != nil {
		t.Error("what was decoded is held")
	}
	runtime.KeepAlive(job)
}
