package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	"github.com/signalbox-dev/signalbox/webhook"
)

// leakyJob holds a secret wherever a job and its namespace may hold one: the word CANARY is part of each.
const leakyJob = `apiVersion: batch/v1
kind: Job
metadata:
  name: train
  namespace: ml
  labels: {team: x, note: ghp_CANARYCANARYCANARYCANARYCANARYCANARY, password: CANARY-1}
  annotations: {note: "token=CANARY-0123456789abcdef", password: CANARY-2, signalbox.dev/ask: review}
spec:
  template:
    metadata:
      labels: {note: ghp_CANARYCANARYCANARYCANARYCANARYCANARY, password: CANARY-3}
      annotations: {note: "https://ana:CANARY-0123@git.example.com/a.git", password: CANARY-4}
    spec:
      restartPolicy: Never
      nodeSelector: {password: CANARY-5}
      containers:
      - name: main
        image: registry.example.com/train:ghp_CANARYCANARYCANARYCANARYCANARYCANARY
        command: [python, train.py, --api-key, CANARY-0123456789abcdef]
        args: ["--password=CANARY-6"]
        env: [{name: PLAIN, value: CANARY-7}]
`

const leakyCluster = `
---
apiVersion: v1
kind: Namespace
metadata: {name: ml, annotations: {note: "password=CANARY-8", password: CANARY-9}}
---
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: "8", memory: 8Gi, pods: "110"}}
`

// leakyPolicies repeat all that they read, as a denial, at a place, as an exception and as an error.
var leakyPolicies = map[string]string{
	"says": `deny contains {"path": sprintf("spec.%s", [input.job.labels.note]), "msg": sprintf("%v %v", [input.job.labels, input.job.annotations])}

deny contains sprintf("%v", [input.job.labels.password]) if input.job.labels.password != "other"

deny contains sprintf("%v %v", [role.images, role.annotations]) if some role in input.job.roles

warn contains sprintf("%v", [input.object]) if input.object.kind == "Job"

warn contains sprintf("%v", [input.request.namespace_annotations]) if input.job.name == "train"`,
	"fails": `deny contains "no" if to_number(input.job.labels.note) > 8`,
	"excepts": `deny contains "no" if input.job.name == "train"

exempt contains {"msg": sprintf("because of %v %v", [input.job.labels, input.request.namespace_annotations])} if input.job.name == "train"`,
	"quiet": `deny contains "no" if {
	some role in input.job.roles
	some image in role.images
	some key, value in object.union(role.labels, role.node_selector)
	key == "password"
	endswith(concat(" ", [image, value, input.job.labels.password]), "nothing")
}`,
}

// TestASecretLeavesByNoWayOut: what policies see of a job is told in many places; the whole walk.
func TestASecretLeavesByNoWayOut(t *testing.T) {
	t.Setenv("KUBECONFIG", os.DevNull)
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	job, world := write("job.yaml", leakyJob), write("cluster.yaml", leakyJob+leakyCluster)
	for name, rules := range leakyPolicies {
		write("policies/"+name+".rego", "# METADATA\n# title: a rule\n# description: Why it is there.\n# custom: {remedy: Do it otherwise.}\npackage signalbox."+name+"\n\n"+rules+"\n")
		write("policies/testdata/"+name+"/deny-it.yaml", leakyJob+leakyCluster)
		write("policies/testdata/"+name+"/allow-it.yaml", leakyJob+leakyCluster)
	}
	write("policies/says_test.rego", "package signalbox.says_test\n\nimport data.signalbox.says\n\ntest_it if {\n\tprint(\"--api-key ghp_CANARYCANARYCANARYCANARYCANARYCANARY\")\n\tcount(says.deny) > 0 with input as {\"job\": {}}\n}\n")
	folder := filepath.Join(dir, "policies")
	ways := map[string]string{}
	for name, args := range map[string][]string{
		"check":           {"check", job, "--snapshot", world, "--policy", folder},
		"check as JSON":   {"check", job, "--snapshot", world, "--policy", folder, "-o", "json"},
		"explain":         {"check", job, "--snapshot", world, "--policy", folder, "--explain"},
		"explain as JSON": {"check", job, "--snapshot", world, "--policy", folder, "--explain", "-o", "json"},
		"input":           {"check", job, "--snapshot", world, "--policy", folder, "--input"},
		"audit":           {"audit", "--snapshot", world, "--policy", folder},
		"audit as JSON":   {"audit", "--snapshot", world, "--policy", folder, "-o", "json"},
		"test":            {"test", folder},
		"test as JSON":    {"test", folder, "-o", "json"},
		"test as JUnit":   {"test", folder, "-o", "junit"},
	} {
		var out bytes.Buffer
		run(t.Context(), &shell.Shell{Name: "signalbox", Out: &out, Err: &out, Now: time.Now}, append([]string{"policy"}, args...))
		ways[name] = out.String()
	}
	ways["webhook"], ways["record"], ways["decisions"], ways["log"] = leakyReviews(t, folder)
	var out bytes.Buffer
	write("decisions/decisions-a.jsonl", ways["decisions"])
	run(t.Context(), &shell.Shell{Name: "signalbox", Out: &out, Err: &out, Now: time.Now}, []string{"policy", "replay", "--decisions", filepath.Join(dir, "decisions"), "--policy", folder, "-o", "json"})
	ways["replay"] = out.String()
	for name, text := range ways {
		if strings.Contains(text, "CANARY") {
			t.Errorf("%s tells a secret:\n%s", name, text)
		}
		if name != "log" && !strings.Contains(text, "[masked]") {
			t.Errorf("%s says nothing of what was asked:\n%s", name, text)
		}
	}
}

// leakyReviews are what the webhook answers to a creation, what it answers to who asks for the whole review, what
// it records and what it logs.
func leakyReviews(t *testing.T, folder string) (answer, record, decisions, log string) {
	t.Helper()
	engine, err := policies.Load(os.DirFS(folder))
	if err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 2)
	recorder := policies.NewRecorder(func(line []byte, _ time.Time) error {
		lines <- string(line)
		return nil
	}, nil, time.Now)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { _ = recorder.Start(ctx, func(err error) { t.Error(err) }) }()
	var logged strings.Builder
	s := scene{labels: map[string]string{preflight.ModeLabel: preflight.ModeEnforce}, view: leakyView(t)}
	handler := webhook.NewHandler(webhook.HandlerOptions{
		Reviewer: webhook.Stages(&preflight.Reviewer{Policies: recorder.Around(engine)}), View: s, Deadline: 30e9, PolicyDeadline: 30e9,
		MayListNodes: func(context.Context, authenticationv1.UserInfo) bool { return true },
		Log:          funcr.New(func(prefix, args string) { logged.WriteString(prefix + args) }, funcr.Options{Verbosity: 9}),
	})
	for d, err := range manifest.Read("job.yaml", strings.NewReader(leakyJob)) {
		if err != nil {
			t.Fatal(err)
		}
		for _, dry := range []bool{false, true} {
			response := handler.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
				UID: "1", Operation: admissionv1.Create, Namespace: "ml", Name: "train", DryRun: &dry,
				Kind:   metav1.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"},
				Object: runtime.RawExtension{Raw: raw(t, d.Object)},
			}})
			decisions += <-lines
			answer += asJSON(t, response)
			if read, ok := webhook.RecordOf(response.Warnings); ok {
				record = asJSON(t, read)
			}
		}
	}
	return answer, record, decisions, logged.String()
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func leakyView(t *testing.T) *cluster.Snapshot {
	t.Helper()
	var view manifest.View
	for d, err := range manifest.Read("cluster.yaml", strings.NewReader(leakyCluster)) {
		if err != nil {
			t.Fatal(err)
		}
		view.Objects = append(view.Objects, d.Object)
	}
	snapshot, err := view.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}
