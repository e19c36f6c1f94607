package collect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// Resolve reads "KIND/NAME" as kubectl would: any casing, singular or plural, with or without
// group ("pytorchjobs.kubeflow.org/x") and version ("mpijob.v2beta1.kubeflow.org/x").
func Resolve(all []*kinds.Kind, arg string) (*kinds.Kind, string, error) {
	word, name, ok := strings.Cut(arg, "/")
	if !ok || word == "" || name == "" || strings.Contains(name, "/") {
		return nil, "", fmt.Errorf("read %q: expected KIND/NAME, for example pytorchjob/train", arg)
	}
	word, group, _ := strings.Cut(strings.ToLower(word), ".")
	for _, k := range all {
		if word != strings.ToLower(k.API()) && word != k.Resource {
			continue
		}
		if group == "" || slices.ContainsFunc(k.GVKs, func(gvk schema.GroupVersionKind) bool {
			return group == gvk.Group || group == gvk.Version+"."+gvk.Group
		}) {
			return k, name, nil
		}
	}
	var known []string
	for _, k := range all {
		known = append(known, strings.ToLower(k.Name))
	}
	return nil, "", fmt.Errorf("read %q: no such kind of job; known are %s", arg, strings.Join(known, ", "))
}

// Find reads the job object in the version that the cluster serves. A job that is not there is
// a NotFound of the API.
func (c *Cluster) Find(ctx context.Context, k *kinds.Kind, namespace, name string) (*unstructured.Unstructured, error) {
	mapping, err := c.Served(k)
	if err != nil {
		return nil, err
	}
	u, err := c.Dynamic.Resource(mapping.Resource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("find %s %s in namespace %s: %w", k.Name, name, namespace, err)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s/%s: %w", k.Name, namespace, name, err)
	}
	return u, nil
}

// Served is the first version of the kind, in the reader's order, that the cluster serves.
func (c *Cluster) Served(k *kinds.Kind) (*meta.RESTMapping, error) {
	return Served(c.Mapper, k)
}

// Served is the first version of the kind, in the reader's order, that the mapper knows.
func Served(mapper meta.RESTMapper, k *kinds.Kind) (*meta.RESTMapping, error) {
	var last error
	for _, gvk := range k.GVKs {
		m, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		if err == nil {
			return m, nil
		}
		last = err
	}
	if !meta.IsNoMatchError(last) { // no server answered
		return nil, fmt.Errorf("find kind %s: %w", k.Name, last)
	}
	return nil, fmt.Errorf("find kind %s: the cluster does not serve it: %w", k.Name, last)
}
