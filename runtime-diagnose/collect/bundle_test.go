package collect

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

const trainYAML = `
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: train
  namespace: ml
  uid: now
  managedFields: [{manager: kubectl}]
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      template: {spec: {containers: [{name: pytorch, image: "train:1", env: [{name: WANDB_API_KEY, value: abcdef0123}, {name: EPOCHS, value: "3"}]}]}}
status: {conditions: [{type: Failed, status: "True", reason: PyTorchJobFailed}]}
`

func savedCase(t *testing.T) diagnose.Case {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := decodeYAML([]byte(trainYAML), &u.Object); err != nil {
		t.Fatal(err)
	}
	k := kind(t, "PyTorchJob")
	j, err := k.Read(u, nil)
	if err != nil {
		t.Fatal(err)
	}
	return diagnose.Case{
		Job: j, Kind: k, State: k.State(u), Now: now, Missing: []string{"nodes: forbidden"},
		Pods:    []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "train-master-0", Namespace: "ml"}, Status: corev1.PodStatus{Phase: corev1.PodFailed}}},
		Events:  []corev1.Event{{ObjectMeta: metav1.ObjectMeta{Name: "e", Namespace: "ml"}, Message: "cloned https://me:hunter2secret@git.example/x", Count: 3}},
		Objects: []*unstructured.Unstructured{object("batch/v1", "Job", "between", "j", nil, nil)},
		Logs: []diagnose.Log{
			inMemory(evidence.Source{Pod: "train-master-0", Container: "pytorch", Role: "Master", Rank: 0, Attempt: 1}, []byte("before\n")),
			inMemory(evidence.Source{Pod: "train-master-0", Container: "pytorch", Role: "Master", Rank: 0}, []byte("token hf_abcdefghijklmnopqrstuvwx\nCUDA out of memory\n")),
			inMemory(evidence.Source{File: "../../etc/passwd", Rank: -1}, []byte("bare\n")),
			{Source: evidence.Source{Pod: "p", Container: "c"}, Open: func() (io.ReadCloser, error) { return nil, errors.New("gone") }},
		},
	}
}

func save(t *testing.T, c diagnose.Case) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Save(c, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func write(t *testing.T, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bundle.tgz")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func text(t *testing.T, log diagnose.Log) string {
	t.Helper()
	in, err := log.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	b, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestABundleHoldsTheCaseWithoutItsSecrets(t *testing.T) {
	raw := save(t, savedCase(t))
	if !bytes.Equal(raw, save(t, savedCase(t))) {
		t.Error("two bundles of one case differ")
	}
	for name, body := range unpacked(t, raw) {
		for _, secret := range []string{"hf_abcdef", "hunter2", "abcdef0123", "managedFields"} {
			if strings.Contains(body, secret) {
				t.Errorf("%s holds %q", name, secret)
			}
		}
	}
	got, err := Open(t.Context(), write(t, raw))
	if err != nil {
		t.Fatal(err)
	}
	want := savedCase(t)
	if diff := cmp.Diff(want.Job.Ref, got.Job.Ref); diff != "" || got.Kind != want.Kind {
		t.Errorf("job (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.State, got.State); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Pods, got.Pods, cmpopts.IgnoreFields(metav1.TypeMeta{}, "Kind", "APIVersion")); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
	if len(got.Events) != 1 || got.Events[0].Count != 3 || len(got.Objects) != 1 || got.Objects[0].GetName() != "between" || !got.Now.Equal(now) {
		t.Errorf("events %v, objects %v, time %s", got.Events, got.Objects, got.Now)
	}
	if env := got.Job.Role("Master").Pod.Spec.Containers[0].Env; env[0].Value != "[masked]" || env[1].Value != "3" {
		t.Errorf("environment is %v", env)
	}
	var logs []string
	for _, log := range got.Logs {
		logs = append(logs, fmt.Sprintf("%s %s %d: %s", log.Source.Pod, log.Source.Role, log.Source.Attempt, text(t, log)))
	}
	wantLogs := []string{"train-master-0 Master 1: before\n", "train-master-0 Master 0: token [masked]\nCUDA out of memory\n", "  0: bare\n"}
	if diff := cmp.Diff(wantLogs, logs); diff != "" {
		t.Errorf("logs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"nodes: forbidden", "log of p/c: gone"}, got.Missing); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
}

func TestAFolderIsABundleToo(t *testing.T) {
	files := unpacked(t, save(t, savedCase(t)))
	for _, below := range []string{".", "train"} { // tar xzf makes either
		dir := t.TempDir()
		for name, body := range files {
			path := filepath.Join(dir, below, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := Open(t.Context(), dir)
		if err != nil || len(got.Logs) != 3 || got.Job.Ref.Name != "train" {
			t.Errorf("Open %s: %d logs, %v", below, len(got.Logs), err)
		}
	}
}

func TestABundleIsAZipToo(t *testing.T) {
	var zipped, again bytes.Buffer
	if err := errors.Join(SaveZip(savedCase(t), &zipped), SaveZip(savedCase(t), &again)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(zipped.Bytes(), again.Bytes()) {
		t.Error("two bundles of one case differ")
	}
	path := filepath.Join(t.TempDir(), "train.zip")
	if err := os.WriteFile(path, zipped.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Open(t.Context(), write(t, save(t, savedCase(t))))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(diagnose.Log{}, "Open"), cmpopts.IgnoreFields(diagnose.Case{}, "Kind", "Job"), cmpopts.IgnoreUnexported(diagnose.Case{}, diagnose.Log{})); diff != "" {
		t.Errorf("a .zip instead of a .tgz (-tgz +zip):\n%s", diff)
	}
	for i := range want.Logs {
		if diff := cmp.Diff(text(t, want.Logs[i]), text(t, got.Logs[i])); diff != "" {
			t.Errorf("log %d (-tgz +zip):\n%s", i, diff)
		}
	}
}

// unpacked are the files of an archive.
func unpacked(t *testing.T, raw []byte) map[string]string {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for r := tar.NewReader(zip); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(body)
	}
}

// tgz is an archive with these entries; a name that ends in @ is a symbolic link.
func tgz(t *testing.T, entries ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	w := tar.NewWriter(zip)
	for _, e := range entries {
		name, body, _ := strings.Cut(e, "=")
		h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(body)), Typeflag: tar.TypeReg}
		if link, ok := strings.CutSuffix(name, "@"); ok {
			h = &tar.Header{Name: link, Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}
			body = ""
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, body); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBadArchives(t *testing.T) {
	whole := save(t, savedCase(t))
	cases := map[string]struct {
		raw  []byte
		want string
	}{
		"no archive":                 {[]byte("hello"), "expected a folder or a gzip-compressed tar"},
		"nothing":                    {nil, "expected a folder or a gzip-compressed tar: EOF"},
		"cut in the middle":          {whole[:len(whole)/2], "the archive ends in the middle"},
		"a path that leaves":         {tgz(t, "../bundle.json={}"), `"../bundle.json" leaves the bundle`},
		"an absolute path":           {tgz(t, "/etc/passwd=x"), `"/etc/passwd" leaves the bundle`},
		"a link":                     {tgz(t, "logs/x@"), `"logs/x" is no regular file`},
		"another tar":                {tgz(t, "README=hello"), "there is no bundle.json in it; `signalbox bundle KIND/NAME -o FILE.tgz` writes one, and `signalbox diagnose FILE` reads logs and objects that are packed otherwise"},
		"another program's":          {tgz(t, `bundle.json={"schema":"x/v9"}`), `schema is "x/v9"; expected "signalbox.dev/bundle/v1"`},
		"an index that is no JSON":   {tgz(t, "bundle.json=]"), "read bundle.json: invalid character"},
		"pods that are no pods":      {tgz(t, `bundle.json={"schema":"signalbox.dev/bundle/v1"}`, "pods.yaml=apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: [1]}}\n"), "read pods.yaml:4: read Pod : metadata.name holds array; expected string"},
		"a job that is no YAML":      {tgz(t, `bundle.json={"schema":"signalbox.dev/bundle/v1"}`, "job.yaml=\t{"), "read job.yaml: "},
		"a list with a scalar in it": {tgz(t, `bundle.json={"schema":"signalbox.dev/bundle/v1"}`, "events.yaml=apiVersion: v1\nkind: List\nitems: [7]"), "read events.yaml:3: "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			path := write(t, tc.raw)
			_, err := Open(t.Context(), path)
			if err == nil || !strings.HasPrefix(err.Error(), "open bundle "+path+": ") || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error is %v, want one with %q", err, tc.want)
			}
		})
	}
	if _, err := Open(t.Context(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a bundle that is not there: %v", err)
	}
}

func TestWhatIsHeldOfABundleIsBounded(t *testing.T) {
	c := &contents{objects: map[string][]byte{}, logs: map[string]*logFile{}}
	if err := c.hold("pods.yaml", zeroes{}); err == nil || err.Error() != "pods.yaml has more than 67108864 bytes" {
		t.Errorf("a file without an end: %v", err)
	}
	c.bytes = maxTotal
	if err := c.hold("job.yaml", strings.NewReader("x")); err == nil || err.Error() != "its objects have more than 268435456 bytes in all" {
		t.Errorf("one file too many: %v", err)
	}
	for i := range maxFiles {
		c.logs[fmt.Sprint(i)] = nil
	}
	if err := c.count(); err == nil || err.Error() != "it has more than 262144 files" {
		t.Errorf("files without an end: %v", err)
	}
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { return len(p), nil }

func TestABundleWithoutAJobOrOfAnUnknownKindIsStillRead(t *testing.T) {
	raw := tgz(t,
		`bundle.json={"schema":"signalbox.dev/bundle/v1","logs":[{"file":"a.log","rank":-1},{"file":"b.log","rank":-1}]}`,
		"a.log=hello\n", "job.yaml=apiVersion: example.com/v1\nkind: Thing")
	got, err := Open(t.Context(), write(t, raw))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"job spec: no reader for example.com/v1, Kind=Thing", "log of /: b.log is not in the bundle"}
	if diff := cmp.Diff(want, got.Missing); diff != "" || len(got.Logs) != 1 || got.Job != nil {
		t.Errorf("%d logs, job %v, missing (-want +got):\n%s", len(got.Logs), got.Job, diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"schema":"signalbox.dev/bundle/v1"}`), []byte(trainYAML), []byte("items: []"))
	f.Fuzz(func(_ *testing.T, ix, jobText, pods []byte) {
		_, _ = (&contents{objects: map[string][]byte{indexFile: ix, "job.yaml": jobText, "pods.yaml": pods, "objects.yaml": pods}}).parse()
	})
}

func inMemory(source evidence.Source, text []byte) diagnose.Log {
	return diagnose.Log{Source: source, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
}
