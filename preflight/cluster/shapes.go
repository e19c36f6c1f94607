package cluster

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Where T9k keeps the profiles that queues name in spec.resourceShapeProfile (the manual of its administrators,
// "Resource shape profiles": ConfigMap t9k-system/resource-shapes, key config.yaml).
const (
	ShapesNamespace = "t9k-system"
	ShapesName      = "resource-shapes"
	shapesKey       = "config.yaml"
)

// shapes are the profiles, by their order.
type shapes struct {
	Profiles []struct {
		Name  string  `json:"name"`
		Rules []Shape `json:"rules"`
	} `json:"profiles"`
}

// Shape is the most that an object of some resources may ask for.
type Shape struct {
	APIGroups []string                    `json:"apiGroups"`
	Resources []string                    `json:"resources"`
	Shape     corev1.ResourceRequirements `json:"resourceShape"`
}

// Bounds says that the shape is one of a resource.
func (s *Shape) Bounds(r schema.GroupResource) bool {
	in := func(list []string, word string) bool {
		return slices.Contains(list, "*") || slices.Contains(list, word)
	}
	return in(s.APIGroups, r.Group) && in(s.Resources, r.Resource)
}

// readShapes reads the one ConfigMap that holds shapes; no other is looked into.
func readShapes(o *unstructured.Unstructured) (any, error) {
	if o.GetNamespace() != ShapesNamespace || o.GetName() != ShapesName {
		return nil, nil
	}
	text, _, _ := unstructured.NestedString(o.Object, "data", shapesKey)
	var written map[string]any
	if err := yaml.Unmarshal([]byte(text), &written); err != nil {
		return nil, fmt.Errorf("read ConfigMap %s/%s: %s is not YAML: %w", ShapesNamespace, ShapesName, shapesKey, err)
	}
	inner := &unstructured.Unstructured{Object: map[string]any{"kind": "ConfigMap", "metadata": map[string]any{"namespace": ShapesNamespace, "name": ShapesName}, "profiles": written["profiles"]}}
	into := &shapes{}
	if err := decode(inner, into); err != nil {
		return nil, err
	}
	return into, nil
}

// ShapesOf are the shapes of a profile. A profile that does not exist has none, and bounds nothing. Where the
// profiles are not in the view, or cannot be read, why says so.
func (s *Snapshot) ShapesOf(profile string) (of []Shape, why string) {
	o, presence := s.find(configMap.WithVersion("v1"), ShapesNamespace, ShapesName)
	if presence != job.Present {
		return nil, "ConfigMap " + ShapesNamespace + "/" + ShapesName + " was not read"
	}
	read, ok := o.read.(*shapes)
	if !ok {
		return nil, fmt.Sprint(o.err)
	}
	for _, p := range read.Profiles {
		if p.Name == profile {
			return p.Rules, ""
		}
	}
	return nil, ""
}
