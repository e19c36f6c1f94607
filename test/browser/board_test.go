package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// served are the resources of the API server that the board is shown, by group and version.
var served = map[string]map[string]string{
	"v1":              {"nodes": "Node", "pods": "Pod", "namespaces": "Namespace", "events": "Event", "configmaps": "ConfigMap"},
	"kubeflow.org/v1": {"pytorchjobs": "PyTorchJob"},
}

// apiServer has 5,000 nodes and 500 jobs, and says so in JSON to whoever asks.
func apiServer(t *testing.T) *httptest.Server {
	t.Helper()
	items := map[string][]any{}
	for i := range 5000 {
		amounts := map[string]any{"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8"}
		items["nodes"] = append(items["nodes"], map[string]any{
			"metadata": map[string]any{"name": fmt.Sprintf("node-%04d", i), "labels": map[string]any{"nvidia.com/gpu.product": fmt.Sprintf("H100-%d", i%7)}},
			"status":   map[string]any{"allocatable": amounts, "capacity": amounts, "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
		})
	}
	for i := range 500 {
		container := map[string]any{"name": "pytorch", "image": "example.org/train:1", "resources": map[string]any{"limits": map[string]any{"nvidia.com/gpu": "8"}}}
		items["pytorchjobs"] = append(items["pytorchjobs"], map[string]any{
			"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
			"metadata": map[string]any{
				"name": fmt.Sprintf("train-%03d", i), "namespace": fmt.Sprintf("team-%d", i%9), "uid": fmt.Sprint(i), "creationTimestamp": "2026-03-01T12:00:00Z",
				"annotations": map[string]any{"signalbox.dev/waiting": "2 of 4 pods wait for 8 nvidia.com/gpu each"},
			},
			"spec": map[string]any{"pytorchReplicaSpecs": map[string]any{"Worker": map[string]any{"replicas": 4, "template": map[string]any{"spec": map[string]any{"containers": []any{container}}}}}},
		})
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		code, answer := answerTo(r.URL.Path, items)
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(answer) // whoever asked may have gone
	}))
	t.Cleanup(server.Close)
	return server
}

func answerTo(path string, items map[string][]any) (int, any) {
	switch path {
	case "/version":
		return http.StatusOK, map[string]any{"major": "1", "minor": "36", "gitVersion": "v1.36.0"}
	case "/api":
		return http.StatusOK, map[string]any{"kind": "APIVersions", "versions": []string{"v1"}}
	case "/apis":
		version := map[string]any{"groupVersion": "kubeflow.org/v1", "version": "v1"}
		return http.StatusOK, map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{map[string]any{"name": "kubeflow.org", "versions": []any{version}, "preferredVersion": version}}}
	}
	at := strings.TrimPrefix(strings.TrimPrefix(path, "/apis/"), "/api/")
	if kinds, ok := served[at]; ok {
		var resources []any
		for name, kind := range kinds {
			resources = append(resources, map[string]any{"name": name, "kind": kind, "namespaced": kind != "Node" && kind != "Namespace", "verbs": []string{"get", "list", "watch"}})
		}
		return http.StatusOK, map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": at, "resources": resources}
	}
	group, name := filepath.Split(at)
	group, _, _ = strings.Cut(strings.TrimSuffix(group, "/"), "/namespaces/")
	if kind, ok := served[group][name]; ok {
		found := items[name]
		if found == nil {
			found = []any{}
		}
		return http.StatusOK, map[string]any{"kind": kind + "List", "apiVersion": group, "metadata": map[string]any{"resourceVersion": "1"}, "items": found}
	}
	return http.StatusNotFound, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": http.StatusNotFound, "message": path + " not found"}
}

func TestBoard(t *testing.T) {
	browser := chromium(t)
	kubeconfig := written(t, filepath.Join(t.TempDir(), "kubeconfig"), fmt.Sprintf(
		"apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: %q}}]\nusers: [{name: u, user: {}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n", apiServer(t).URL))
	ctx, stop := context.WithCancel(t.Context())
	board := exec.CommandContext(ctx, program(t), "board", "--kubeconfig", kubeconfig, "--listen", "127.0.0.1:0")
	says, err := board.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := board.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = board.Wait() }) // it was told to end
	address := ""
	for lines := bufio.NewScanner(says); address == "" && lines.Scan(); {
		address = regexp.MustCompile(`http://[^/]+/\?key=\S+`).FindString(lines.Text())
	}
	if address == "" {
		t.Fatal("the board does not say where it listens")
	}
	tab, closed := chromedp.NewContext(browser)
	defer closed()
	if err := chromedp.Do(tab, chromedp.Navigate(address)); err != nil { // which leaves the key with the browser
		t.Fatal(err)
	}
	took, err := chromedp.Run(tab, chromedp.Evaluate[[]float64](`(n => [n.responseEnd - n.requestStart, n.domContentLoadedEventEnd])(performance.getEntriesByType("navigation")[0])`))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the very first page: answered in %.0f ms, there after %.0f ms, which holds the start of the tab", took[0], took[1])
	base, _, _ := strings.Cut(address, "/?")
	for path, want := range map[string]string{"/": "500 jobs", "/nodes": "H100-6", "/checks": "no job of the cluster carries a warning"} {
		t.Run(path, func(t *testing.T) {
			if err := chromedp.Do(tab, chromedp.Navigate(base+path)); err != nil {
				t.Fatal(err)
			}
			text, err := chromedp.Run(tab, chromedp.Evaluate[string](`document.body.innerText`))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(text, want) {
				t.Fatalf("%q is not on the page:\n%.2000s", want, text)
			}
			for _, width := range []int64{390, 1440} {
				for _, scheme := range []string{"light", "dark"} {
					look(t, browser, base+path, base+"/", width, scheme)
				}
			}
		})
	}
}
