package collect

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// The workload of an operator is looked for where the operator leaves a job alone, and nowhere else; a
// bundle tells what was not there.
func TestTheOperatorOfASilentJob(t *testing.T) {
	deployment := func(name string) runtime.Object {
		return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "kubeflow", Name: name, UID: "d"}}
	}
	for name, tc := range map[string]struct {
		objects []runtime.Object
		age     time.Duration
		want    []string // kinds of the objects beside the job
		absent  []string
	}{
		"it is there":      {[]runtime.Object{deployment("training-operator")}, time.Hour, []string{"Deployment"}, []string{"webhook validator.pytorchjob.training-operator.kubeflow.org"}},
		"another is there": {[]runtime.Object{deployment("mpi-operator")}, time.Hour, nil, []string{"Deployment training-operator", "webhook validator.pytorchjob.training-operator.kubeflow.org"}},
		"it is too early":  {nil, time.Second, nil, nil},
		"there is a pod":   {[]runtime.Object{pod("train-master-0", by("kubeflow.org/v1", "PyTorchJob", "train", "job"), map[string]string{"training.kubeflow.org/job-name": "train", "training.kubeflow.org/operator-name": "pytorchjob-controller"})}, time.Hour, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			u := object("kubeflow.org/v1", "PyTorchJob", "train", "job", nil, nil)
			u.SetCreationTimestamp(metav1.NewTime(now.Add(-tc.age)))
			template := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "pytorch", "image": "x"}}}}
			if err := unstructured.SetNestedMap(u.Object, map[string]any{"Master": map[string]any{"template": template}}, "spec", "pytorchReplicaSpecs"); err != nil {
				t.Fatal(err)
			}
			c, err := serving(append(tc.objects, u)...).Case(t.Context(), kind(t, "PyTorchJob"), u)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range c.Objects {
				got = append(got, o.GetKind())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			var bundle bytes.Buffer
			if err := Save(c, &bundle); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "b.tgz")
			if err := os.WriteFile(file, bundle.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			opened, err := Open(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(opened.Absent)
			if diff := cmp.Diff(tc.absent, opened.Absent); diff != "" {
				t.Errorf("absent (-want +got):\n%s", diff)
			}
		})
	}
}
