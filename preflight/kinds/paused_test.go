package kinds_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

func TestAJobWithoutParallelismIsPaused(t *testing.T) {
	for spec, want := range map[string]bool{
		"parallelism: 0, ": true, "parallelism: 1, ": false, "": false, "suspend: true, ": true, "suspend: false, parallelism: 0, ": true,
	} {
		u := &unstructured.Unstructured{}
		text := "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {" + spec + "template: {spec: {containers: [{name: c, image: x}]}}}"
		if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
			t.Fatal(err)
		}
		j, err := kinds.For(u.GroupVersionKind()).Read(u, nil)
		if err != nil || j.Suspended != want {
			t.Errorf("{%s}: paused is %v (%v), want %v", spec, j.Suspended, err, want)
		}
	}
}
