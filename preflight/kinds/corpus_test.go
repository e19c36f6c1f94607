package kinds

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/test/golden"
)

// realManifests is the folder of real manifests, where it is at hand. Their licences do
// not let us keep copies; what we read from them is ours.
const realManifests = "../../../shared/corpus/manifests"

// realJob is one document of a real manifest that a reader covers, and what was read.
type realJob struct {
	file   string
	kind   *Kind
	object *unstructured.Unstructured
	job    *job.Job
	err    error
}

func realJobs(t *testing.T) (out []realJob) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(realManifests, "dev", "*.yaml"))
	if len(files) == 0 {
		t.Skip("the corpus is not here")
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for doc := range bytes.SplitSeq(b, []byte("\n---")) {
			m := map[string]any{}
			if yaml.Unmarshal(doc, &m) != nil || len(m) == 0 {
				continue
			}
			u := &unstructured.Unstructured{Object: normal(m).(map[string]any)}
			if k := For(u.GroupVersionKind()); k != nil {
				j, err := k.Read(u, nil)
				out = append(out, realJob{filepath.Base(file), k, u, j, err})
			}
		}
	}
	return out
}

// TestCorpus reads real manifests in place: no panic, an answer for each, and no path that
// dangles.
func TestCorpus(t *testing.T) {
	whole, partly, nothing := 0, 0, 0
	for _, r := range realJobs(t) {
		t.Run(r.file, func(t *testing.T) { lawful(t, r.kind, r.object, r.job, r.err) })
		var readErr *ReadError
		switch {
		case r.err == nil:
			whole++
		case !errors.As(r.err, &readErr):
			t.Errorf("%s: %v is no *ReadError", r.file, r.err)
		case r.job != nil:
			partly++
		default:
			nothing++
		}
	}
	t.Logf("%d read whole, %d with problems, %d not at all", whole, partly, nothing)
	if whole < 50 {
		t.Errorf("only %d manifests were read whole", whole)
	}
}

// TestWhatRealManifestsSay holds what is read from each real manifest against a file that
// people have read: roles, pods, accelerators, how processes start, and what is not readable.
func TestWhatRealManifestsSay(t *testing.T) {
	var b strings.Builder
	for _, r := range realJobs(t) {
		fmt.Fprintf(&b, "%s: %s\n", strings.TrimSuffix(r.file, ".yaml"), r.kind.Name)
		if r.job != nil {
			for i := range r.job.Roles {
				fmt.Fprintf(&b, "  %s\n", roleLine(&r.job.Roles[i]))
			}
		}
		if readErr, ok := errors.AsType[*ReadError](r.err); ok {
			for _, p := range readErr.Problems {
				fmt.Fprintf(&b, "  ! %s is %s; expected %s\n", p.Path, p.Have, p.Want)
			}
		}
	}
	golden.Equal(t, "testdata/real-manifests.golden", []byte(b.String()))
}

// roleLine is "Worker 4 × 8 nvidia.com/gpu, torchrun 8 procs per node".
func roleLine(r *job.Role) string {
	line := r.Name + " " + rangeText(r.Replicas)
	if gpus := r.Pod.GPUs(); gpus.N > 0 {
		line += fmt.Sprintf(" × %d %s", gpus.N, gpus.Resource)
	}
	if r.Pod.Partial {
		line += ", partly written elsewhere"
	}
	if r.Launch.Program != "" {
		line += ", " + r.Launch.Program
	}
	for _, n := range []struct {
		of   job.Range
		what string
	}{{r.Launch.ProcsPerNode, "procs per node"}, {r.Launch.Nodes, "nodes"}, {r.Launch.Procs, "procs"}} {
		if n.of.Said() {
			line += fmt.Sprintf(", %s %s", rangeText(n.of), n.what)
		}
	}
	return line
}

func rangeText(r job.Range) string {
	if r.Min == r.Max {
		return strconv.Itoa(r.Max)
	}
	return fmt.Sprintf("%d..%d", r.Min, r.Max)
}

// countedOtherwise are the manifests of which the count is not what a reader may say.
var countedOtherwise = map[string]string{
	"107-mpijob-davislcvb-scorehive.yaml":      "a third role that the operator does not know, and does not start",
	"176-trainjob-lucas-qwen-sft.yaml":         "processes were counted; GPUs are written in the runtime",
	"218-rayjob-gke-pytorch-mnist.yaml":        "the pod that submits was not counted",
	"219-rayjob-gke-tpu-v6e-dws-template.yaml": "the pod that submits was not counted",
	"221-rayjob-gke-kueue-autoscaling.yaml":    "the pod that submits was not counted",
	"222-rayjob-gke-kueue-ephemeral.yaml":      "the pod that submits was not counted",
	"224-rayjob-kueue-sample.yaml":             "the pod that submits was not counted",
	"225-rayjob-kueue-v1alpha1.yaml":           "the pod that submits was not counted",
	"227-rayjob-runai-v1alpha1.yaml":           "the pod that submits was not counted",
	"247-vcjob-doc-ascend-vnpu.yaml":           "cores of an NPU, which another scheduler shares out",
	"298-framework-fc-tf-ps-hived.yaml":        "GPUs that another scheduler reads from an annotation",
	"300-framework-hived-demo1.yaml":           "GPUs that another scheduler reads from an annotation",
}

// TestRealManifestsCount compares pods and GPUs with what somebody else counted in the
// manifests, where a file holds one job and the count does not depend on a placeholder.
func TestRealManifestsCount(t *testing.T) {
	known := countsIn(t, filepath.Join(realManifests, "INDEX.tsv"))
	jobs := map[string][]realJob{}
	for _, r := range realJobs(t) {
		jobs[r.file] = append(jobs[r.file], r)
	}
	compared := 0
	for file, all := range jobs {
		want, ok := known[file]
		if !ok || len(all) != 1 || all[0].err != nil {
			continue
		}
		j, differs := all[0].job, ""
		if n, err := strconv.Atoi(want.pods); err == nil {
			compared++
			if n < j.MinPods() || n > j.MaxPods() {
				differs = fmt.Sprintf("%d to %d pods are read; %d were counted", j.MinPods(), j.MaxPods(), n)
			}
		}
		if n, err := strconv.ParseInt(want.gpus, 10, 64); err == nil {
			compared++
			most := int64(0)
			for i := range j.Roles {
				most = max(most, j.Roles[i].Pod.GPUs().N)
			}
			if most != n {
				differs = fmt.Sprintf("%d GPUs per pod are read; %d were counted", most, n)
			}
		}
		if why := countedOtherwise[file]; (differs != "") != (why != "") {
			t.Errorf("%s: differs: %q; known to differ: %q", file, differs, why)
		}
	}
	if compared < 100 {
		t.Errorf("%d numbers were compared; want 100 at least", compared)
	}
}

type counted struct{ gpus, pods string }

func countsIn(t *testing.T, file string) map[string]counted {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Skip("the corpus is not here")
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]counted{}
	for _, row := range rows {
		if len(row) > 6 {
			out[row[0]] = counted{gpus: row[5], pods: row[6]}
		}
	}
	return out
}
