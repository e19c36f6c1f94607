package main

import (
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

// ran is what a command says to both streams, and its exit code.
func ran(t *testing.T, in string, args ...string) (said string, code int) {
	t.Helper()
	var out strings.Builder
	code = run(t.Context(), &shell.Shell{Name: "signalbox", In: strings.NewReader(in), Out: &out, Err: &out, Now: time.Now}, args)
	return out.String(), code
}

// What is asked for beyond a bound is refused, or counted, and the bound is named.
func TestBoundsOfCommandsAreSaid(t *testing.T) {
	dir := t.TempDir()
	const gang = "../../examples/gang-does-not-fit/"
	fit := func(values int) []string {
		var all []string
		for i := range values {
			all = append(all, fmt.Sprint(i+1))
		}
		return []string{"fit", gang + "job.yaml", "--snapshot", gang + "cluster.yaml", "--set", "Worker.replicas=" + strings.Join(all, ",")}
	}
	// a folder with a file of so many bytes, all of them blank
	sized := func(name string, size int64) string {
		name = filepath.Join(dir, name)
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(size); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		return name
	}
	served := func(size int) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("# a comment" + strings.Repeat(" ", size-len("# a comment"))))
		}))
		t.Cleanup(s.Close)
		return s.URL + "/job.yaml"
	}
	pods := func(jobs int) []string {
		var b strings.Builder
		for i := range jobs {
			fmt.Fprintf(&b, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: j%[1]d-master-0, namespace: ml, uid: u%[1]d, labels: {training.kubeflow.org/job-name: j%[1]d, training.kubeflow.org/replica-type: master, training.kubeflow.org/replica-index: \"0\"},"+
				" ownerReferences: [{apiVersion: kubeflow.org/v1, kind: PyTorchJob, name: j%[1]d, uid: o%[1]d, controller: true}]}\n"+
				"status: {phase: Failed, containerStatuses: [{name: pytorch, state: {terminated: {exitCode: 137, reason: OOMKilled}}}]}\n", i)
		}
		name := filepath.Join(dir, fmt.Sprintf("pods-%d.yaml", jobs))
		if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{"diagnose", "--pods", name}
	}
	// a job of so many roles, each on a node of its own: no two rows of the map are alike
	pool := func(nodes int) []string {
		var b, tasks strings.Builder
		for i := range nodes {
			fmt.Fprintf(&b, "---\n{apiVersion: v1, kind: Node, metadata: {name: n%d}, status: {allocatable: {cpu: 64, memory: 1Ti, pods: 110, nvidia.com/gpu: 8}, conditions: [{type: Ready, status: \"True\"}]}}\n", i)
			fmt.Fprintf(&tasks, "{name: \"%c\", replicas: 1, template: {spec: {containers: [{name: c, image: \"a:1\", resources: {limits: {nvidia.com/gpu: 8}}}]}}}, ", 'a'+i)
		}
		job := filepath.Join(dir, fmt.Sprintf("roles-%d.yaml", nodes))
		for name, text := range map[string]string{
			job:           fmt.Sprintf("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j, namespace: ml}, spec: {minAvailable: %d, tasks: [%s]}}\n", nodes, tasks.String()),
			job + ".view": b.String(),
		} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return []string{"fit", job, "--snapshot", job + ".view", "-o", "html"}
	}
	for name, tc := range map[string]struct {
		within, beyond []string
		want           string // said of what is beyond, and of nothing within
	}{
		"variants of a question":      {fit(20), fit(21), "--set makes 21 variants; expected 20 at most"},
		"rounds of a measurement":     {[]string{"policy", "bench", "--rounds", "100000"}, []string{"policy", "bench", "--rounds", "100001"}, "--rounds is 100001; expected 1 to 100000"},
		"what an address sends":       {[]string{"check", "-f", served(1 << 10)}, []string{"check", "-f", served(64<<20 + 1)}, "holds more than 64 MiB"},
		"a file of events":            {[]string{"diagnose", "--events", sized("small", 1)}, []string{"diagnose", "--events", sized("large", 64<<20+1)}, "holds more than 64 MiB"},
		"jobs that are told":          {pods(8), pods(9), "; 8 of them told here: give the pods of another alone"},
		"jobs that are named":         {pods(32), pods(33), ", 1 more; 8 of them told here"},
		"rows of a pool":              {pool(24), pool(25), "2 more nodes: 16 this job"},
		"places that speak of a word": {[]string{"capacities"}, []string{"namespace"}, " more"},
	} {
		t.Run(name, func(t *testing.T) {
			if said, _ := ran(t, "", tc.within...); strings.Contains(said, tc.want) {
				t.Errorf("within the bound it is said: %.600s", said)
			}
			if said, code := ran(t, "", tc.beyond...); !strings.Contains(said, tc.want) {
				t.Errorf("beyond the bound it is not said (exit code %d): %.900s", code, said)
			}
		})
	}
}
