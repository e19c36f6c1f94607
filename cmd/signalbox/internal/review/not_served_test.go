package review

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/dryrun"
)

// A job of a kind that the cluster does not serve cannot be created, however much room there is.
func TestAKindThatIsNotServedDoesNotFit(t *testing.T) {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": map[string]any{"namespace": "ml", "name": "tune"}}}
	asked := func(err error) *World { return &World{questions: []*question{{o, &dryrun.Heard{Err: err}}}} }
	for name, err := range map[string]error{
		"nothing is wrong": nil, "another object is not there": apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "ml"), "no answer": errors.New("timeout"),
	} {
		if f, ok := asked(err).notServed(o); ok {
			t.Errorf("%s: %+v", name, f)
		}
	}
	f, ok := asked(apierrors.NewGenericServerResponse(404, "create", schema.GroupResource{}, "", "", 0, false)).notServed(o)
	if !ok {
		t.Fatal("the kind is taken to be served")
	}
	if f.Check != dryrun.Check || f.Path != "kind" {
		t.Errorf("%+v does not say so", f)
	}
}
