package fit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
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
						bench(b, fmt.Sprintf("pods=%d/roles=%d/yes", pods, roles), s, crew(pods, roles, "1"), fit.Fits, whatif.Answer)
					}
					// As many whole nodes would do it on the idle cluster.
					pods := nodes / 4
					bench(b, fmt.Sprintf("pods=%d/roles=%d/no", pods, roles), s, crew(pods, roles, "8"), fit.Fragmented, whatif.Answer)
					bench(b, fmt.Sprintf("pods=%d/roles=%d/verdict-no", pods, roles), s, crew(pods, roles, "8"), fit.Fragmented, verdict)
				}
			})
		}
	}
}

// verdict is the fit alone.
func verdict(ctx context.Context, s *cluster.Snapshot, g gang.Gang) fit.Result {
	return fit.Fit(ctx, s, g, fit.NewBudget(fit.Steps))
}

func bench(b *testing.B, name string, s *cluster.Snapshot, g gang.Gang, want fit.Verdict, fit func(context.Context, *cluster.Snapshot, gang.Gang) fit.Result) {
	b.Run(name, func(b *testing.B) {
		r := fit(b.Context(), s, g)
		if r.Verdict != want {
			b.Fatalf("the verdict is %s, want %s: %s", r.Verdict, want, r)
		}
		b.ReportAllocs()
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var took laps
		for b.Loop() {
			start := spent()
			fit(b.Context(), s, g)
			took = append(took, spent()-start)
		}
		took.report(b, "")
		b.ReportMetric(float64(len(s.Columns().Ready)), "classes")
	})
}

// laps are what single answers took.
type laps []time.Duration

// report adds the median and the 99th percentile to what a benchmark prints.
func (l laps) report(b *testing.B, of string) {
	if len(l) == 0 {
		return
	}
	slices.Sort(l)
	b.ReportMetric(float64(l[len(l)/2].Nanoseconds()), "p50-ns"+of)
	b.ReportMetric(float64(l[(len(l)-1)*99/100].Nanoseconds()), "p99-ns"+of)
}

// crew is a gang of pods of one role, or of three of which two are small.
func crew(pods, roles int, gpus string) gang.Gang {
	worker := []build.PodOption{build.Requests("cpu=4", "memory=16Gi", "nvidia.com/gpu="+gpus), selects("pool", "train")}
	if roles == 1 {
		return gangOf(group("Worker", pods, worker...))
	}
	return gangOf(
		group("Worker", pods-3, worker...),
		group("Launcher", 1, build.Requests("cpu=2")),
		group("Server", 2, build.Requests("cpu=8", "memory=32Gi"), selects("pool", "train")),
	)
}

// fleet is a cluster of nodes with 20 pods each.
func fleet(nodes int, fragmented bool) *cluster.Store {
	r := rand.New(rand.NewPCG(uint64(nodes), 5))
	l := &cluster.Store{}
	l.SetComplete(schema.GroupResource{Resource: "pods"}, true)
	for i := range nodes {
		name := fmt.Sprintf("n%05d", i)
		l.SetNode(fleetNode(i))
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

func fleetNode(i int) *corev1.Node {
	n := build.Node(fmt.Sprintf("n%05d", i), build.GPUs(8), build.Label("pool", []string{"train", "train", "train", "serve"}[i%4]), build.Label("rack", fmt.Sprint(i/40)))
	if i%50 == 7 {
		n.Spec.Unschedulable = true
	}
	if i%20 == 3 {
		n.Spec.Taints = []corev1.Taint{{Key: "team", Value: "vision", Effect: corev1.TaintEffectNoSchedule}}
	}
	return n
}

func snapshotOf(l *cluster.Store) *cluster.Snapshot { return l.Snapshot(build.Taken, "") }

// BenchmarkEvents is what 100 events cost a view, and the snapshot after them: a view that
// gets 1,000 events a second makes a snapshot every 100 ms. Pods come and go, nodes change
// what they offer, volumes are bound, released and attached, quotas count. The first fit on each
// snapshot is timed beside it.
func BenchmarkEvents(b *testing.B) {
	for _, nodes := range []int{1000, 5000, 15000} {
		for _, kind := range []string{"pods", "nodes"} {
			b.Run(fmt.Sprintf("of=%s/nodes=%d", kind, nodes), func(b *testing.B) {
				follow(b, fleet(nodes, true), churn(kind, nodes), crew(1024, 3, "1"))
			})
		}
	}
	const nodes = 5000
	for _, kind := range []string{"claims", "volumes", "attachments", "quotas"} {
		b.Run(fmt.Sprintf("of=%s/nodes=%d", kind, nodes), func(b *testing.B) {
			l := &cluster.Store{}
			attachAll(l, nodes)
			follow(b, l, func(i int) func(*cluster.Store) { return churnStored(kind, i, nodes) }, mounting())
		})
	}
}

// follow measures events, and the first answer to a gang after each hundred of them. An event is made
// shortly before it happens: a view gets objects that have just been decoded.
func follow(b *testing.B, l *cluster.Store, event func(i int) func(*cluster.Store), g gang.Gang) {
	const perSnapshot = 100
	whatif.Answer(b.Context(), snapshotOf(l), g)
	next, events := 0, make([]func(*cluster.Store), perSnapshot)
	var took, first laps
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	runtime.GC()
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		for i := range events {
			events[i] = event(next)
			next++
		}
		b.StartTimer()
		start := spent()
		for _, happen := range events {
			happen(l)
		}
		s := snapshotOf(l)
		took = append(took, (spent()-start)/perSnapshot)
		b.StopTimer()
		start = spent()
		whatif.Answer(b.Context(), s, g)
		first = append(first, spent()-start)
		b.StartTimer()
	}
	took.report(b, "/event")
	first.report(b, "/first-fit")
}

// BenchmarkTied is about pods of a gang that decide where others of it may go.
func BenchmarkTied(b *testing.B) {
	host, rack := corev1.LabelHostname, "rack"
	term := func(key string) []corev1.PodAffinityTerm {
		return []corev1.PodAffinityTerm{{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"job": "train"}}}}
	}
	apart := func(key string) build.PodOption {
		return build.Spec(func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term(key)}}
		})
	}
	even := func(key string) build.PodOption {
		return build.Spec(func(s *corev1.PodSpec) {
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
				MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: term(key)[0].LabelSelector,
			}}
		})
	}
	near := build.Spec(func(s *corev1.PodSpec) {
		s.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term(rack)}}
	})
	for _, nodes := range []int{1000, 5000} {
		s := snapshotOf(fleet(nodes, true))
		for _, c := range []struct {
			name string
			pods int
			tie  build.PodOption
			want fit.Verdict
		}{
			{"one_for_each_node", 128, apart(host), fit.Fits},
			{"one_for_each_rack", min(128, nodes/40-1), apart(rack), fit.Fits},
			{"spread_over_racks", 128, even(rack), fit.Fits},
			{"spread_over_nodes", 128, even(host), fit.Fits},
			{"all_in_one_rack", 64, near, fit.Fits},
		} {
			g := gangOf(group("Worker", c.pods, build.Asks("1"), build.PodLabel("job", "train"), selects("pool", "train"), c.tie))
			bench(b, fmt.Sprintf("nodes=%d/%s", nodes, c.name), s, g, c.want, whatif.Answer)
		}
	}
}

// BenchmarkClaims is a gang that mounts a claim, on a cluster in which every node has four
// volumes attached: 20,000 claims, volumes and attachments on 5,000 nodes with 100,000 pods.
func BenchmarkClaims(b *testing.B) {
	const nodes = 5000
	l := &cluster.Store{}
	attachAll(l, nodes)
	unbound := stored("claims", nodes*claimsOnEach, nodes)
	delete(unbound.Object["spec"].(map[string]any), "volumeName")
	l.SetObject(unbound)
	fresh := gangOf(group("Worker", 1, build.Asks("1"), mounts(unbound.GetName())))
	s := snapshotOf(l)
	bench(b, "bound", s, mounting(), fit.Full, whatif.Answer)
	bench(b, "unbound", s, fresh, fit.Fits, whatif.Answer)
	b.Run("absent", func(b *testing.B) {
		for b.Loop() {
			s.Lookup(volumeKinds["PersistentVolumeClaim"], "default", "nobody")
		}
	})
}

// mounting is a gang whose pods share a claim that is bound.
func mounting() gang.Gang { return gangOf(group("Worker", 8, build.Asks("1"), mounts("c-7"))) }

const claimsOnEach = 4 // node

// attachAll fills a cluster whose nodes have twenty pods each, of which four mount a claim, and
// 2,000 quotas.
func attachAll(l *cluster.Store, nodes int) {
	whole(l)
	for _, r := range []string{"persistentvolumeclaims", "persistentvolumes"} {
		l.SetComplete(schema.GroupResource{Resource: r}, true)
	}
	l.SetObject(manifest("StorageClass", "", "fast", map[string]any{"provisioner": "csi.example.com", "volumeBindingMode": "WaitForFirstConsumer"}))
	l.SetObject(manifest("CSIDriver", "", "csi.example.com", map[string]any{"spec": map[string]any{"attachRequired": true}}))
	for i := range nodes {
		l.SetNode(fleetNode(i))
		l.SetObject(manifest("CSINode", "", fmt.Sprintf("n%05d", i), map[string]any{"spec": map[string]any{"drivers": []any{
			map[string]any{"name": "csi.example.com", "nodeID": "x", "allocatable": map[string]any{"count": int64(25)}},
		}}}))
	}
	for i := range nodes * claimsOnEach {
		for _, kind := range []string{"claims", "volumes", "attachments"} {
			l.SetObject(stored(kind, i, nodes))
		}
	}
	for i := range nodes * 20 {
		p := lean(fmt.Sprintf("p-%d", i), fmt.Sprintf("n%05d", i%nodes), 1000, 1<<30, 0)
		if i < nodes*claimsOnEach {
			mounts(fmt.Sprintf("c-%d", i))(p)
		}
		l.SetPod(p)
	}
	for i := range 2000 {
		l.SetObject(stored("quotas", i, nodes))
	}
}

// stored is the claim, volume or attachment number i, or a quota.
func stored(kind string, i, nodes int) *unstructured.Unstructured {
	claim, volume := fmt.Sprintf("c-%d", i), fmt.Sprintf("v-%d", i)
	switch kind {
	case "claims":
		return manifest("PersistentVolumeClaim", "default", claim, map[string]any{
			"spec": map[string]any{
				"volumeName": volume, "storageClassName": "fast", "accessModes": []any{"ReadWriteOnce"}, "volumeMode": "Filesystem",
				"resources": map[string]any{"requests": map[string]any{"storage": "100Gi"}},
			},
			"status": map[string]any{"phase": "Bound", "accessModes": []any{"ReadWriteOnce"}, "capacity": map[string]any{"storage": "100Gi"}},
		})
	case "volumes":
		return manifest("PersistentVolume", "", volume, map[string]any{
			"spec": map[string]any{
				"capacity": map[string]any{"storage": "100Gi"}, "accessModes": []any{"ReadWriteOnce"}, "storageClassName": "fast", "volumeMode": "Filesystem",
				"csi":                           map[string]any{"driver": "csi.example.com", "volumeHandle": "vol-" + volume, "fsType": "ext4", "volumeAttributes": map[string]any{"storage.kubernetes.io/csiProvisionerIdentity": "x"}},
				"claimRef":                      map[string]any{"namespace": "default", "name": claim, "uid": "0b9d9c1e-6f0f-4a63-9f0e-5d0c5d0b7a11"},
				"persistentVolumeReclaimPolicy": "Delete",
				"nodeAffinity": map[string]any{"required": map[string]any{"nodeSelectorTerms": []any{map[string]any{"matchExpressions": []any{
					map[string]any{"key": "pool", "operator": "In", "values": []any{"train", "serve"}},
				}}}}},
			},
			"status": map[string]any{"phase": "Bound"},
		})
	case "attachments":
		return manifest("VolumeAttachment", "", fmt.Sprintf("csi-%d", i), map[string]any{
			"spec":   map[string]any{"attacher": "csi.example.com", "nodeName": fmt.Sprintf("n%05d", i%nodes), "source": map[string]any{"persistentVolumeName": volume}},
			"status": map[string]any{"attached": true},
		})
	default:
		amounts := func(cpu string) map[string]any {
			return map[string]any{"requests.cpu": cpu, "requests.memory": "10Ti", "requests.nvidia.com/gpu": "64", "pods": "1k"}
		}
		o := manifest("StorageClass", fmt.Sprintf("team-%d", i%1000), fmt.Sprintf("q-%d", i), map[string]any{
			"spec": map[string]any{"hard": amounts("1000")}, "status": map[string]any{"hard": amounts("1000"), "used": amounts("12500m")},
		})
		o.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "ResourceQuota"})
		return o
	}
}

// churn are events by number: pods come and go again, nodes offer something else.
func churn(kind string, nodes int) func(i int) func(*cluster.Store) {
	r := rand.New(rand.NewPCG(1, uint64(nodes)))
	return func(i int) func(*cluster.Store) {
		at := r.IntN(nodes)
		switch {
		case kind == "nodes":
			n := fleetNode(at)
			n.Status.Allocatable[corev1.ResourceCPU] = *resource.NewQuantity(int64(90+i%7), resource.DecimalSI)
			return func(l *cluster.Store) { l.SetNode(n) }
		case i%2 == 0:
			p := lean(fmt.Sprintf("new-%d", i), fmt.Sprintf("n%05d", at), 100*(1+r.Int64N(40)), (1+r.Int64N(16<<10))<<20, 0)
			return func(l *cluster.Store) { l.SetPod(p) }
		default:
			gone := fmt.Sprintf("new-%d", i-1)
			return func(l *cluster.Store) { l.DropPod("default", gone) }
		}
	}
}

// churnStored is event number i: a claim loses its volume, a volume is released, one is detached,
// a quota counts one pod more; once as many have happened as there are nodes, all that is undone.
func churnStored(kind string, i, nodes int) func(*cluster.Store) {
	o := stored(kind, i%nodes*7%2000, nodes)
	switch {
	case i/nodes%2 == 1:
	case kind == "attachments":
		return func(l *cluster.Store) { l.DropObject(o.GroupVersionKind(), "", o.GetName()) }
	case kind == "claims":
		unstructured.RemoveNestedField(o.Object, "spec", "volumeName")
	case kind == "volumes":
		o.Object["status"] = map[string]any{"phase": "Released"}
	default:
		o.Object["status"].(map[string]any)["used"].(map[string]any)["pods"] = "13"
	}
	return func(l *cluster.Store) { l.SetObject(o) }
}

// BenchmarkDifference is one gang on 5,000 nodes of which more and more differ, and on
// nodes with more and more pods: the first costs, the second does not.
func BenchmarkDifference(b *testing.B) {
	const nodes = 5000
	g := crew(1024, 3, "1")
	for _, c := range []struct{ different, pods int }{{1, 20}, {10, 20}, {100, 20}, {1000, 20}, {5000, 20}, {1000, 5}, {1000, 50}} {
		name := fmt.Sprintf("different=%d/podsPerNode=%d", c.different, c.pods)
		b.Run(name, func(b *testing.B) {
			s := snapshotOf(graded(nodes, c.different, c.pods))
			bench(b, "answer", s, g, fit.Fits, whatif.Answer)
		})
	}
}

// graded is nodes of which so many differ in what is left of them.
func graded(nodes, different, pods int) *cluster.Store {
	l := &cluster.Store{}
	l.SetComplete(schema.GroupResource{Resource: "pods"}, true)
	for i := range nodes {
		name := fmt.Sprintf("n%05d", i)
		l.SetNode(build.Node(name, build.GPUs(8), build.Label("pool", "train")))
		for j := range pods {
			cpu := int64(100)
			if j == 0 {
				cpu += int64(i % different)
			}
			l.SetPod(lean(fmt.Sprintf("%s-%d", name, j), name, cpu, 1<<30, bit(j < 4)))
		}
	}
	return l
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
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
