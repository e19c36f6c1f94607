package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	broken = `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: my_job, namespace: ml}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      template: {spec: {containers: [{name: pytorch, image: "registry.example.com/train:1"}]}}
`
	head = "file\tissue\tevidence\tseverity\tconfidence\n"
)

// corpus is a folder with one manifest and one of our own.
func corpus(t *testing.T, manifest, labels, supports, explained string) (dir, ours string) {
	t.Helper()
	dir, ours = t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(dir, "dev", "one.yaml"): manifest,
		filepath.Join(dir, "LABELS.tsv"):      head + labels,
		filepath.Join(ours, "labels.yaml"):    supports,
		filepath.Join(ours, "explained.yaml"): explained,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, ours
}

func TestJudge(t *testing.T) {
	const supports = "job-name-invalid: [invalid-name]\n"
	invalid := "one.yaml\tinvalid-name\tmy_job\twould-fail\thigh\n"
	cases := map[string]struct {
		manifest, labels, explained string
		want                        []string // beginnings of complaints
	}{
		"a label supports the error": {broken, invalid, "[]", nil},
		"nothing supports the error": {broken, "one.yaml\tnone\t-\t-\thigh\n", "[]", []string{"one.yaml: an error that no label supports: [job-name-invalid] metadata.name", "what cannot run: precision is 0.0 %; expected 95.0 % at least"}},
		"somebody read it":           {broken, "one.yaml\tnone\t-\t-\thigh\n", "- {manifests: [one.yaml], check: job-name-invalid, reason: the name holds an underscore}\n", nil},
		"a reason nobody needs":      {broken, invalid, "- {manifests: [two.yaml], check: job-name-invalid, reason: the name holds an underscore}\n", []string{"explained.yaml: job-name-invalid says nothing about two.yaml any more"}},
		"a document that is none":    {broken + "---\na: [1\n", invalid, "[]", []string{"one.yaml: unreadable: "}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir, ours := corpus(t, tc.manifest, tc.labels, supports, tc.explained)
			s, err := measure(t.Context(), dir, ours)
			if err != nil {
				t.Fatal(err)
			}
			got := s.judge()
			if len(got) != len(tc.want) {
				t.Fatalf("complaints: %q\nwant %q", got, tc.want)
			}
			for i, want := range tc.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("complaint %q; want %q", got[i], want)
				}
			}
		})
	}
}

func TestPrint(t *testing.T) {
	dir, ours := corpus(t, broken, "one.yaml\tinvalid-name\tmy_job\twould-fail\thigh\none.yaml\tbad-enum\tx\twould-fail\thigh\n",
		"job-name-invalid: [invalid-name]\nunknown-restart-policy: [bad-enum]\n", "[]")
	s, err := measure(t.Context(), dir, ours)
	if err != nil {
		t.Fatal(err)
	}
	s.took = 0
	var b bytes.Buffer
	s.print(&b)
	var rows []string
	for line := range strings.Lines(b.String()) {
		if fields := strings.Fields(line); len(fields) > 0 && (strings.HasPrefix(fields[0], "job-name") || strings.HasPrefix(fields[0], "unknown-restart") || fields[0] == "what") {
			rows = append(rows, strings.Join(fields, " "))
		}
	}
	want := []string{
		"job-name-invalid 1 1 0 0 100.0 % 1 1 100.0 %",
		"unknown-restart-policy 0 0 0 0 - 1 0 0.0 %",
		"what cannot run: precision 100.0 % (1 by label, 0 by reading, of 1), recall 50.0 % (1 of 2 labels)",
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("print (-want +got):\n%s", diff)
	}
}

func TestOwnFilesNameChecksThatExist(t *testing.T) {
	cases := map[string]struct{ supports, explained, want string }{
		"a slip in labels.yaml":    {"job-name-invalit: []\n", "[]", `labels.yaml: no check is called "job-name-invalit"; did you mean "job-name-invalid"?`},
		"a slip in explained.yaml": {"{}", "- {manifests: [one.yaml], check: shm-mising, reason: it is right}\n", `explained.yaml: no check is called "shm-mising"; did you mean "shm-missing"?`},
		"no reason":                {"{}", "- {manifests: [one.yaml], check: shm-missing, reason: fine}\n", `explained.yaml: shm-missing on one.yaml: the reason is "fine"; expected a sentence`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir, ours := corpus(t, broken, "", tc.supports, tc.explained)
			if _, err := measure(t.Context(), dir, ours); err == nil || err.Error() != tc.want {
				t.Errorf("have %v\nwant %s", err, tc.want)
			}
		})
	}
}
