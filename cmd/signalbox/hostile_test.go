package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
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
			run(t.Context(), &shell.Shell{Name: "signalbox", Out: &out, Err: &errs, Now: time.Now}, []string{"diagnose", from, "-o", format})
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
		if got := terminal.InProse(text); got != want {
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
		run(t.Context(), &shell.Shell{Name: "signalbox", Out: &out, Err: &errs, Now: time.Now}, args)
		said := out.String() + errs.String()
		if strings.Contains(said, "\nFAKE") || strings.ContainsAny(said, "\x1b\a\u202e") {
			t.Errorf("%q obeys a name:\n%q", args, said)
		}
	}
}

// TestNamesOfASnapshotAndABundleAreShownNotObeyed: no API server has looked at what somebody else sends.
func TestNamesOfASnapshotAndABundleAreShownNotObeyed(t *testing.T) {
	t.Chdir(t.TempDir())
	const evil = `"x\e[2J\nFAKE\u202egol\a"`
	for name, text := range map[string]string{
		"job.yaml": "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: j, namespace: ml}, spec: {runPolicy: {schedulingPolicy: {queue: " + evil + "}}, pytorchReplicaSpecs: {Worker: {template: {spec: {containers: [{name: pytorch, image: x, resources: {limits: {nvidia.com/gpu: 8}}}]}}}}}}\n",
		"cluster.yaml": "{apiVersion: v1, kind: Node, metadata: {name: " + evil + ", labels: {nvidia.com/gpu.product: " + evil + "}}, spec: {taints: [{key: " + evil + ", effect: NoSchedule}]}, status: {allocatable: {pods: 9, cpu: 9, nvidia.com/gpu: 8}, conditions: [{type: Ready, status: 'False', reason: " + evil + ", message: gone}]}}\n---\n" +
			"{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: " + evil + ", namespace: " + evil + "}, spec: {pytorchReplicaSpecs: {Worker: {template: {spec: {containers: [{name: pytorch, image: x}]}}}}}}\n---\n" +
			"{apiVersion: v1, kind: Pod, metadata: {name: " + evil + ", namespace: " + evil + "}, spec: {nodeName: " + evil + ", containers: [{name: " + evil + ", image: x, resources: {requests: {nvidia.com/gpu: 2}}}]}, status: {phase: Failed, reason: " + evil + ", containerStatuses: [{name: " + evil + ", state: {terminated: {exitCode: 1, reason: " + evil + "}}}]}}\n",
		"rank0.log": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{
		"get jobs -A --snapshot cluster.yaml", "get jobs -A --snapshot cluster.yaml -o name", "get jobs -A --snapshot cluster.yaml -o md",
		"fit --map --snapshot cluster.yaml", "fit -f job.yaml --snapshot cluster.yaml --map", "fit -f job.yaml --snapshot cluster.yaml",
		"diagnose --log rank0.log --pods cluster.yaml", "diagnose --log rank0.log --pods cluster.yaml -o md", "diagnose --log rank0.log --pods cluster.yaml --why --timeline",
		"diagnose --log rank0.log --pods cluster.yaml --prompt-only",
	} {
		var out, errs bytes.Buffer
		run(t.Context(), &shell.Shell{Name: "signalbox", Out: &out, Err: &errs, Now: time.Now}, strings.Fields(args))
		said := out.String() + errs.String()
		if !strings.Contains(said, "FAKE") {
			t.Errorf("%s names nothing of it:\n%s", args, said)
		}
		if strings.Contains(said, "\nFAKE") || strings.ContainsAny(said, "\x1b\a\u202e") {
			t.Errorf("%s obeys a name:\n%q", args, said)
		}
	}
}

// TestASnapshotOfAnyFormIsNoBug: no API server has looked at the types of what somebody else sends.
func TestASnapshotOfAnyFormIsNoBug(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, node := range map[string]string{
		"an amount that is a list":    "status: {allocatable: {cpu: []}, capacity: {cpu: []}}",
		"an amount that is an object": "status: {allocatable: {cpu: {a: 1}}, capacity: {cpu: {a: 1}}}",
	} {
		if err := os.WriteFile("cluster.yaml", []byte("{apiVersion: v1, kind: Node, metadata: {name: a}, "+node+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		code := run(t.Context(), &shell.Shell{Name: "signalbox", Out: &out, Err: &errs, Now: time.Now}, []string{"fit", "--map", "--snapshot", "cluster.yaml"})
		if code == shell.ExitOurs || strings.Contains(errs.String(), "this is a bug") {
			t.Errorf("%s: exit %d\n%s%s", name, code, out.String(), errs.String())
		}
	}
}
