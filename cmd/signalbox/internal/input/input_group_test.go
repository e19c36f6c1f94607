package input

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/manifest"
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

func TestTwoJobsOfOneNameInOneFileAreNoted(t *testing.T) {
	dir := t.TempDir()
	job := func(name string) string {
		return "apiVersion: batch/v1\nkind: Job\nmetadata: {" + name + "}\nspec: {template: {spec: {containers: []}}}\n---\n"
	}
	for file, text := range map[string]string{
		"a.yaml": job("name: train") + job("name: eval") + job("name: train") + job("generateName: x") + job("generateName: x") + job("name: train, namespace: ml"),
		"b.yaml": job("name: train"), // a variant, of which one is applied
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := manifest.Sources([]string{dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	in, err := inputOf(found)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(dir, "a.yaml") + ":11: Job train stands at line 1 as well: applied together, the second is a change of the first"}
	if diff := cmp.Diff(want, in.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	where, note, _ := strings.Cut(want[0], ": ")
	if diff := cmp.Diff(map[string]string{where: note}, in.Twins); diff != "" {
		t.Errorf("notes by job (-want +got):\n%s", diff)
	}
}
