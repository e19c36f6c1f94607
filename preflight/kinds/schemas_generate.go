//go:build ignore

// Command schemas_generate writes schemas.txt: which fields the CRDs of the operators have,
// as far as they decide what the API server keeps of an object. It reads the CRDs of the
// modules named below from the module cache and keeps names only; equal parts, such as the
// pod template that most of them repeat, are written once.
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// sources are the CRDs by kind. Of several versions a field counts as known that any has:
// which one a cluster serves cannot be seen in the object.
var sources = []struct {
	version, kind string
	files         []string // module@version:file
}{
	{"kubeflow.org/v1", "JAXJob", []string{"github.com/kubeflow/training-operator@v1.9.3:manifests/base/crds/kubeflow.org_jaxjobs.yaml"}},
	{"kubeflow.org/v1", "MPIJob", []string{"github.com/kubeflow/training-operator@v1.9.3:manifests/base/crds/kubeflow.org_mpijobs.yaml"}},
	{"kubeflow.org/v1", "PaddleJob", []string{"github.com/kubeflow/training-operator@v1.9.3:manifests/base/crds/kubeflow.org_paddlejobs.yaml"}},
	{"kubeflow.org/v1", "PyTorchJob", []string{"github.com/kubeflow/training-operator@v1.9.3:manifests/base/crds/kubeflow.org_pytorchjobs.yaml"}},
	{"kubeflow.org/v1", "TFJob", []string{"github.com/kubeflow/training-operator@v1.9.3:manifests/base/crds/kubeflow.org_tfjobs.yaml"}},
	{"kubeflow.org/v1", "XGBoostJob", []string{"github.com/kubeflow/training-operator@v1.9.3:manifests/base/crds/kubeflow.org_xgboostjobs.yaml"}},
	{"kubeflow.org/v2beta1", "MPIJob", []string{
		"github.com/kubeflow/mpi-operator@v0.7.0:manifests/base/kubeflow.org_mpijobs.yaml",
		"github.com/kubeflow/mpi-operator@v0.8.0:manifests/base/kubeflow.org_mpijobs.yaml",
	}},
	{"jobset.x-k8s.io/v1alpha2", "JobSet", []string{
		"sigs.k8s.io/jobset@v0.10.1:config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml",
		"sigs.k8s.io/jobset@v0.12.0:config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml",
	}},
	{"leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", []string{
		"sigs.k8s.io/lws@v0.7.0:config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml",
		"sigs.k8s.io/lws@v0.8.0:config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml",
	}},
	{"ray.io/v1", "RayCluster", []string{
		"github.com/ray-project/kuberay/ray-operator@v1.5.1:config/crd/bases/ray.io_rayclusters.yaml",
		"github.com/ray-project/kuberay/ray-operator@v1.6.0:config/crd/bases/ray.io_rayclusters.yaml",
	}},
	{"ray.io/v1", "RayJob", []string{
		"github.com/ray-project/kuberay/ray-operator@v1.5.1:config/crd/bases/ray.io_rayjobs.yaml",
		"github.com/ray-project/kuberay/ray-operator@v1.6.0:config/crd/bases/ray.io_rayjobs.yaml",
	}},
	{"trainer.kubeflow.org/v1alpha1", "TrainJob", []string{
		"github.com/kubeflow/trainer/v2@v2.1.0:manifests/base/crds/trainer.kubeflow.org_trainjobs.yaml",
		"github.com/kubeflow/trainer/v2@v2.3.0:manifests/base/crds/trainer.kubeflow.org_trainjobs.yaml",
	}},
	{"trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", []string{
		"github.com/kubeflow/trainer/v2@v2.1.0:manifests/base/crds/trainer.kubeflow.org_clustertrainingruntimes.yaml",
		"github.com/kubeflow/trainer/v2@v2.3.0:manifests/base/crds/trainer.kubeflow.org_clustertrainingruntimes.yaml",
	}},
	{"trainer.kubeflow.org/v1alpha1", "TrainingRuntime", []string{
		"github.com/kubeflow/trainer/v2@v2.1.0:manifests/base/crds/trainer.kubeflow.org_trainingruntimes.yaml",
		"github.com/kubeflow/trainer/v2@v2.3.0:manifests/base/crds/trainer.kubeflow.org_trainingruntimes.yaml",
	}},
}

// schema is the part of a JSON schema that prunes.
type schema struct {
	Type                 string             `json:"type"`
	Properties           map[string]*schema `json:"properties"`
	AdditionalProperties json.RawMessage    `json:"additionalProperties"`
	Items                *schema            `json:"items"`
	PreserveUnknown      bool               `json:"x-kubernetes-preserve-unknown-fields"`
	EmbeddedResource     bool               `json:"x-kubernetes-embedded-resource"`
}

type definition struct {
	Spec struct {
		Versions []struct {
			Name   string `json:"name"`
			Schema struct {
				OpenAPI *schema `json:"openAPIV3Schema"`
			} `json:"schema"`
		} `json:"versions"`
	} `json:"spec"`
}

// book collects nodes; equal ones are one line.
type book struct {
	lines []string
	at    map[string]int
}

func main() {
	log.SetFlags(0)
	b := &book{at: map[string]int{}}
	var heads []string
	for _, s := range sources {
		var all []*schema
		var from []string
		for _, f := range s.files {
			module, file, _ := strings.Cut(f, ":")
			all = append(all, read(filepath.Join(dir(module), file), s.version[strings.IndexByte(s.version, '/')+1:]))
			name := strings.TrimSuffix(module[:strings.IndexByte(module, '@')], "/v2")
			from = append(from, name[strings.LastIndexByte(name, '/')+1:]+" "+module[strings.IndexByte(module, '@')+1:])
		}
		root := all[0]
		for _, more := range all[1:] {
			root = union(root, more)
		}
		heads = append(heads, fmt.Sprintf("%s %s %s = %s", s.version, s.kind, strings.Join(from, ", "), b.ref(root.Properties["spec"])))
	}
	text := "# Code generated by schemas_generate.go; DO NOT EDIT.\n" + strings.Join(heads, "\n") + "\n\n" + strings.Join(b.lines, "\n") + "\n"
	if err := os.WriteFile("schemas.txt", []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}

// dir is where the module cache has a module.
func dir(module string) string {
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = os.TempDir() // outside of any module
	out, err := cmd.Output()
	var got struct{ Dir, Error string }
	if json.Unmarshal(out, &got) != nil || err != nil || got.Dir == "" {
		log.Fatalf("download %s: %v %s", module, err, got.Error)
	}
	return got.Dir
}

func read(file, version string) *schema {
	text, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	var d definition
	if err := yaml.Unmarshal(text, &d); err != nil {
		log.Fatalf("%s: %v", file, err)
	}
	for _, v := range d.Spec.Versions {
		if v.Name == version {
			return v.Schema.OpenAPI
		}
	}
	log.Fatalf("%s: no version %s", file, version)
	return nil
}

// open says whether any field may stand below.
func (s *schema) open() bool {
	return s == nil || s.PreserveUnknown || s.EmbeddedResource
}

// values is what the values of a map look like; nil where it is no map.
func (s *schema) values() *schema {
	if len(s.AdditionalProperties) == 0 || s.AdditionalProperties[0] != '{' {
		return nil
	}
	v := &schema{}
	if err := json.Unmarshal(s.AdditionalProperties, v); err != nil {
		log.Fatal(err)
	}
	return v
}

// union knows what either does.
func union(a, b *schema) *schema {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	if a.open() || b.open() {
		return &schema{PreserveUnknown: true}
	}
	out := &schema{Type: cmp.Or(a.Type, b.Type), Properties: maps.Clone(a.Properties), Items: union(a.Items, b.Items), AdditionalProperties: a.AdditionalProperties}
	if len(out.AdditionalProperties) == 0 {
		out.AdditionalProperties = b.AdditionalProperties
	}
	for name, s := range b.Properties {
		if out.Properties == nil {
			out.Properties = map[string]*schema{}
		}
		out.Properties[name] = union(out.Properties[name], s)
	}
	return out
}

// ref names a schema: a number is the object on that line, [ a list of, { a map of, and .
// whatever has no fields of its own, or any.
func (b *book) ref(s *schema) string {
	switch {
	case s.open():
		return "."
	case s.Items != nil:
		return prefix("[", b.ref(s.Items))
	case s.values() != nil:
		return prefix("{", b.ref(s.values()))
	case s.Type != "object":
		return "."
	}
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		fields = append(fields, name+":"+b.ref(s.Properties[name]))
	}
	line := strings.Join(fields, " ")
	if _, there := b.at[line]; !there {
		b.at[line] = len(b.lines)
		b.lines = append(b.lines, line)
	}
	return fmt.Sprint(b.at[line])
}

func prefix(of, inner string) string {
	if inner == "." {
		return inner
	}
	return of + inner
}
