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

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/webhook"
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

// dryRuns is an API server that counts what it is asked, and answers dry runs of a job as it is told.
type dryRuns struct {
	mu       sync.Mutex
	asked    []string
	warnings []string
	refusal  string   // a Status instead of the job
	there    bool     // the job exists
	hidden   bool     // and may not be read
	second   []string // what is said of a second one of its name
}

func (d *dryRuns) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, r.Method+" "+r.URL.Path)
	w.Header().Set("Content-Type", "application/json")
	dry := strings.Contains(r.URL.Path, "/pytorchjobs") && r.URL.Query().Get("dryRun") == "All"
	const job = `{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"asked","namespace":"ml","uid":"1","resourceVersion":"1"}}`
	switch {
	case r.URL.Path == "/api":
		fmt.Fprint(w, `{"kind":"APIVersions","versions":["v1"]}`)
	case r.URL.Path == "/apis":
		fmt.Fprint(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
	case strings.HasSuffix(r.URL.Path, "/pods"), strings.HasSuffix(r.URL.Path, "/nodes"), strings.HasSuffix(r.URL.Path, "/namespaces"), strings.HasSuffix(r.URL.Path, "/configmaps"):
		fmt.Fprint(w, `{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`)
	case dry && r.Method == http.MethodPost && d.there: // admission comes before the store: the webhook has spoken of a second job
		d.warn(w, d.second)
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"AlreadyExists","code":409}`)
	case dry && d.refusal != "":
		var status struct{ Code int }
		_ = json.Unmarshal([]byte(d.refusal), &status) // of this test
		w.WriteHeader(status.Code)
		fmt.Fprint(w, d.refusal)
	case dry:
		d.warn(w, d.warnings)
		fmt.Fprint(w, job)
	case d.there && !d.hidden && strings.HasSuffix(r.URL.Path, "/pytorchjobs/asked"):
		fmt.Fprint(w, job)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
	}
}

func (*dryRuns) warn(w http.ResponseWriter, warnings []string) {
	for _, text := range warnings {
		quoted, _ := json.Marshal(text) // of a string
		w.Header().Add("Warning", "299 - "+string(quoted))
	}
}

// take is what was asked since the last time.
func (d *dryRuns) take() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.asked
	d.asked = nil
	return out
}

// asker runs commands against the server with one job.
func (d *dryRuns) asker(t *testing.T, job string) func(args ...string) (int, string) {
	t.Helper()
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	config, file := filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "job.yaml")
	for name, text := range map[string]string{
		config: "apiVersion: v1\nkind: Config\ncurrent-context: x\nclusters: [{name: x, cluster: {server: \"" + server.URL + "\"}}]\ncontexts: [{name: x, context: {cluster: x, user: x}}]\nusers: [{name: x, user: {}}]\n",
		file:   job,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("KUBECONFIG", config)
	return func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		code := run(t.Context(), &shell.Shell{Name: "signalbox", Out: &out, Err: &errs, Now: time.Now}, append(args, file))
		return code, out.String() + errs.String()
	}
}

// recorded is the warning of a webhook whose answer that is.
func recorded(t *testing.T, r webhook.Record) string {
	t.Helper()
	line, err := r.Warning()
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func busyRecord() webhook.Record {
	return webhook.Record{
		Fit: &webhook.RecordedFit{Verdict: "full", Placed: 4, Wanted: 6, Waits: true, Changes: []string{"fits with 4 Workers instead of 6"}, Nodes: &webhook.RecordedNodes{Rejected: fit.Rejections{Total: 6, Full: 6}}, Preempts: &fit.Preemption{Class: "high", Priority: 7, Pods: 3}},
		Findings: []webhook.RecordedFinding{
			{Finding: finding.Finding{Check: "priority-class-missing", Severity: finding.Error, Path: "spec.pytorchReplicaSpecs.Worker", Message: "PriorityClass \"x\" does not exist"}},
		},
		Ran: 130,
	}
}

func lists(asked []string) bool {
	return slices.ContainsFunc(asked, func(a string) bool { return strings.HasSuffix(a, "/nodes") || strings.HasSuffix(a, "/pods") })
}

// TestAnInstallationIsAskedInOneRequest has a webhook that answers: nothing else is asked, and what it says weighs as much as if it
// had been found here.
func TestAnInstallationIsAskedInOneRequest(t *testing.T) {
	d := &dryRuns{warnings: []string{recorded(t, busyRecord()), "the policy of somebody else warns"}}
	ask := d.asker(t, askedJob)
	want := []string{"POST /apis/kubeflow.org/v1/namespaces/ml/pytorchjobs"}
	code, text := ask("fit")
	if asked := d.take(); code != shell.ExitBusy || !strings.Contains(text, "4 of 6 pods fit now") || !strings.Contains(text, "the priority class high (7) would preempt 3 pods") || !strings.Contains(text, "what Signalbox in the cluster answers") || !slices.Equal(asked, want) {
		t.Errorf("fit: exit code %d, asked %v\n%s", code, asked, text)
	}
	code, text = ask("check")
	if asked := d.take(); code != shell.ExitFindings || !strings.Contains(text, "error[priority-class-missing]") || !strings.Contains(text, "somebody else warns") || !slices.Equal(asked, want) {
		t.Errorf("check: exit code %d, asked %v\n%s", code, asked, text)
	}
	if _, offline := ask("check", "--offline"); !strings.Contains(offline, "[") {
		t.Fatalf("the job is no example: nothing is found offline\n%s", offline)
	} else {
		for line := range strings.Lines(offline) {
			if strings.HasPrefix(line, "  warning[") && !strings.Contains(text, strings.TrimSpace(line)) {
				t.Errorf("check says less than --offline: %s\n%s", line, text)
			}
		}
	}
	d.take()
	off := filepath.Join(t.TempDir(), "off.yaml")
	for _, settings := range []string{"checks: {disable: [priority-class-missing]}", "checks: {namespaces: {ml: {disable: [priority-class-missing]}}}"} {
		if err := os.WriteFile(off, []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, text := ask("check", "--config", off); strings.Contains(text, "priority-class-missing") {
			t.Errorf("%s: the check is off, whoever ran it\n%s", settings, text)
		}
	}
	d.take()
	if code, text = ask("fit", "--ask=never"); code != shell.ExitFindings || !lists(d.take()) {
		t.Errorf("--ask=never: exit code %d\n%s", code, text)
	}
	for _, flags := range [][]string{{"--map"}, {"--who"}, {"--set", "Worker.replicas=1"}, {"-o", "html"}, {"--fix"}} {
		if _, text = ask(append([]string{"fit"}, flags...)...); !lists(d.take()) {
			t.Errorf("%v needs names, and nothing was listed\n%s", flags, text)
		}
		if code, text = ask(append([]string{"fit", "--ask"}, flags...)...); code != shell.ExitUsage || !strings.Contains(text, "--ask answers without the names of nodes") {
			t.Errorf("--ask %v: exit code %d\n%s", flags, code, text)
		}
	}
}

// TestAConfigMapIsAskedForBesideAnInstallation has a webhook that follows no ConfigMaps and no Secrets: the shell asks for those
// that the job names, with the user's own rights.
func TestAConfigMapIsAskedForBesideAnInstallation(t *testing.T) {
	d := &dryRuns{warnings: []string{recorded(t, busyRecord())}}
	job := strings.Replace(askedJob, "resources:", "envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: token}}, {configMapRef: {name: extra, optional: true}}], resources:", 1)
	_, text := d.asker(t, job)("check")
	for _, want := range []string{
		`needs ConfigMap "settings", which does not exist in namespace ml`, `needs Secret "token", which does not exist in namespace ml`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want %s\n%s", want, text)
		}
	}
	if asked := d.take(); lists(asked) || strings.Contains(text, `"extra"`) || slices.ContainsFunc(asked, func(a string) bool { return strings.HasSuffix(a, "/extra") }) {
		t.Errorf("asked %v\n%s", asked, text)
	}
}

// TestOneMistakeIsToldOnce has a device that is misspelt: without nodes one check says so, and with them another one.
func TestOneMistakeIsToldOnce(t *testing.T) {
	const at = "spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].resources.limits[\"nvidia.com/gpus\"]"
	d := &dryRuns{warnings: []string{recorded(t, webhook.Record{Ran: 130, Fit: busyRecord().Fit, Findings: []webhook.RecordedFinding{
		{Finding: finding.Finding{Check: "pod-exceeds-every-node", Severity: finding.Error, Path: at, Message: "no node has any", Remedy: "Correct the name of the resource."}},
	}})}}
	_, text := d.asker(t, strings.Replace(askedJob, "nvidia.com/gpu", "nvidia.com/gpus", 1))("check")
	if !strings.Contains(text, "error[pod-exceeds-every-node]") || strings.Contains(text, "[resource-name-misspelt]") {
		t.Errorf("both checks speak, or none:\n%s", text)
	}
}

// TestRemediesDoNotChangeWhatIsFound asks with --fix and without: the installation is asked for what is found, and the cluster is
// listed for the remedies alone.
func TestRemediesDoNotChangeWhatIsFound(t *testing.T) {
	d := &dryRuns{warnings: []string{recorded(t, busyRecord()), "the policy of somebody else warns"}}
	ask := d.asker(t, askedJob)
	code, found := ask("check")
	d.take()
	withFix, text := ask("check", "--fix")
	if asked := d.take(); !lists(asked) || withFix != code || !strings.HasPrefix(text, strings.TrimSuffix(found, "\n")) {
		t.Errorf("exit code %d and %d, asked %v; want\n%s\nand remedies, have\n%s", code, withFix, asked, found, text)
	}
}

// TestWithoutAnInstallationTheClusterIsListed has a server on which no Signalbox answers, for one reason or another.
func TestWithoutAnInstallationTheClusterIsListed(t *testing.T) {
	cut := busyRecord()
	cut.Left = 3
	unknown := busyRecord()
	unknown.Fit.Verdict = "unknown"
	cases := map[string]struct {
		d    *dryRuns
		note string
	}{
		"nobody answers":          {&dryRuns{}, "no webhook of Signalbox answered a dry run"},
		"no right to create":      {&dryRuns{refusal: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"pytorchjobs.kubeflow.org is forbidden: User \"a\" cannot create resource \"pytorchjobs\""}`}, "you may not create a PyTorchJob in namespace ml, so the cluster's webhooks were not asked; to ask for: create on pytorchjobs.kubeflow.org there"},
		"a refusal in Go's words": {&dryRuns{refusal: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422,"message":"spec: Invalid value: core.PodSpec{Volumes:[]core.Volume(nil)}: field is immutable"}`}, "no webhook of Signalbox answered a dry run: spec: Invalid value: …: field is immutable\n"},
		"findings are left out":   {&dryRuns{warnings: []string{recorded(t, cut)}}, "leaves out 3 findings"},
		"Signalbox is not ready":  {&dryRuns{warnings: []string{recorded(t, unknown)}}, "does not know whether the job fits"},
		"a warning that was cut":  {&dryRuns{warnings: []string{recorded(t, busyRecord())[:100]}}, "no webhook of Signalbox answered a dry run"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ask := tc.d.asker(t, askedJob)
			_, text := ask("fit")
			if asked := tc.d.take(); !lists(asked) || !strings.Contains(text, "the cluster is listed: ") || !strings.Contains(text, tc.note) {
				t.Errorf("fit asked %v\n%s", asked, text)
			}
			code, text := ask("fit", "--ask")
			if asked := tc.d.take(); lists(asked) || code == shell.ExitFine {
				t.Errorf("fit --ask: exit code %d, asked %v\n%s", code, asked, text)
			}
		})
	}
}

// TestAJobThatIsThereIsAskedAbout updates it in a dry run instead.
func TestAJobThatIsThereIsAskedAbout(t *testing.T) {
	for _, hidden := range []bool{false, true} { // who may not read it may change it, or is told that he may not
		none := webhook.Record{Fit: &webhook.RecordedFit{Verdict: "full", Wanted: 6, Waits: true, Nodes: &webhook.RecordedNodes{Rejected: fit.Rejections{Total: 6, Full: 6}}}}
		d := &dryRuns{there: true, hidden: hidden, warnings: []string{recorded(t, busyRecord())}, second: []string{recorded(t, none), "[gang-does-not-fit] 0 of 6 pods fit now"}}
		code, text := d.asker(t, askedJob)("fit")
		if !strings.Contains(text, "4 of 6 pods fit now") || strings.Contains(text, "0 of 6") {
			t.Errorf("hidden %t: the answer is that about a second job:\n%s", hidden, text)
		}
		if asked := d.take(); code != shell.ExitBusy || lists(asked) || !strings.HasPrefix(asked[len(asked)-1], "PATCH ") {
			t.Errorf("hidden %t: exit code %d, asked %v\n%s", hidden, code, asked, text)
		}
	}
}

// TestAsManyJobsAreAskedAboutAsPromised has as many jobs as are asked about one by one, and one more: then the cluster is listed,
// and a note says so. Where --ask rules that out, each is asked about.
func TestAsManyJobsAreAskedAboutAsPromised(t *testing.T) {
	const note = "the cluster is listed: 51 jobs are asked about, and one listing serves them all"
	for _, n := range []int{50, 51} {
		d := &dryRuns{warnings: []string{recorded(t, busyRecord())}}
		ask := d.asker(t, strings.Repeat(askedJob+"---\n", n))
		_, text := ask("fit")
		if asked := d.take(); lists(asked) != (n > 50) || strings.Contains(text, note) != (n > 50) || strings.Count(text, "PyTorchJob ml/asked") != n {
			t.Errorf("%d jobs: asked %d times, listed: %t\n%.2000s", n, len(asked), lists(asked), text)
		}
		_, text = ask("fit", "--ask")
		if asked := d.take(); lists(asked) || len(asked) != n || strings.Count(text, "4 of 6 pods fit now") != n {
			t.Errorf("%d jobs with --ask: asked %d times, listed: %t\n%.2000s", n, len(asked), lists(asked), text)
		}
	}
}

// TestAsManyObjectsAreAskedForAsPromised names as many ConfigMaps as are asked for by name, the first of them twice, and one more.
func TestAsManyObjectsAreAskedForAsPromised(t *testing.T) {
	const note = "objects that the jobs name (300 were asked for; whether the rest exists is unknown)"
	for _, n := range []int{300, 301} {
		var refs strings.Builder
		for i := range n {
			fmt.Fprintf(&refs, "{configMapRef: {name: c%d}}, ", i)
		}
		refs.WriteString("{configMapRef: {name: c0}}")
		d := &dryRuns{warnings: []string{recorded(t, busyRecord())}}
		_, text := d.asker(t, strings.Replace(askedJob, "resources:", "envFrom: ["+refs.String()+"], resources:", 1))("check")
		named := slices.DeleteFunc(d.take(), func(a string) bool { return !strings.Contains(a, "/configmaps/c") })
		if len(named) != 300 || strings.Contains(text, note) != (n > 300) {
			t.Errorf("%d names: %d asked for\n%.2000s", n, len(named), text[max(0, len(text)-2000):])
		}
	}
}
