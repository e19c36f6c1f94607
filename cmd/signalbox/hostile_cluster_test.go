package main

import (
	"bytes"
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

// A cluster of somebody else may answer anything: no command obeys it, ends by a bug, or takes its objects for others.
func TestAHostileClusterIsShownNotObeyed(t *testing.T) {
	const evil = `x\u001b[2J\nFAKE\u202egol\u0007`
	const discovery = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{"name":%q},"versions":[{"version":"v1","resources":[%s]}]}]}`
	resource := func(plural, group, kind string) string {
		return fmt.Sprintf(`{"resource":%q,"responseKind":{"group":%q,"version":"v1","kind":%q},"scope":"Namespaced","singularResource":%q,"verbs":["get","list","watch"]}`, plural, group, kind, strings.ToLower(kind))
	}
	job := `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"` + evil + `","namespace":"` + evil + `","uid":"u"},"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}},"status":{"failed":1,"conditions":[{"type":"Failed","status":"True","reason":"` + evil + `","message":"` + evil + `"}]}}`
	for what, jobs := range map[string]string{
		"marks":       `{"apiVersion":"batch/v1","kind":"JobList","metadata":{},"items":[` + job + `]}`,
		"other kinds": `{"apiVersion":"v1","kind":"SecretList","metadata":{},"items":[{"apiVersion":"v1","kind":"Secret","metadata":{"name":"` + evil + `"}},` + job + `]}`,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			switch path := r.URL.Path; {
			case path == "/api" || path == "/apis":
				w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
				if path == "/api" {
					fmt.Fprintf(w, discovery, "", resource("pods", "", "Pod"))
				} else {
					fmt.Fprintf(w, discovery, "batch", resource("jobs", "batch", "Job"))
				}
			case path == "/version":
				fmt.Fprint(w, `{"major":"1","minor":"35","gitVersion":"v1.35.0"}`)
			case strings.HasSuffix(path, "/jobs"):
				fmt.Fprint(w, jobs)
			case strings.Contains(path, "/jobs/"):
				fmt.Fprint(w, job)
			case strings.HasSuffix(path, "/configmaps"):
				fmt.Fprint(w, `{"apiVersion":"v1","kind":"ConfigMapList","metadata":{},"items":[]}`)
			case strings.HasSuffix(path, "/pods"):
				fmt.Fprint(w, `{"apiVersion":"v1","kind":"PodList","metadata":{},"items":[]}`)
			default:
				w.WriteHeader(http.StatusNotFound)
				fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"`+evil+`"}`)
			}
		}))
		defer server.Close()
		file := filepath.Join(t.TempDir(), "kubeconfig")
		if err := os.WriteFile(file, fmt.Appendf(nil, "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: a, cluster: {server: %q}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\nusers: [{name: a, user: {token: t}}]\n", server.URL), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range []string{"get jobs -A", "get jobs -A -o name", "audit -A", "diagnose job/a", "diagnose job/a -o md", "diagnose job/a --timeline", "doctor"} {
			var out, errs bytes.Buffer
			code := run(t.Context(), &shell.Shell{Name: "signalbox", Out: &out, Err: &errs, Now: time.Now}, append(strings.Fields(args), "--kubeconfig", file))
			said := out.String() + errs.String()
			if strings.Contains(said, "this is a bug") || code == shell.ExitOurs {
				t.Errorf("%s with %s: exit %d\n%s", args, what, code, said)
			}
			if strings.Contains(said, "\nFAKE") || strings.ContainsAny(said, "\x1b\a\u202e") {
				at := max(strings.Index(said, "\nFAKE"), strings.IndexAny(said, "\x1b\a\u202e"))
				t.Errorf("%s with %s obeys a name: …%q", args, what, said[max(0, at-100):min(len(said), at+100)])
			}
		}
	}
}
