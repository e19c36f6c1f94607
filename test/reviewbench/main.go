// Command reviewbench measures how long a review takes and prints the numbers beside what
// is promised: one review of the largest sample without the fit, the webhook's whole review on
// more and more nodes, a folder of a thousand manifests, and one file from start to exit.
//
//	make bench-review
//
// It judges nothing: a busy machine is slower. The promises are for two cores at rest.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	"github.com/signalbox-dev/signalbox/webhook"
)

// What is promised.
const (
	mostReview  = 300 * time.Microsecond
	mostHandle  = 600 * time.Microsecond // the webhook's whole review on 5,000 nodes
	mostBytes   = 200_000
	mostFolder  = 500 * time.Millisecond
	mostOneFile = 40 * time.Millisecond
	inFolder    = 1000
)

func main() {
	program := flag.String("program", "bin/signalbox", "the program to start")
	samples := flag.String("samples", "config/samples", "folder of sample jobs")
	flag.Parse()
	if err := run(*program, *samples); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(program, samples string) error {
	jobs, err := read(samples)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what (median)\twall clock\tprocessor\tpromised\t")
	set, err := check.NewSet(checks.All()...)
	if err != nil {
		return err
	}
	largest, slowest := "", cost{}
	for _, j := range jobs {
		if c := review(set, j.Object); c.wall > slowest.wall || largest == "" {
			largest, slowest = filepath.Base(j.Source), c
		}
	}
	fmt.Fprintf(w, "review of %s by %d checks\t%s\t\t%s\t\n", largest, len(set.Names()), slowest.wall.Round(time.Microsecond), mostReview)
	fmt.Fprintf(w, "  allocated\t%d bytes in %d\t\t%d bytes\t\n", slowest.bytes, slowest.allocs, mostBytes)

	text, err := os.ReadFile(filepath.Join(samples, "pytorchjob.yaml"))
	if err != nil {
		return err
	}
	for _, nodes := range []int{100, 1000, 5000, 15000} {
		c, err := handle(set, text, nodes)
		if err != nil {
			return err
		}
		promised, bytes := "", ""
		switch nodes {
		case 5000:
			promised, bytes = mostHandle.String(), fmt.Sprintf("%d bytes", mostBytes)
		case 15000:
			promised = "twice what 100 nodes cost"
		}
		fmt.Fprintf(w, "webhook's review with fit and policies, %d nodes\t%s\t%s\t%s\t\n", nodes, c.wall.Round(time.Microsecond), c.cpu.Round(time.Microsecond), promised)
		fmt.Fprintf(w, "  allocated\t%d bytes in %d\t\t%s\t\n", c.bytes, c.allocs, bytes)
	}

	dir, err := os.MkdirTemp("", "reviewbench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder of our own
	for i := range inFolder {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("job-%04d.yaml", i)), text, 0o600); err != nil {
			return err
		}
	}
	folder, err := timed(7, program, "check", "--offline", "-f", dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "check of %d manifests in one folder\t%s\t%s\t%s\t\n", inFolder, folder.wall.Round(time.Millisecond), folder.cpu.Round(time.Millisecond), mostFolder)
	one, err := timed(31, program, "check", "--offline", "-f", filepath.Join(samples, "pytorchjob.yaml"))
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "check of one file, start to exit\t%s\t%s\t%s\t\n", one.wall.Round(100*time.Microsecond), one.cpu.Round(100*time.Microsecond), mostOneFile)
	return w.Flush()
}

// read reads all sample jobs.
func read(dir string) (out []manifest.Document, err error) {
	sources, err := manifest.Sources([]string{dir}, nil)
	if err != nil {
		return nil, err
	}
	for _, s := range sources {
		for d, err := range s.Documents() {
			if err == nil && !d.List && !strings.HasPrefix(filepath.Base(s.Name), "kustomization") {
				out = append(out, d)
			}
		}
	}
	return out, nil
}

// cost is what one thing takes: the median of many, so that a busy machine disturbs little.
type cost struct {
	wall, cpu     time.Duration
	bytes, allocs int64
}

// review measures one review without a cluster, and so without the fit.
func review(set *check.Set, object *unstructured.Unstructured) cost {
	r := &preflight.Reviewer{Checks: set}
	once := func() {
		_, _ = r.Review(context.Background(), preflight.Request{Object: object, Namespace: map[string]string{}}) // kinds that are not covered cost nothing
	}
	memory := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			once()
		}
	})
	var all []time.Duration
	for range 2000 {
		start := time.Now()
		once()
		all = append(all, time.Since(start))
	}
	return cost{wall: median(all), bytes: memory.AllocedBytesPerOp(), allocs: memory.AllocsPerOp()}
}

// view is a cluster that does not change.
type view struct{ snapshot *cluster.Snapshot }

func (v view) Snapshot() *cluster.Snapshot      { return v.snapshot }
func (view) Namespace(string) map[string]string { return map[string]string{} }

// handle measures the webhook's review of one creation, from the decoded AdmissionReview to the
// answer, with all checks, the fit on so many nodes, and the policies.
func handle(set *check.Set, manifest []byte, nodes int) (cost, error) {
	opa, err := policies.Load(policies.Library())
	if err != nil {
		return cost{}, err
	}
	raw, err := yaml.YAMLToJSON(manifest)
	if err != nil {
		return cost{}, err
	}
	h := webhook.NewHandler(webhook.HandlerOptions{
		Reviewer: webhook.Stages(&preflight.Reviewer{Checks: set, Policies: opa}), View: view{clusterOf(nodes)}, Deadline: time.Minute,
	})
	request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "1", Operation: admissionv1.Create, Namespace: "ml", Kind: metav1.GroupVersionKind{Group: "kubeflow.org", Version: "v1", Kind: "PyTorchJob"},
		Resource: metav1.GroupVersionResource{Group: "kubeflow.org", Version: "v1", Resource: "pytorchjobs"}, Object: runtime.RawExtension{Raw: raw},
	}}
	memory := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			h.Handle(context.Background(), request)
		}
	})
	var wall []time.Duration
	const runs = 2000
	before := spent()
	for range runs {
		start := time.Now()
		h.Handle(context.Background(), request)
		wall = append(wall, time.Since(start))
	}
	return cost{wall: median(wall), cpu: (spent() - before) / runs, bytes: memory.AllocedBytesPerOp(), allocs: memory.AllocsPerOp()}, nil
}

// cluster is nodes of two pools with twenty pods each.
func clusterOf(nodes int) *cluster.Snapshot {
	var b cluster.Builder
	b.Complete(schema.GroupResource{Resource: "nodes"}, schema.GroupResource{Resource: "pods"})
	amounts := func(cpu, memory, pods, gpus string) corev1.ResourceList {
		return corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory), corev1.ResourcePods: resource.MustParse(pods),
			"nvidia.com/gpu": resource.MustParse(gpus),
		}
	}
	for i := range nodes {
		name := fmt.Sprintf("n%05d", i)
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelTopologyZone: fmt.Sprint("zone-", i%3), "nvidia.com/gpu.product": []string{"A100", "H100"}[i%2],
		}}}
		node.Status.Allocatable = amounts("96", "1Ti", "110", "8")
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		b.Node(node)
		for j := range 20 {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: fmt.Sprintf("%s-%d", name, j)}, Spec: corev1.PodSpec{NodeName: name}}
			pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: amounts(fmt.Sprint(1+i%3), "1Gi", "0", "0")}}}
			b.Pod(pod)
		}
	}
	return b.Snapshot(time.Time{})
}

// spent is the processor time of the process.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// timed starts the program several times. Findings are fine.
func timed(runs int, program string, args ...string) (cost, error) {
	var wall, cpu []time.Duration
	for range runs {
		cmd := exec.Command(program, args...)
		start := time.Now()
		err := cmd.Run()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 1 {
			return cost{}, fmt.Errorf("run %s: %w", cmd, err)
		}
		wall = append(wall, time.Since(start))
		cpu = append(cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	return cost{wall: median(wall), cpu: median(cpu)}, nil
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
