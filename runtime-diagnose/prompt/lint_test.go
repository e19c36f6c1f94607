package prompt

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLint(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []Fault
	}{
		"the built-in one": {Builtin(nil, "").Source(), nil},
		"names of roles that some job has": {
			`{{.ErrorInfo}} {{.Metadata.TrainerNodeExpected}} {{index .Metadata "LauncherStatus"}} {{.Metadata.JobReason}}`, nil,
		},
		"a slip": {`{{.LogInfo}} {{.Metadata.JobNmae}}`, []Fault{
			{Text: `no job has JobNmae, which prints as nothing; did you mean "JobName"?`},
		}},
		"a slip in an index":      {`{{.LogInfo}} {{index .Metadata "Worker"}} {{printf "%s of it" .LogInfo}}`, []Fault{{Text: "no job has Worker, which prints as nothing"}}},
		"no evidence":             {`Why did {{.Metadata.JobName}} fail?`, []Fault{{Text: "it shows no evidence (ErrorInfo, EventInfo, LogInfo or the Diagnosis of a role), so nothing that a model answers can be supported, and nothing of it would be shown"}}},
		"evidence of a role":      {`{{.Metadata.WorkerDiagnosis}}`, nil},
		"what only aegis fills":   {`{{.ErrorInfo}}{{.Language}}{{.RawAlert}}`, []Fault{{Text: "RawAlert is always empty: only aegis' own prompts for logs and alerts fill it"}}},
		"what does not parse":     {`{{if}}`, []Fault{{Fatal: true, Text: `parse prompt x.tmpl: template: x.tmpl:1: missing value for if`}}},
		"what fails when it runs": {`{{.ErrorInfo}}{{.Secrets}}`, []Fault{{Fatal: true, Text: `run prompt x.tmpl: template: x.tmpl:1:16: executing "x.tmpl" at <.Secrets>: can't evaluate field Secrets in type prompt.Data`}}},
		"what fails only on some jobs": {`{{.ErrorInfo}}{{slice .Metadata.JobReason 3}}`, []Fault{
			{Fatal: true, Text: `run prompt x.tmpl: template: x.tmpl:1:16: executing "x.tmpl" at <slice .Metadata.JobReason 3>: error calling slice: index out of range: 3`},
		}},
		"a count of a role that only some jobs have": {`{{.ErrorInfo}}{{if gt .Metadata.NodeExpected 0}}many{{end}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := Lint("x.tmpl", tc.text)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Lint (-want +got):\n%s", diff)
			}
		})
	}
}

// A ConfigMap is read as kubectl reads it, and what is none is said to be none.
func TestPromptsThatSomebodyNamed(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	write("trainjob.tmpl", "of a folder")
	manifest := write("prompts.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: aegis-prompts}\ndata:\n  trainjob.tmpl: of a ConfigMap\n")
	for path, want := range map[string]string{dir: "of a folder", manifest: "of a ConfigMap"} {
		source, err := Given(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, found, err := source(t.Context(), "trainjob.tmpl"); got != want || !found || err != nil {
			t.Errorf("%s: %q, %t, %v; want %q", path, got, found, err, want)
		}
		if got, found, err := source(t.Context(), "mpijob.tmpl"); found || err != nil {
			t.Errorf("%s: %q, %v; want none", path, got, err)
		}
	}
	for _, path := range []string{filepath.Join(dir, "nowhere"), filepath.Join(dir, "trainjob.tmpl")} {
		if _, err := Given(path); err == nil {
			t.Errorf("%s is a source", path)
		}
	}
}
