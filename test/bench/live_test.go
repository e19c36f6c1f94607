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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/test/bench/filled"
	"github.com/signalbox-dev/signalbox/test/cluster"
	"github.com/signalbox-dev/signalbox/test/resident"
)

// The size of the cluster; SIGNALBOX_BENCH_NODES makes it another one.
const (
	defaultNodes = 5000
	podsPerNode  = 20
)

// BenchmarkLive fills a real API server and follows it.
func BenchmarkLive(b *testing.B) {
	nodes := defaultNodes
	if n, err := strconv.Atoi(os.Getenv("SIGNALBOX_BENCH_NODES")); err == nil && n > 0 {
		nodes = n
	}
	plane := cluster.ForTest(b, cluster.Options{Patience: 5 * time.Minute})
	begun := time.Now()
	if err := filled.Fill(b.Context(), plane, filled.Size{Nodes: nodes, PodsPerNode: podsPerNode}); err != nil {
		b.Fatal(err)
	}
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
			_, err := kube.CoreV1().Pods(filled.NamespaceOf(i%nodes)).Patch(ctx, filled.PodName(i%nodes, 0), types.MergePatchType, body, metav1.PatchOptions{})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		b.Fatal(err)
	}
	return (processor() - cpu) / changes
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
