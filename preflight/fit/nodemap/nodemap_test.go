package nodemap_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit/nodemap"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/test/build"
	"github.com/signalbox-dev/signalbox/test/golden"
)

const (
	a100 = "NVIDIA-A100-SXM4-80GB"
	h100 = "NVIDIA-H100-80GB-HBM3"
)

func product(name string) build.NodeOption { return build.Label("nvidia.com/gpu.product", name) }

// gang is roles of pods: role, count, what each asks for.
func gangOf(groups ...gang.Group) gang.Gang {
	return gang.Gang{Name: "llama", Namespace: "default", Groups: groups}
}

// pods fill a node: one pod for each amount of GPUs.
func pods(node string, gpus ...int) []build.Item {
	var out []build.Item
	for i, n := range gpus {
		out = append(out, build.Pod(fmt.Sprintf("%s-%d", node, i), build.On(node), build.Asks(fmt.Sprint(n))))
	}
	return out
}

func three() *cluster.Snapshot {
	items := []build.Item{
		build.Node("gpu-a", build.GPUs(8), product(a100)),
		build.Node("gpu-b", build.GPUs(8), product(a100)),
		build.Node("gpu-c", build.GPUs(8), product(a100), build.Cordoned()),
	}
	return build.Cluster(append(items, pods("gpu-b", 4, 2)...)...)
}

// twelve are two pools of GPUs, some of them closed for one reason each, and CPU nodes.
func twelve() *cluster.Snapshot {
	var items []build.Item
	for i := 1; i <= 6; i++ {
		options := []build.NodeOption{build.GPUs(8), product(a100)}
		switch i {
		case 4:
			options = append(options, build.NotReady())
		case 5:
			options = append(options, build.Cordoned())
		}
		n := build.Node(fmt.Sprintf("a100-%d", i), options...)
		if i == 6 { // the device plugin has found one of them unhealthy
			n.Status.Allocatable[build.GPU] = resource.MustParse("7")
		}
		items = append(items, n)
	}
	for i := 1; i <= 4; i++ {
		items = append(items, build.Node(fmt.Sprintf("h100-%d", i), build.GPUs(8), product(h100), build.Taint("team=vision:NoSchedule")))
	}
	items = append(items, build.Nodes(2, "cpu")...)
	items = append(items, pods("a100-1", 4, 4)...)
	items = append(items, pods("a100-2", 2)...)
	items = append(items, pods("h100-3", 8)...)
	items = append(items, build.Pod("greedy", build.On("a100-3"), build.Requests("cpu=95")))
	return build.Cluster(items...)
}

// many are 5,000 nodes in several pools, with everything that happens in one.
func many() *cluster.Snapshot {
	r := rand.New(rand.NewPCG(1, 2))
	var items []build.Item
	for i := range 5000 {
		name := fmt.Sprintf("n%04d", i)
		options := []build.NodeOption{build.GPUs(8), product([]string{a100, a100, h100, "Tesla-V100-SXM2-32GB"}[i%4])}
		if i%50 == 7 {
			options = append(options, build.Cordoned())
		}
		if i%20 == 3 {
			options = append(options, build.Taint(fmt.Sprintf("team=t%d:NoSchedule", i%100)))
		}
		items = append(items, build.Node(name, options...))
		items = append(items, pods(name, r.IntN(9))...)
	}
	return build.Cluster(items...)
}

func cpuOnly() *cluster.Snapshot {
	var items []build.Item
	for i := 1; i <= 4; i++ {
		items = append(items, build.Node(fmt.Sprintf("cpu-%d", i), build.Label(corev1.LabelInstanceTypeStable, "c6i.24xlarge")))
		items = append(items, build.Pod(fmt.Sprintf("p-%d", i), build.On(fmt.Sprintf("cpu-%d", i)), build.Requests(fmt.Sprintf("cpu=%d", 20*i))))
	}
	return build.Cluster(items...)
}

func TestTheMapOf(t *testing.T) {
	var nodesOnly cluster.Builder
	nodesOnly.Node(build.Node("gpu-a", build.GPUs(8), product(a100)))
	worker := func(n int, gpus string) gang.Gang {
		return gangOf(build.Group("Master", 1, build.Asks(gpus)), build.Group("Worker", n, build.Asks(gpus)))
	}
	cases := map[string]struct {
		cluster *cluster.Snapshot
		gang    gang.Gang
	}{
		"three-nodes-fits":        {three(), worker(1, "4")},
		"three-nodes-full":        {three(), worker(3, "8")},
		"pools-and-reasons":       {twelve(), gangOf(build.Group("Worker", 1, build.Requests("cpu=4", "nvidia.com/gpu=4")), build.Group("Launcher", 1, build.Requests("cpu=1")))},
		"5000-nodes":              {many(), worker(255, "4")},
		"cpu-only":                {cpuOnly(), gangOf(build.Group("Worker", 3, build.Requests("cpu=30")))},
		"no-pods-in-the-view":     {nodesOnly.Snapshot(build.Taken), worker(1, "4")},
		"a-view-without-nodes":    {new(cluster.Store).Snapshot(build.Taken, ""), worker(1, "4")},
		"gpus-nobody-has":         {cpuOnly(), worker(1, "4")},
		"shares-of-devices":       {shares(), gangOf(build.Group("Worker", 10, build.Requests("nvidia.com/gpu.shared=4")))},
		"names-that-are-too-long": {longNames(), worker(1, "8")},
	}
	for name, tc := range cases {
		for _, width := range []int{60, 80, 120} {
			for _, coloured := range []bool{false, true} {
				if coloured && width != 80 {
					continue // the same characters between the same colours
				}
				file := fmt.Sprintf("testdata/%s.%d", name, width)
				o := nodemap.Options{Width: width}
				if coloured {
					file += ".colour"
					o.Ink = func(m nodemap.Mark, text string) string { return fmt.Sprintf("\x1b[3%dm%s\x1b[0m", m, text) }
				}
				t.Run(file, func(t *testing.T) {
					got := nodemap.Draw(nodemap.Question{Cluster: tc.cluster, Gang: tc.gang, Fit: whatif.Answer(t.Context(), tc.cluster, tc.gang)}, o)
					golden.Equal(t, file+".txt", []byte(got))
					checkShape(t, got, width)
				})
			}
		}
	}
}

// shares are nodes that offer each device to ten pods.
func shares() *cluster.Snapshot {
	var items []build.Item
	for i := 1; i <= 3; i++ {
		items = append(items, build.Node(fmt.Sprintf("shared-%d", i), build.Allocatable("nvidia.com/gpu.shared", "80"), product("Tesla-T4-SHARED")))
	}
	items = append(items, build.Pod("p", build.On("shared-1"), build.Requests("nvidia.com/gpu.shared=33")))
	return build.Cluster(items...)
}

func longNames() *cluster.Snapshot {
	var items []build.Item
	for i := 1; i <= 3; i++ {
		name := fmt.Sprintf("gke-production-europe-west4-a100-80g-spot-pool-%d-4f7b9c2e-x%d.c.some-project.internal", i, i)
		items = append(items, build.Node(name, build.GPUs(8), product(a100), build.Taint("cloud.google.com/gke-spot-and-some-more-words-to-read=true-for-all-of-these:NoSchedule")))
	}
	return build.Cluster(append(items, build.Node("x", build.GPUs(8), product(a100)))...)
}

func checkShape(t *testing.T, text string, width int) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) > 40 {
		t.Errorf("%d lines; want at most 40", len(lines))
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(withoutColour(line)); n > width {
			t.Errorf("a line has %d characters, want at most %d: %q", n, width, line)
		}
	}
}

func withoutColour(s string) string {
	for {
		at := strings.Index(s, "\x1b[")
		if at < 0 {
			return s
		}
		end := strings.IndexByte(s[at:], 'm')
		s = s[:at] + s[at+end+1:]
	}
}

func TestWithoutUTF8TheMapIsASCII(t *testing.T) {
	s := twelve()
	g := gangOf(build.Group("Worker", 1, build.Asks("4")))
	got := nodemap.Draw(nodemap.Question{Cluster: s, Gang: g, Fit: whatif.Answer(t.Context(), s, g)}, nodemap.Options{Width: 80, ASCII: true})
	golden.Equal(t, "testdata/ascii.80.txt", []byte(got))
	for _, r := range got {
		if r > 126 {
			t.Fatalf("%q is not ASCII in\n%s", r, got)
		}
	}
}

func TestTheMapIsTheSameHoweverNodesAreOrdered(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 3))
		var items []build.Item
		for i := range 1 + r.IntN(30) {
			name := fmt.Sprintf("n%d", i)
			options := []build.NodeOption{build.GPUs(r.IntN(9)), product([]string{a100, h100, ""}[r.IntN(3)])}
			if r.IntN(5) == 0 {
				options = append(options, build.Cordoned())
			}
			items = append(items, build.Node(name, options...))
			items = append(items, pods(name, r.IntN(9))...)
		}
		g := gangOf(build.Group("Worker", 1+r.IntN(20), build.Asks(fmt.Sprint(1+r.IntN(8)))))
		width := 60 + r.IntN(60)
		draw := func() string {
			s := build.Cluster(items...)
			return nodemap.Draw(nodemap.Question{Cluster: s, Gang: g, Fit: whatif.Answer(t.Context(), s, g)}, nodemap.Options{Width: width})
		}
		want := draw()
		r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		if got := draw(); got != want {
			t.Fatalf("seed %d: another order of nodes, another map:\n%s\nwas\n%s", seed, got, want)
		}
		checkShape(t, want, width)
	}
}

// FuzzDraw: whatever a cluster offers and a job asks for, the map keeps to its frame.
func FuzzDraw(f *testing.F) {
	f.Add(int64(8), int64(4), int64(2), 3, 80, "a")
	f.Add(int64(1)<<62, int64(1)<<62, int64(1)<<62, 1<<30, 0, "")
	f.Add(int64(-1), int64(-5), int64(0), -1, 1<<20, "ü")
	f.Fuzz(func(t *testing.T, offer, used, asks int64, count, width int, name string) {
		n := build.Node("n"+name, build.GPUs(0))
		n.Status.Allocatable[build.GPU] = *resource.NewQuantity(offer, resource.DecimalSI)
		n.Status.Capacity = corev1.ResourceList{build.GPU: *resource.NewQuantity(offer/2+used, resource.DecimalSI)}
		p := build.Pod("p", build.On(n.Name))
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{build.GPU: *resource.NewQuantity(used, resource.DecimalSI)}
		s := build.Cluster(n, p)
		g := gangOf(gang.Group{Name: name, Count: count, Pod: job.Pod{Requests: job.Resources{build.GPU: asks}}})
		width = min(width, 500)
		got := nodemap.Draw(nodemap.Question{Cluster: s, Gang: g, Fit: whatif.Answer(t.Context(), s, g)}, nodemap.Options{Width: width})
		checkShape(t, got, max(width, 60))
	})
}
