package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

var crdKind = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// InstallCRDs installs the definitions that belong to these parts, and those in more files or folders, and
// returns when the API server serves them. A part that is started brings its own; two may bring the same.
func (c *Cluster) InstallCRDs(ctx context.Context, parts Part, more ...string) error {
	paths := more
	if parts&Kwok != 0 {
		paths = append(paths, filepath.Join(c.bin, "crds", "kwok"))
	}
	for _, o := range operators {
		if parts&o.part != 0 {
			paths = append(paths, filepath.Join(c.bin, "crds", o.name))
		}
	}
	definitions, err := readCRDs(paths)
	if err != nil {
		return fmt.Errorf("read CRDs: %w", err)
	}
	client, err := dynamic.NewForConfig(c.config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.Patience)
	defer cancel()
	g, installing := errgroup.WithContext(ctx)
	for _, d := range definitions {
		g.Go(func() error { return installCRD(installing, client.Resource(crdKind), d) })
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("install CRDs: %w", err)
	}
	// A kind that is established is in the discovery only later, and operators that look in between give up.
	if err := until(ctx, func(context.Context) error { return c.discovered(definitions) }); err != nil {
		return fmt.Errorf("install CRDs: %w", err)
	}
	return nil
}

// discovered asks in both forms in which clients do: the document of one version, which controller-runtime
// reads, and the list of all groups, which others read first.
func (c *Cluster) discovered(definitions []*unstructured.Unstructured) error {
	discovery := c.clientset.Discovery()
	groups, err := discovery.ServerGroups()
	if err != nil {
		return err
	}
	listed := sets.New[string]()
	for _, group := range groups.Groups {
		for _, version := range group.Versions {
			listed.Insert(version.GroupVersion)
		}
	}
	served := map[string]sets.Set[string]{} // plurals, by group and version
	for _, d := range definitions {
		group, _, _ := unstructured.NestedString(d.Object, "spec", "group")
		plural, _, _ := unstructured.NestedString(d.Object, "spec", "names", "plural")
		versions, _, _ := unstructured.NestedSlice(d.Object, "spec", "versions")
		for _, version := range versions {
			v, _ := version.(map[string]any)
			if v["served"] != true {
				continue
			}
			gv := fmt.Sprintf("%s/%v", group, v["name"])
			if !listed.Has(gv) {
				return fmt.Errorf("%s is not in the list of groups yet", gv)
			}
			if served[gv] == nil {
				resources, err := discovery.ServerResourcesForGroupVersion(gv)
				if err != nil {
					return fmt.Errorf("discover %s: %w", gv, err)
				}
				served[gv] = sets.New[string]()
				for _, r := range resources.APIResources {
					served[gv].Insert(r.Name)
				}
			}
			if !served[gv].Has(plural) {
				return fmt.Errorf("%s of %s is not discovered yet", plural, gv)
			}
		}
	}
	return nil
}

// installCRD applies: somebody else may install the same definition at the same time.
func installCRD(ctx context.Context, all dynamic.ResourceInterface, d *unstructured.Unstructured) error {
	if _, err := all.Apply(ctx, d.GetName(), d, metav1.ApplyOptions{FieldManager: "signalbox-test", Force: true}); err != nil {
		return fmt.Errorf("apply %s: %w", d.GetName(), err)
	}
	return until(ctx, func(ctx context.Context) error {
		got, err := all.Get(ctx, d.GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		conditions, _, err := unstructured.NestedSlice(got.Object, "status", "conditions")
		if err != nil {
			return err
		}
		for _, condition := range conditions {
			if c, ok := condition.(map[string]any); ok && c["type"] == "Established" && c["status"] == "True" {
				return nil
			}
		}
		return fmt.Errorf("%s is not served yet", d.GetName())
	})
}

// readCRDs reads files and the YAML files of folders; documents of other kinds are left alone.
func readCRDs(paths []string) ([]*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	for _, path := range paths {
		files := []string{path}
		if stat, err := os.Stat(path); err != nil {
			return nil, err
		} else if stat.IsDir() {
			if files, err = filepath.Glob(filepath.Join(path, "*.yaml")); err != nil {
				return nil, err
			}
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			definitions, err := decodeCRDs(content)
			if err != nil {
				return nil, fmt.Errorf("decode %s: %w", file, err)
			}
			found = append(found, definitions...)
		}
	}
	if len(found) == 0 && len(paths) > 0 {
		return nil, fmt.Errorf("find definitions: none in %s", strings.Join(paths, ", "))
	}
	return found, nil
}

func decodeCRDs(content []byte) ([]*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		var o unstructured.Unstructured
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		if o.GetKind() == "CustomResourceDefinition" {
			found = append(found, &o)
		}
	}
}
