package capacity_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/capacity"
	"github.com/signalbox-dev/signalbox/test/build"
)

// BenchmarkFit is about gangs that fit, that do not, and the bare verdict on those: 20
// pods run on each node, and with frag=high hardly two nodes have the same room.
func BenchmarkFit(b *testing.B) {
	for _, nodes := range []int{1000, 5000, 15000} {
		for _, frag := range []string{"low", "high"} {
			b.Run(fmt.Sprintf("nodes=%d/frag=%s", nodes, frag), func(b *testing.B) {
				s := snapshotOf(fleet(nodes, frag == "high"))
				runtime.GC()
				for _, roles := range []int{1, 3} {
					for _, pods := range []int{8, 128, 1024} {
						bench(b, fmt.Sprintf("pods=%d/roles=%d/yes", pods, roles), s, crew(pods, roles, "1"), capacity.Fits, (*capacity.Snapshot).Fit)
					}
					// As many whole nodes would do it on the idle cluster.
					pods := nodes / 4
					bench(b, fmt.Sprintf("pods=%d/roles=%d/no", pods, roles), s, crew(pods, roles, "8"), capacity.Fragmented, (*capacity.Snapshot).Fit)
					bench(b, fmt.Sprintf("pods=%d/roles=%d/verdict-no", pods, roles), s, crew(pods, roles, "8"), capacity.Fragmented, (*capacity.Snapshot).Verdict)
				}
			})
		}
	}
}

func bench(b *testing.B, name string, s *capacity.Snapshot, g capacity.Gang, want capacity.Verdict, fit func(*capacity.Snapshot, capacity.Gang) capacity.Result) {
	b.Run(name, func(b *testing.B) {
		r := fit(s, g)
		if r.Verdict != want {
			b.Fatalf("the verdict is %s, want %s: %s", r.Verdict, want, r)
		}
		b.ReportAllocs()
		for b.Loop() {
			fit(s, g)
		}
		b.ReportMetric(float64(s.Classes()), "classes")
	})
}

// crew is a gang of pods of one role, or of three of which two are small.
func crew(pods, roles int, gpus string) capacity.Gang {
	worker := []build.PodOption{build.Requests("cpu=4", "memory=16Gi", "nvidia.com/gpu="+gpus), selects("pool", "train")}
	if roles == 1 {
		return gang(group("Worker", pods, worker...))
	}
	return gang(
		group("Worker", pods-3, worker...),
		group("Launcher", 1, build.Requests("cpu=2")),
		group("Server", 2, build.Requests("cpu=8", "memory=32Gi"), selects("pool", "train")),
	)
}

// fleet is a cluster of nodes with 20 pods each.
func fleet(nodes int, fragmented bool) *capacity.Ledger {
	r := rand.New(rand.NewPCG(uint64(nodes), 5))
	l := &capacity.Ledger{}
	l.SetComplete(schema.GroupResource{Resource: "pods"}, true)
	for i := range nodes {
		name := fmt.Sprintf("n%05d", i)
		n := build.Node(name, build.GPUs(8), build.Label("pool", []string{"train", "train", "train", "serve"}[i%4]), build.Label("rack", fmt.Sprint(i/40)))
		if i%50 == 7 {
			n.Spec.Unschedulable = true
		}
		if i%20 == 3 {
			n.Spec.Taints = []corev1.Taint{{Key: "team", Value: "vision", Effect: corev1.TaintEffectNoSchedule}}
		}
		l.SetNode(n)
		gpus := []int{0, 4, 4, 8}[i/4%4]
		if fragmented {
			gpus = r.IntN(9)
		}
		for j := range 20 {
			cpu, memory, gpu := int64(1000), int64(1<<30), 0
			if fragmented {
				cpu, memory = 100*(1+r.Int64N(40)), (1+r.Int64N(16<<10))<<20
			}
			if j < gpus {
				gpu = 1
			}
			l.SetPod(lean(fmt.Sprintf("%s-%d", name, j), name, cpu, memory, gpu))
		}
	}
	return l
}

func snapshotOf(l *capacity.Ledger) *capacity.Snapshot { return l.Snapshot(build.Taken, "") }

// BenchmarkSnapshotAfterAChange is what a change of one pod costs: the snapshot, made in
// the background, and the first fit on it.
func BenchmarkSnapshotAfterAChange(b *testing.B) {
	for _, nodes := range []int{1000, 5000, 15000} {
		l := fleet(nodes, true)
		g := crew(128, 3, "1")
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			first := time.Duration(0)
			for i := 0; b.Loop(); i++ {
				l.SetPod(lean("changes", "n00001", int64(i%1000), 1<<30, 0))
				s := snapshotOf(l)
				start := time.Now()
				s.Fit(g)
				first += time.Since(start)
			}
			b.ReportMetric(float64(first.Microseconds())/float64(b.N), "µs/first-fit")
		})
	}
}

// lean is a running pod without what the fit does not look at.
func lean(name, node string, cpu, memory int64, gpus int) *corev1.Pod {
	requests := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(cpu, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(memory, resource.BinarySI),
	}
	if gpus > 0 {
		requests[build.GPU] = *resource.NewQuantity(int64(gpus), resource.DecimalSI)
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: requests}}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
}
