package manifest_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	with "github.com/signalbox-dev/signalbox/test/build"
	"github.com/signalbox-dev/signalbox/test/resident"
)

const podsPerNode = 20

// bigCluster is nodes and pods as signalbox snapshot gathers them: twenty pods a node that
// operators made, with requests of many sizes.
func bigCluster(b *testing.B, nodes int) manifest.View {
	b.Helper()
	v := manifest.View{Taken: with.Taken, Complete: []schema.GroupResource{{Resource: "nodes"}, {Resource: "pods"}}}
	add := func(o any, kind string) {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err != nil {
			b.Fatal(err)
		}
		clean(fields)
		u := &unstructured.Unstructured{Object: fields}
		u.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
		v.Objects = append(v.Objects, u)
	}
	for i := range nodes {
		add(with.Node(fmt.Sprintf("gpu-%05d", i), with.GPUs(8), with.Label("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB"), with.Label("nvidia.com/gpu.count", "8"),
			with.Label("node.kubernetes.io/instance-type", "a2-ultragpu-8g"), with.Label("topology.kubernetes.io/zone", fmt.Sprintf("europe-west4-%c", 'a'+rune(i%3)))), "Node")
	}
	for i := range nodes {
		name := fmt.Sprintf("train-%05d", i)
		for j := range podsPerNode {
			p := with.Pod(fmt.Sprintf("%s-worker-%02d", name, j), with.In(fmt.Sprintf("team-%02d", i%50)), with.On(fmt.Sprintf("gpu-%05d", i)), with.OwnedBy("PyTorchJob", name),
				with.Requests(fmt.Sprintf("cpu=%dm", 100*(1+(i*7+j*3)%40)), fmt.Sprintf("memory=%dGi", 1+(i+j)%16)),
				with.PodLabel("training.kubeflow.org/job-name", name), with.PodLabel("training.kubeflow.org/operator-name", "pytorchjob-controller"),
				with.PodLabel("training.kubeflow.org/replica-index", strconv.Itoa(j)), with.PodLabel("training.kubeflow.org/replica-type", "worker"))
			add(cluster.LeanPod(p), "Pod")
		}
	}
	return v
}

// BenchmarkSnapshot is what a snapshot of 5,000 nodes and 100,000 pods takes on disk, and
// what writing and reading it costs.
func BenchmarkSnapshot(b *testing.B) {
	const nodes = 5000
	v := bigCluster(b, nodes)
	objects, dir := len(v.Objects), b.TempDir()
	forms := []struct {
		name string
		form manifest.Form
	}{{"cluster.yaml", manifest.Form{}}, {"cluster.json", manifest.Form{JSON: true}}, {"cluster.yaml.gz", manifest.Form{}}, {"plain.yaml", manifest.Form{Plain: true}}}
	for _, f := range forms {
		b.Run("write/"+f.name, func(b *testing.B) {
			for b.Loop() {
				if err := save(filepath.Join(dir, f.name), v, f.form); err != nil {
					b.Fatal(err)
				}
			}
			at, err := os.Stat(filepath.Join(dir, f.name))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(at.Size())/1e6, "MB/file")
		})
	}
	v = manifest.View{}
	for _, f := range forms {
		b.Run("read/"+f.name, func(b *testing.B) {
			debug.FreeOSMemory()
			resident.Forget()
			before := resident.Peak()
			for b.Loop() {
				read, err := manifest.ReadView([]string{filepath.Join(dir, f.name)}, nil)
				if err != nil || len(read.Objects)+len(read.Pods) != objects {
					b.Fatalf("%d objects were read of %d: %v", len(read.Objects)+len(read.Pods), objects, err)
				}
				if s, err := read.Snapshot(); err != nil || len(s.Nodes()) != nodes {
					b.Fatalf("the snapshot lacks nodes: %v", err)
				}
			}
			b.ReportMetric(resident.Peak()-before, "MiB/peak")
		})
	}
}

func save(name string, v manifest.View, form manifest.Form) error {
	var text bytes.Buffer
	var w io.Writer = &text
	zip := gzip.NewWriter(&text)
	if strings.HasSuffix(name, ".gz") {
		w = zip
	}
	if err := v.Write(w, form); err != nil {
		return err
	}
	if w == zip {
		if err := zip.Close(); err != nil {
			return err
		}
	}
	return os.WriteFile(name, text.Bytes(), 0o600)
}
