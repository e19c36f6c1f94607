package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/xeipuuv/gojsonschema"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/signatures"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/schema"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
)

// valid fails unless a document has the form that its schema promises.
func valid(t *testing.T, name string, document []byte) {
	t.Helper()
	text, err := schema.Text(name)
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
	t.Setenv("KUBECONFIG", os.DevNull)
	const dir = "../../examples/gang-does-not-fit/"
	log := filepath.Join(t.TempDir(), "oom.log")
	if err := os.WriteFile(log, []byte("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	job := filepath.Join(t.TempDir(), "job.yaml")
	if err := os.WriteFile(job, []byte(listedJob), 0o600); err != nil {
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
		"get jobs":            {"jobs", []string{"get", "jobs", "--snapshot", job, "-o", "json"}},
		"get jobs --group-by": {"job-groups", []string{"get", "jobs", "--snapshot", dir, "--group-by", "namespace", "-o", "json"}},
		"diagnose of nothing": {"diagnosis", []string{"diagnose", "--events", dir + "job.yaml", "-o", "json"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			sh := &shell.Shell{Name: "signalbox", Out: &out, Err: &errs, Now: time.Now}
			run(t.Context(), sh, tc.args)
			if out.Len() == 0 {
				t.Fatalf("nothing was printed: %s", errs.String())
			}
			valid(t, tc.schema, out.Bytes())
		})
	}
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

// schemaOfDocument is the name of the schema that a JSON document says it keeps; empty: of none of ours.
func schemaOfDocument(text []byte) string {
	var d struct {
		Schema string `json:"schema"`
	}
	if json.Unmarshal(text, &d) != nil {
		return ""
	}
	name, ours := strings.CutPrefix(strings.TrimSuffix(d.Schema, "/v1"), "signalbox.dev/")
	if _, unknown := schema.Text(name); !ours || unknown != nil {
		return ""
	}
	return name
}

// TestEveryGoldenDocumentKeepsItsSchema judges each JSON document that the tests of the repository expect, and what
// diagnose says of every bundle there is.
func TestEveryGoldenDocumentKeepsItsSchema(t *testing.T) {
	t.Setenv("SIGNALBOX_RUNBOOKS", "")
	judged := map[string]int{}
	judge := func(at string, text []byte) {
		if name := schemaOfDocument(text); name != "" {
			judged[name]++
			valid(t, name, text)
			if t.Failed() {
				t.Fatal(at)
			}
		}
	}
	var bundles []string
	for _, folder := range []string{"cmd", "examples", "policies", "preflight", "runtime-diagnose", "test", "webhook"} {
		err := filepath.WalkDir("../../"+folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			switch filepath.Ext(path) {
			case ".json", ".golden", ".txtar":
			default:
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if entry.Name() == "bundle.json" && schemaOfDocument(text) == "bundle" {
				bundles = append(bundles, filepath.Dir(path))
			}
			judge(path, text)
			if filepath.Ext(path) == ".txtar" {
				for _, f := range txtar.Parse(text).Files {
					judge(path+" "+f.Name, f.Data)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	catalog, err := signatures.With(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, bundle := range bundles {
		c, err := collect.Open(t.Context(), bundle)
		if err != nil {
			continue // some are broken on purpose
		}
		text, err := diagnose.JSON(diagnose.Diagnose(t.Context(), c, catalog, diagnose.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		judge(bundle, text)
	}
	for name, least := range map[string]int{"bundle": 140, "diagnosis": 140, "report": 2} {
		if judged[name] < least {
			t.Errorf("%d documents of %s were judged, fewer than the %d that there are", judged[name], name, least)
		}
	}
}

// TestABundleThatIsSavedKeepsItsSchema writes one with every field.
func TestABundleThatIsSavedKeepsItsSchema(t *testing.T) {
	c := diagnose.Case{Now: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), Missing: []string{"logs of worker-1: forbidden"}, Absent: []string{"Deployment training-operator"}}
	c.AddLog("worker-0.log", []byte("step 1\n"))
	c.Logs[0].Source.Pod, c.Logs[0].Source.Container, c.Logs[0].Source.Rank = "worker-0", "pytorch", 0
	c.Logs[0].Numbers, c.Logs[0].Skipped, c.Logs[0].Past = []int{7}, 300, true
	var saved bytes.Buffer
	if err := collect.Save(c, &saved); err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(&saved)
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if err != nil {
			t.Fatalf("bundle.json is not in the bundle: %v", err)
		}
		if header.Name != "bundle.json" {
			continue
		}
		text, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		valid(t, "bundle", text)
		for _, field := range []string{"missing", "absent", "pod", "container", "spans", "skipped", "past"} {
			if !bytes.Contains(text, []byte(`"`+field+`"`)) {
				t.Errorf("the bundle does not show %s:\n%s", field, text)
			}
		}
		return
	}
}
