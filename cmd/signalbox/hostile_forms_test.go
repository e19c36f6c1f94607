package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
)

// A cluster that answers in no form that there is, with lists of anything, nothing or texts of a megabyte, ends no command by a
// bug, and none without an answer.
func TestAClusterThatAnswersAnythingEndsNoCommand(t *testing.T) {
	const discovery = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[%s]}`
	group := func(name string, resources ...string) string {
		var of []string
		for i := 0; i < len(resources); i += 2 {
			of = append(of, fmt.Sprintf(`{"resource":%q,"responseKind":{"group":%q,"version":"v1","kind":%q},"scope":"Namespaced","singularResource":"x","verbs":["get","list","watch","create"]}`, resources[i], name, resources[i+1]))
		}
		return fmt.Sprintf(`{"metadata":{"name":%q},"versions":[{"version":"v1","resources":[%s]}]}`, name, strings.Join(of, ","))
	}
	manifest := filepath.Join(t.TempDir(), "job.yaml")
	if err := os.WriteFile(manifest, []byte("apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, labels: {kueue.x-k8s.io/queue-name: q}}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: 'a.example/b:1', resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 1<<20)
	for what, answer := range map[string]string{
		"a text":           `"x"`,
		"a list":           `[1,2,{"a":null}]`,
		"null":             `null`,
		"no JSON":          "\x1b[2J<html>" + long,
		"nothing":          ``,
		"items that are 1": `{"apiVersion":"v1","kind":"List","metadata":{},"items":1}`,
		"items of all":     `{"apiVersion":"v1","kind":"List","metadata":{},"items":[1,"a",null,[],{},{"metadata":"x"},{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","labels":[]},"status":{"allocatable":["a"],"conditions":{"a":1}}}]}`,
		"wrong fields":     `{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":5,"continue":7},"spec":"x","status":[1],"items":[{"apiVersion":5,"kind":[],"metadata":{"name":{},"namespace":1,"uid":[]},"spec":{"containers":"x","template":[]},"status":"x"}]}`,
		"numbers":          `{"apiVersion":"v1","kind":"List","metadata":{},"items":[{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a","namespace":"default"},"spec":{"parallelism":1e400,"completions":-9223372036854775808,"template":{"spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":"1e9999999"}}}]}}}}]}`,
		"deep":             `{"items":` + strings.Repeat(`[`, 20_000) + strings.Repeat(`]`, 20_000) + `}`,
		"pages":            `{"apiVersion":"v1","kind":"List","metadata":{"continue":"more"},"items":[]}`,
		"a status":         `{"apiVersion":"v1","kind":"Status","status":"Failure","code":500,"reason":"` + long + `","message":"\u001b[2J` + long + `"}`,
	} {
		t.Run(what, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				switch r.URL.Path {
				case "/api":
					w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
					fmt.Fprintf(w, discovery, group("", "pods", "Pod", "nodes", "Node", "events", "Event", "configmaps", "ConfigMap", "namespaces", "Namespace", "resourcequotas", "ResourceQuota", "limitranges", "LimitRange"))
				case "/apis":
					w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
					fmt.Fprintf(w, discovery, strings.Join([]string{group("batch", "jobs", "Job"), group("kubeflow.org", "pytorchjobs", "PyTorchJob"), group("scheduling.k8s.io", "priorityclasses", "PriorityClass")}, ","))
				case "/version":
					fmt.Fprint(w, `{"major":"1","minor":"37","gitVersion":"v1.37.0"}`)
				default:
					if what == "a status" {
						w.WriteHeader(http.StatusInternalServerError)
					}
					fmt.Fprint(w, answer)
				}
			}))
			defer server.Close()
			file := filepath.Join(t.TempDir(), "kubeconfig")
			if err := os.WriteFile(file, fmt.Appendf(nil, "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: a, cluster: {server: %q}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\nusers: [{name: a, user: {token: t}}]\n", server.URL), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range []string{"check " + manifest, "fit " + manifest, "diagnose job/a", "diagnose pytorchjob/a", "get jobs -A", "audit -A", "doctor"} {
				if what == "pages" && !strings.HasPrefix(args, "check") {
					continue // ten thousand for each command
				}
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				var out, errs bytes.Buffer
				code := run(ctx, &shell.Shell{Name: "signalbox", Out: &out, Err: &errs, Now: time.Now}, append(strings.Fields(args), "--kubeconfig", file))
				late := ctx.Err() != nil
				stop()
				said := out.String() + errs.String()
				switch {
				case late:
					t.Errorf("%s: it does not end", args)
				case strings.Contains(said, "this is a bug"):
					t.Errorf("%s: exit %d\n%.2000s", args, code, said)
				case strings.ContainsAny(said, "\x1b\a"):
					t.Errorf("%s obeys what it was sent: %.500q", args, said)
				case len(said) > 64<<10:
					t.Errorf("%s says %d bytes", args, len(said))
				}
			}
		})
	}
}
