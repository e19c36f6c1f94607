package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
)

// listedJob is one that get jobs lists, with its cause.
//
//go:embed get/testdata/sick.yaml
var listedJob string

// clusterWith is an API server with one PyTorchJob, and nothing else.
func clusterWith(t *testing.T, name string) *httptest.Server {
	t.Helper()
	job := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(listedJob), &job.Object); err != nil {
		t.Fatal(err)
	}
	job.SetName(name)
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch path := r.URL.Path; {
		case path == "/api":
			fmt.Fprint(w, `{"kind":"APIVersions","versions":["v1"]}`)
		case path == "/apis":
			fmt.Fprint(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"kubeflow.org","versions":[{"groupVersion":"kubeflow.org/v1","version":"v1"}],"preferredVersion":{"groupVersion":"kubeflow.org/v1","version":"v1"}}]}`)
		case strings.HasSuffix(path, "/pytorchjobs"):
			fmt.Fprintf(w, `{"kind":"PyTorchJobList","apiVersion":"kubeflow.org/v1","metadata":{},"items":[%s]}`, text)
		case strings.HasPrefix(path, "/api/v1/"):
			fmt.Fprint(w, `{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// commandOver runs commands with a kubeconfig whose contexts are called as the servers.
func commandOver(t *testing.T, servers map[string]string) func(args ...string) (int, string, string) {
	t.Helper()
	var clusters, contexts []any
	for name, address := range servers {
		clusters = append(clusters, map[string]any{"name": name, "cluster": map[string]any{"server": address}})
		contexts = append(contexts, map[string]any{"name": name, "context": map[string]any{"cluster": name, "user": "x"}})
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "clusters": clusters, "contexts": contexts,
		"users": []any{map[string]any{"name": "x", "user": map[string]any{}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", file)
	return func(args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		now := func() time.Time { return time.Date(2026, 3, 4, 10, 30, 0, 0, time.UTC) }
		code := run(t.Context(), &shell.Shell{Name: "signalbox", Out: &out, Err: &errs, Now: now}, args)
		return code, out.String(), errs.String()
	}
}

// Several clusters are one list, and one of them that is away takes away nothing of the others.
func TestJobsOfSeveralContextsAreOneList(t *testing.T) {
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	command := commandOver(t, map[string]string{"east": clusterWith(t, "sick").URL, "west": clusterWith(t, "worse").URL, "away": away.URL})

	code, out, errs := command("get", "jobs", "-A", "--context", "east", "--context", "west")
	want := "CONTEXT  NAMESPACE  KIND        NAME   AGE   STATE    HEALTHY  CATEGORY  FIRST POD      DEVICES  WAITS FOR\n" +
		"east     ml         PyTorchJob  sick   150m  Running  No       gpu-oom   sick-worker-1  0/32     -\n" +
		"west     ml         PyTorchJob  worse  150m  Running  No       gpu-oom   sick-worker-1  0/32     -\n"
	if code != shell.ExitFine || out != want || errs != "" {
		t.Errorf("ended with %d and printed\n%s%s\nwant\n%s", code, out, errs, want)
	}
	if _, out, _ := command("get", "jobs", "-A", "--context", "west,east", "-o", "name"); out != "pytorchjob.kubeflow.org/sick -n ml --context east\npytorchjob.kubeflow.org/worse -n ml --context west\n" {
		t.Errorf("names are\n%s", out)
	}
	if _, out, _ := command("get", "jobs", "-A", "--context", "west,east", "--group-by", "context"); !strings.HasPrefix(out, "CONTEXT  JOBS") {
		t.Errorf("totals are\n%s", out)
	}
	code, out, errs = command("get", "jobs", "-A", "--context", "east,away")
	if code != shell.ExitUnknown || !strings.Contains(out, "sick") || !strings.Contains(errs, `note: not listed: the cluster of context "away" does not answer`) {
		t.Errorf("with one away: %d\n%s%s", code, out, errs)
	}
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"get", "jobs", "--context", "east,wst"}, `context "wst" does not exist; expected away, east or west`},
		{[]string{"get", "jobs", "-w", "--context", "east,west"}, "--watch follows one cluster, and the contexts east and west are given"},
	} {
		if code, _, errs := command(tc.args...); code != shell.ExitUsage || !strings.Contains(errs, tc.want) {
			t.Errorf("%q ended with %d and said %s", tc.args, code, errs)
		}
	}
}

// Audits of several clusters stand below each other.
func TestSeveralContextsAreAuditedOneBelowTheOther(t *testing.T) {
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	command := commandOver(t, map[string]string{"east": clusterWith(t, "sick").URL, "west": clusterWith(t, "worse").URL, "away": away.URL})
	code, out, errs := command("audit", "-A", "--context", "east,away", "--context", "west")
	if code != shell.ExitUnknown || strings.Count(out, "\n1 job in 1 namespace: ") != 2 || !strings.HasPrefix(out, "context east\n") || !strings.Contains(out, "\ncontext west\n") || !strings.Contains(errs, `note: not audited: the cluster of context "away"`) {
		t.Errorf("ended with %d and printed\n%s%s", code, out, errs)
	}
	if code, _, errs := command("audit", "-A", "--context", "east,west", "-o", "json"); code != shell.ExitUsage || !strings.Contains(errs, "--context names several") {
		t.Errorf("as JSON it ended with %d and said %s", code, errs)
	}
}
