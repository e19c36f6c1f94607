package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const askedJob = `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: asked, namespace: ml}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 6
      template: {spec: {containers: [{name: pytorch, image: "registry.example.com/train:1", resources: {limits: {nvidia.com/gpu: 8}}}]}}
`

// TestWhoAsksListsNothing has an API server that counts what it is asked, and answers a dry run as the webhook does.
func TestWhoAsksListsNothing(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	warnings := []string{`[fit] {"verdict":"full","placed":4,"wanted":6,"waits":true}`, "[fit] change: fits with 4 Workers instead of 6", "[shm-missing] spec: no shared memory"}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Method+" "+r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/version":
			fmt.Fprint(w, `{"major":"1","minor":"34","gitVersion":"v1.34.0"}`)
		case r.URL.Path == "/api":
			fmt.Fprint(w, `{"kind":"APIVersions","versions":["v1"]}`)
		case r.URL.Path == "/apis":
			fmt.Fprint(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"kubeflow.org","versions":[{"groupVersion":"kubeflow.org/v1","version":"v1"}],"preferredVersion":{"groupVersion":"kubeflow.org/v1","version":"v1"}}]}`)
		case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/pytorchjobs") && r.URL.Query().Get("dryRun") == "All":
			for _, text := range warnings {
				quoted, _ := json.Marshal(text) // of a string
				w.Header().Add("Warning", "299 - "+string(quoted))
			}
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"asked","namespace":"ml"}}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
		}
	}))
	defer server.Close()
	dir := t.TempDir()
	config, job := filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "job.yaml")
	for name, text := range map[string]string{
		config: "apiVersion: v1\nkind: Config\ncurrent-context: x\nclusters: [{name: x, cluster: {server: \"" + server.URL + "\"}}]\ncontexts: [{name: x, context: {cluster: x, user: x}}]\nusers: [{name: x, user: {}}]\n",
		job:    askedJob,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("KUBECONFIG", config)
	ask := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		code := run(t.Context(), &shell{name: "signalbox", out: &out, err: &errs, now: time.Now}, append(args, job, "--ask"))
		return code, out.String() + errs.String()
	}
	code, text := ask("fit")
	if code != exitBusy || !strings.Contains(text, "4 of 6 pods fit") || !strings.Contains(text, "nodes were not listed: the answer is that of Signalbox's webhook") {
		t.Errorf("fit --ask: exit code %d\n%s", code, text)
	}
	if code, text = ask("check"); code != exitFine && code != exitBusy || !strings.Contains(text, "shm-missing") {
		t.Errorf("check --ask: exit code %d\n%s", code, text)
	}
	mu.Lock()
	dry := 0
	for _, a := range asked {
		if strings.HasPrefix(a, "POST ") && strings.HasSuffix(a, "/pytorchjobs") {
			dry++
		}
	}
	if dry != 2 || slices.ContainsFunc(asked, func(a string) bool { return strings.HasSuffix(a, "/nodes") || strings.HasSuffix(a, "/pods") }) {
		t.Errorf("%d dry runs for two questions; asked: %v", dry, asked)
	}
	warnings = warnings[2:] // nobody answers about the fit
	mu.Unlock()
	if code, text = ask("fit"); code != exitUnknown || !strings.Contains(text, "no webhook of Signalbox answered") {
		t.Errorf("without an answer: exit code %d\n%s", code, text)
	}
}
