package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A file may be called anything: no format of the output gets a line or a direction from its name.
func TestNamesOfLogsAreShownNotObeyed(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a\nFAKE: all is well\u202egol.log")
	if err := os.WriteFile(name, []byte("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{name, dir} {
		for _, format := range []string{"text", "json", "yaml", "md"} {
			var out, errs bytes.Buffer
			run(t.Context(), &shell{name: "signalbox", out: &out, err: &errs, now: time.Now}, []string{"diagnose", from, "-o", format})
			said := out.String() + errs.String()
			if !strings.Contains(said, "FAKE") {
				t.Errorf("%s of %s does not name the log:\n%s", format, filepath.Base(from), said)
			}
			if strings.Contains(said, "\nFAKE") || strings.Contains(said, `a\nFAKE`) || strings.Contains(said, "\u202e") || strings.Contains(said, `\u202e`) {
				t.Errorf("%s of %s obeys the name of a log:\n%s", format, filepath.Base(from), said)
			}
		}
	}
}

// TestNobodyIsCalledByMarkdown: an image or a label may be spelt like a team, and a digest is no team.
func TestNobodyIsCalledByMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"@everyone":                      "@&#8203;everyone",
		`it has "@org/team" and #1`:      `it has "@&#8203;org/team" and #&#8203;1`,
		"registry.example.com/x@sha256:": "registry.example.com/x@sha256:",
		"step # 1 @ noon":                "step # 1 @ noon",
	} {
		if got := inProse(text); got != want {
			t.Errorf("%q is written as %q; want %q", text, got, want)
		}
	}
}

// TestNamesOfFilesAndJobsAreShownNotObeyed: a terminal, and a page that shows what a terminal would, gets no escape and no line
// from them.
func TestNamesOfFilesAndJobsAreShownNotObeyed(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a\x1b[31m\nFAKE: all is well\u202egol\a.yaml")
	const job = `apiVersion: batch/v1
kind: Job
metadata: {name: "a\e[2J\nFAKE", namespace: "n\u202es"}
spec: {template: {spec: {containers: [{name: "c\e[2J", image: "i\e[2J"}]}}}
`
	if err := os.WriteFile(name, []byte(job), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"check", "-f", name}, {"check", "-f", name, "-o", "github"}, {"check", "-f", name, "-o", "concise"}, {"check", "-f", name, "-o", "md"}, {"fit", "-f", name},
	} {
		var out, errs bytes.Buffer
		run(t.Context(), &shell{name: "signalbox", out: &out, err: &errs, now: time.Now}, args)
		said := out.String() + errs.String()
		if strings.Contains(said, "\nFAKE") || strings.ContainsAny(said, "\x1b\a\u202e") {
			t.Errorf("%q obeys a name:\n%q", args, said)
		}
	}
}

// TestAPatchIsOneCommand: a manifest names its job as its author likes, and a patch is copied into a shell.
func TestAPatchIsOneCommand(t *testing.T) {
	got := kubectlPatch(map[string]any{"a": "b"}, map[string]any{"a": "it's"}, "pytorchjobs.kubeflow.org", "n;reboot", "x$(reboot)")
	if want := `kubectl patch pytorchjobs.kubeflow.org 'x$(reboot)' -n 'n;reboot' --type=merge -p '{"a":"it'\''s"}'`; got != want {
		t.Errorf("it is\n%s\nwant\n%s", got, want)
	}
}
