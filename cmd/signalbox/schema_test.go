package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/xeipuuv/gojsonschema"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// valid fails unless a document has the form that its schema promises.
func valid(t *testing.T, name string, document []byte) {
	t.Helper()
	text, err := schemaText(name)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(text))
	if err != nil {
		t.Fatalf("the schema of %s: %v", name, err)
	}
	result, err := schema.Validate(gojsonschema.NewBytesLoader(document))
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, document)
	}
	for _, e := range result.Errors() {
		t.Errorf("%s: %s", name, e)
	}
}

// TestOutputsKeepTheirSchemas runs the commands themselves on the examples of the repository.
func TestOutputsKeepTheirSchemas(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	const dir = "../../examples/gang-does-not-fit/"
	log := filepath.Join(t.TempDir(), "oom.log")
	if err := os.WriteFile(log, []byte("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		schema string
		args   []string
	}{
		"check":               {"report", []string{"check", dir + "job.yaml", "--snapshot", dir + "cluster.yaml", "-o", "json"}},
		"check of mistakes":   {"report", []string{"check", "../../examples/colossalai-mistakes/job.yaml", "--offline", "-o", "json"}},
		"check of nothing":    {"report", []string{"check", dir + "README.md", "--offline", "-o", "json"}},
		"fit":                 {"report", []string{"fit", dir + "job.yaml", "--snapshot", dir + "cluster.yaml", "-o", "json"}},
		"fit --set":           {"report", []string{"fit", dir + "job.yaml", "--snapshot", dir + "cluster.yaml", "--set", "Worker.replicas=1,2", "-o", "json"}},
		"fit --who":           {"report", []string{"fit", dir + "job.yaml", "--snapshot", dir + "cluster.yaml", "--who", "-o", "json"}},
		"policy check":        {"policy-input", []string{"policy", "check", "-f", dir + "job.yaml", "--snapshot", dir + "cluster.yaml", "--policy", "../../policies/library", "--input"}},
		"audit":               {"audit", []string{"audit", "--snapshot", dir, "-o", "json"}},
		"diagnose":            {"diagnosis", []string{"diagnose", log, "-o", "json"}},
		"diagnose --against":  {"comparison", []string{"diagnose", log, "--against", log, "-o", "json"}},
		"diagnose of nothing": {"diagnosis", []string{"diagnose", "--events", dir + "job.yaml", "-o", "json"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			sh := &shell{name: "signalbox", out: &out, err: &errs, now: time.Now}
			run(t.Context(), sh, tc.args)
			if out.Len() == 0 {
				t.Fatalf("nothing was printed: %s", errs.String())
			}
			valid(t, tc.schema, out.Bytes())
		})
	}
	t.Run("get jobs", func(t *testing.T) {
		var out bytes.Buffer
		o := objectOf(t, sickJob)
		if err := renderJobs(&shell{out: &out}, "json", []jobRow{rowOf(kinds.For(o.GroupVersionKind()), o)}, false, true, painter{}); err != nil {
			t.Fatal(err)
		}
		valid(t, "jobs", out.Bytes())
	})
	t.Run("the configuration in the repository", func(t *testing.T) {
		text, err := os.ReadFile("../../config/config.yaml")
		if err != nil {
			t.Fatal(err)
		}
		document, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		valid(t, "config", document)
	})
}
