package input

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestKindsOfAProjectAreNotKubernetesOwn(t *testing.T) {
	cases := map[string]bool{
		"":                          true,
		"batch":                     true,
		"rbac.authorization.k8s.io": true,
		"resource.k8s.io":           true,
		"kueue.x-k8s.io":            false,
		"jobset.sigs.k8s.io":        false,
		"kubeflow.org":              false,
	}
	for group, want := range cases {
		if got := builtIn(schema.GroupVersionKind{Group: group, Version: "v1", Kind: "X"}); got != want {
			t.Errorf("builtIn(%q): got %t, want %t", group, got, want)
		}
	}
	gvk := schema.GroupVersionKind{Group: "jobset.sigs.k8s.io", Version: "v1alpha2", Kind: "JobSet"}
	if got, want := notCovered(gvk), "covered is JobSet of jobset.x-k8s.io/v1alpha2"; !strings.Contains(got, want) {
		t.Errorf("notCovered: got %q, want it to say %q", got, want)
	}
}
