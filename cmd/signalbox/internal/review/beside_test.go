package review

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// Helm renders objects without a namespace: kubectl and helm put them where they put the job. What has no namespace gets none,
// and what names one keeps it.
func TestWhatNamesNoNamespaceIsBesideTheJob(t *testing.T) {
	object := func(version, kind, namespace string) manifest.Document {
		u := &unstructured.Unstructured{}
		u.SetAPIVersion(version)
		u.SetKind(kind)
		u.SetName("a")
		u.SetNamespace(namespace)
		return manifest.Document{Object: u}
	}
	all := []manifest.Document{
		object("v1", "ConfigMap", ""), object("v1", "ConfigMap", "other"), object("v1", "ServiceAccount", ""),
		object("trainer.kubeflow.org/v1alpha1", "TrainingRuntime", ""), object("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", ""),
		object("v1", "Namespace", ""), object("scheduling.k8s.io/v1", "PriorityClass", ""),
	}
	var v clusterView
	if !v.addAll(all, "ml") || len(v.Objects) != len(all) {
		t.Fatalf("%d of %d objects are there", len(v.Objects), len(all))
	}
	for i, want := range []string{"ml", "other", "ml", "ml", "", "", ""} {
		if got := v.Objects[i].GetNamespace(); got != want {
			t.Errorf("%s is in namespace %q, want %q", v.Objects[i].GetKind(), got, want)
		}
	}
	if all[0].Object.GetNamespace() != "" {
		t.Error("the document itself is changed")
	}
}
