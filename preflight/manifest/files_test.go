package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestSourcesAreTheManifestsOfAFolderInTheirOrder(t *testing.T) {
	dir := write(t, map[string]string{
		"b.yaml": "", "a/z.json": "", "a/y.yml": "", "c.yaml.gz": "", "readme.md": "", ".git/x.yaml": "", "..data/x.yaml": "", "a.gz": "",
	})
	if err := os.Symlink(filepath.Join(dir, "b.yaml"), filepath.Join(dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "a"), filepath.Join(dir, "folder.yaml")); err != nil {
		t.Fatal(err)
	}
	found, err := manifest.Sources([]string{dir, dir, filepath.Join(dir, "b.yaml")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range found {
		got = append(got, strings.TrimPrefix(s.Name, dir+"/"))
	}
	want := []string{"a/y.yml", "a/z.json", "b.yaml", "c.yaml.gz", "link.yaml", "b.yaml"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Sources (-want +got):\n%s", diff)
	}
}

func TestSourcesSayWhatWasExpected(t *testing.T) {
	empty := write(t, map[string]string{"notes.txt": ""})
	for name, want := range map[string]string{
		"nosuch.yaml":       "nosuch.yaml: no such file or folder; expected a file, a folder or - for standard input",
		empty:               empty + ": the folder holds no manifest; expected files that end in .yaml, .yml or .json",
		"https://a.b/c.yml": "https://a.b/c.yml: is an address; expected a file, a folder or - (try: curl -s https://a.b/c.yml | signalbox check -f -)",
	} {
		if _, err := manifest.Sources([]string{name}, nil); err == nil || err.Error() != want {
			t.Errorf("Sources(%s): %v, want %s", name, err, want)
		}
	}
}

func TestReadViewKnowsWhatIsWhole(t *testing.T) {
	dir := write(t, map[string]string{
		"nodes.yaml": "apiVersion: v1\nkind: List\nmetadata:\n  annotations:\n    signalbox.dev/complete: nodes, pods\n    signalbox.dev/taken: \"2026-01-02T15:04:05Z\"\n" +
			"items:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: a}\n  status: {allocatable: {cpu: 4}}\n",
		"claims.json": `{"apiVersion":"v1","kind":"List","metadata":{"annotations":{"signalbox.dev/complete":"PersistentVolumeClaims,queues.scheduling.volcano.sh"}},"items":[]}`,
	})
	view, err := manifest.ReadView([]string{dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := view.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if len(snap.Nodes()) != 1 || !snap.Taken().Equal(time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)) {
		t.Errorf("%d nodes taken at %s; want 1 at 15:04:05", len(snap.Nodes()), snap.Taken())
	}
	for resource, want := range map[schema.GroupResource]bool{
		{Resource: "nodes"}: true, {Resource: "pods"}: true, {Resource: "persistentvolumeclaims"}: true,
		{Group: "scheduling.volcano.sh", Resource: "queues"}: true, {Resource: "secrets"}: false,
	} {
		if snap.Holds(resource) != want {
			t.Errorf("Holds(%s) = %t, want %t", resource, !want, want)
		}
	}
	claim := schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
	if _, presence := snap.Lookup(claim, "ml", "data"); presence != job.Absent {
		t.Errorf("a claim that a whole listing lacks is %d, want absent", presence)
	}
}

func TestReadViewKeepsWhatItIsToldTo(t *testing.T) {
	dir := write(t, map[string]string{"n.yaml": "{apiVersion: v1, kind: Node, metadata: {name: a, annotations: {big: x}}}"})
	view, err := manifest.ReadView([]string{dir}, nil, func(o *unstructured.Unstructured) *unstructured.Unstructured {
		o.SetAnnotations(nil)
		return o
	})
	if err != nil {
		t.Fatal(err)
	}
	if notes := view.Objects[0].GetAnnotations(); len(notes) > 0 {
		t.Errorf("annotations %v were kept", notes)
	}
}

func TestReadViewRefusesHalfACluster(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"broken":     {"apiVersion: v1\n kind: List\n", "n.yaml:2: YAML: mapping values are not allowed"},
		"empty":      {"# nothing\n", "holds no Kubernetes object; expected a snapshot (kubectl get nodes,pods -A -o yaml, or signalbox snapshot)"},
		"a bad time": {"apiVersion: v1\nkind: List\nmetadata: {annotations: {signalbox.dev/taken: yesterday}}\nitems: []\n", `n.yaml:3: signalbox.dev/taken is "yesterday"; expected a time such as 2026-01-02T15:04:05Z`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, map[string]string{"n.yaml": tc.text})
			if _, err := manifest.ReadView([]string{dir}, nil); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("ReadView: %v, want one with %q", err, tc.want)
			}
		})
	}
	view, err := manifest.ReadView([]string{write(t, map[string]string{"n.yaml": "{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: [1]}}}"})}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := view.Snapshot(); err == nil || !strings.Contains(err.Error(), "read Node a: ") {
		t.Errorf("Snapshot: %v, want one that names the node", err)
	}
}

// TestAmountsThatTakeMinutesToReadAreRefused: the test itself would take minutes if one of
// the ways to a pod or a node read the amount before looking at it.
func TestAmountsThatTakeMinutesToReadAreRefused(t *testing.T) {
	const absurd = "1e-2147483648"
	pod := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"x","resources":{"requests":{"cpu":"` + absurd + `"}}}]}}`
	filler := strings.Repeat(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"},"spec":{"containers":[{"name":"x"}]}},`+"\n", 12_000) // read item by item
	for name, text := range map[string]string{
		"a pod":                pod,
		"a pod in a long list": `{"apiVersion":"v1","kind":"List","items":[` + filler + pod + `]}`,
		"a node":               "{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: '" + absurd + "'}}}",
		"a row of a table":     tabled("like", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"overhead":{"cpu":null}}}`, "columns", `["spec.overhead.cpu"]`, "rows", `[["1"],["`+absurd+`"]]`),
	} {
		view, err := manifest.ReadView([]string{"-"}, strings.NewReader(text))
		if err == nil {
			_, err = view.Snapshot()
		}
		if err == nil || !strings.Contains(err.Error(), `cpu is "1e-2147483648"; expected a quantity such as 8, 500m or 64Gi`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
