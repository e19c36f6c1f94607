//go:build integration

package bench

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/test/cluster"
	"github.com/signalbox-dev/signalbox/test/resident"
)

// The size of the cluster; SIGNALBOX_BENCH_NODES makes it another one.
const (
	defaultNodes = 5000
	podsPerNode  = 20
	namespaces   = 50
)

// BenchmarkLive fills a real API server and follows it.
func BenchmarkLive(b *testing.B) {
	nodes := defaultNodes
	if n, err := strconv.Atoi(os.Getenv("SIGNALBOX_BENCH_NODES")); err == nil && n > 0 {
		nodes = n
	}
	plane := cluster.ForTest(b, cluster.Options{Patience: 5 * time.Minute})
	begun := time.Now()
	fill(b, plane, nodes)
	b.Logf("wrote %d nodes and %d pods in %s", nodes, nodes*podsPerNode, time.Since(begun).Round(time.Second))
	b.Run(fmt.Sprintf("%d nodes/%d pods", nodes, nodes*podsPerNode), func(b *testing.B) {
		for range b.N {
			follow(b, plane, nodes)
		}
	})
}

// follow starts a view, and measures it.
func follow(b *testing.B, plane *cluster.Cluster, nodes int) {
	clients, err := live.Connect(plane.Config())
	if err != nil {
		b.Fatal(err)
	}
	alone := stir(b, plane, nodes) // what making changes takes without anybody who follows
	before := heap()
	resident.Forget()
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	ended := make(chan error, 1)
	view := live.New(clients, live.Options{})
	begun, used := time.Now(), processor()
	go func() { ended <- view.Start(ctx) }()
	patience, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := view.WaitForSync(patience); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(time.Since(begun).Seconds(), "s/ready")
	b.ReportMetric((processor() - used).Seconds(), "s-cpu/ready") // ours; the API server takes as much on the same machine
	if n := len(view.Snapshot().Nodes()); n != nodes {
		b.Fatalf("the view has %d nodes, want %d", n, nodes)
	}
	b.ReportMetric(float64(heap()-before)/(1<<20), "MiB/heap")
	b.ReportMetric(resident.Peak(), "MiB/peak")
	start := time.Now()
	r := whatif.Answer(context.Background(), view.Snapshot(), asked())
	b.ReportMetric(float64(time.Since(start).Microseconds())/1e3, "ms/first-fit")
	if r.Verdict != fit.Fits {
		b.Fatalf("the gang does not fit: %s", r)
	}
	b.ReportMetric(float64((stir(b, plane, nodes)-alone).Nanoseconds())/1e3, "µs-cpu/event")
	stop()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
}

// stir changes pods, and returns the processor time that this process took for each change.
func stir(b *testing.B, plane *cluster.Cluster, nodes int) time.Duration {
	b.Helper()
	const changes = 5000
	kube := plane.Clientset()
	cpu := processor()
	round := time.Now().UnixNano() // so that every round changes something
	g, ctx := errgroup.WithContext(b.Context())
	g.SetLimit(16)
	for i := range changes {
		g.Go(func() error {
			body := fmt.Appendf(nil, `{"metadata":{"labels":{"stirred":"%d"}}}`, round+int64(i))
			_, err := kube.CoreV1().Pods(namespaceOf(i%nodes)).Patch(ctx, podName(i%nodes, 0), types.MergePatchType, body, metav1.PatchOptions{})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		b.Fatal(err)
	}
	return (processor() - cpu) / changes
}

// fill writes nodes and pods as fast as the API server takes them.
func fill(b *testing.B, plane *cluster.Cluster, nodes int) {
	b.Helper()
	kube := quick(b, plane.Config())
	var all []cluster.Node
	for i := range nodes {
		n := cluster.GPUNode(nodeName(i), "NVIDIA-A100-SXM4-80GB", 8)
		n.Labels["topology.kubernetes.io/zone"] = fmt.Sprintf("zone-%d", i%3)
		n.Labels["node.kubernetes.io/instance-type"] = "a100.8"
		all = append(all, n)
	}
	if err := plane.CreateNodes(b.Context(), all...); err != nil {
		b.Fatal(err)
	}
	for i := range namespaces {
		if _, err := kube.CoreV1().Namespaces().Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceOf(i)}}, metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
		if _, err := kube.CoreV1().ServiceAccounts(namespaceOf(i)).Create(b.Context(), account, metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	g, ctx := errgroup.WithContext(b.Context())
	g.SetLimit(64)
	for i := range nodes {
		for j := range podsPerNode {
			g.Go(func() error {
				_, err := kube.CoreV1().Pods(namespaceOf(i)).Create(ctx, pod(i, j), metav1.CreateOptions{})
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		b.Fatal(err)
	}
}

// quick is a client that speaks protobuf and waits for nobody.
func quick(b *testing.B, config *rest.Config) kubernetes.Interface {
	b.Helper()
	config.ContentType, config.QPS = "application/vnd.kubernetes.protobuf", -1
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		b.Fatal(err)
	}
	return kube
}

func nodeName(i int) string       { return fmt.Sprintf("gpu-%05d", i) }
func podName(node, i int) string  { return fmt.Sprintf("train-%05d-worker-%02d", node, i) }
func namespaceOf(node int) string { return fmt.Sprintf("team-%02d", node%namespaces) }

// pod is a pod as an operator makes it: labels, an owner, a container with what real ones
// have and a view does not need.
func pod(node, i int) *corev1.Pod {
	yes, jobName := true, fmt.Sprintf("train-%05d", node)
	requests := corev1.ResourceList{
		"cpu": *resource.NewMilliQuantity(100*int64(1+(node*7+i*3)%40), resource.DecimalSI), "memory": *resource.NewQuantity(int64(1+(node+i)%16)<<30, resource.BinarySI),
	}
	limits := corev1.ResourceList{"memory": requests["memory"]}
	if i < node%8 {
		requests["nvidia.com/gpu"], limits["nvidia.com/gpu"] = resource.MustParse("1"), resource.MustParse("1")
	}
	var env []corev1.EnvVar
	for n := range 12 {
		env = append(env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", n), Value: "a value of some length, as they are"})
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: podName(node, i),
			Labels: map[string]string{
				"training.kubeflow.org/job-name": jobName, "training.kubeflow.org/operator-name": "pytorchjob-controller",
				"training.kubeflow.org/replica-index": strconv.Itoa(i), "training.kubeflow.org/replica-type": "worker", "team": namespaceOf(node),
			},
			Annotations:     map[string]string{"sidecar.istio.io/inject": "false", "kubernetes.io/config.seen": "2026-01-01T00:00:00Z"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "kubeflow.org/v1", Kind: "PyTorchJob", Name: jobName, UID: "11111111-2222-3333-4444-555555555555", Controller: &yes}},
		},
		Spec: corev1.PodSpec{
			NodeName: nodeName(node),
			Containers: []corev1.Container{{
				Name: "pytorch", Image: "registry.example.com/team/train:2026-01", Command: []string{"torchrun", "--nnodes=2", "train.py"}, Env: env,
				Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits},
			}},
		},
	}
}

// gang is 1,024 pods of one GPU each.
func asked() gang.Gang {
	return gang.Gang{Name: "asked", Namespace: "team-00", Groups: []gang.Group{{
		Name: "Worker", Count: 1024, Pod: job.Pod{Requests: job.Resources{"cpu": 1000, "memory": 4 << 30, "nvidia.com/gpu": 1}},
	}}}
}

// heap is what is reachable.
func heap() uint64 {
	var m runtime.MemStats
	for range 2 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// processor is the processor time of this process.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
