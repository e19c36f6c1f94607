package fit_test

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/test/build"
)

// million are gangs of a million pods.
func million() map[string]gang.Gang {
	worker := func(options ...build.PodOption) gang.Group { return group("Worker", 1_000_000, options...) }
	tiny := worker(build.Requests("cpu=1m"))
	elastic := worker(build.Asks("1"))
	elastic.Min = 1
	return map[string]gang.Gang{
		"one_GPU_each":       gangOf(worker(build.Asks("1"))),
		"next_to_nothing":    gangOf(tiny),
		"three_roles":        gangOf(worker(build.Asks("8")), group("Launcher", 1, build.Requests("cpu=2")), group("Server", 1_000_000, build.Requests("memory=1Gi"))),
		"elastic_from_one":   gangOf(elastic),
		"larger_than_a_node": gangOf(worker(build.Asks("9"))),
	}
}

// BenchmarkMillion is a gang of a million pods on 5,000 nodes of which hardly two are
// alike.
func BenchmarkMillion(b *testing.B) {
	s := snapshotOf(fleet(5000, true))
	for name, g := range million() {
		want := fit.TooBig
		if name == "elastic_from_one" {
			want = fit.Fits
		}
		bench(b, name, s, g, want, whatif.Answer)
	}
}

func TestAMillionPodsHaveAnAnswer(t *testing.T) {
	s := snapshotOf(fleet(40, true))
	for name, g := range million() {
		t.Run(name, func(t *testing.T) {
			got := whatif.Answer(t.Context(), s, g)
			if got.Verdict == fit.Unknown || got.Wanted < 1_000_000 {
				t.Errorf("Fit says %s, %d wanted; want a proven answer about a million", got, got.Wanted)
			}
		})
	}
}

// odd is a quantity as a cluster may hold it: overflowing, negative, far too precise.
func odd(seed int64) resource.Quantity {
	texts := []string{"0", "-1", "-9223372036854775808", "9223372036854775807", "9223372036854775808", "1e30", "1n", "999999E", "-5Ei", "8", "1.5"}
	return resource.MustParse(texts[int(uint64(seed)%uint64(len(texts)))])
}

// FuzzAbsurd: whatever numbers nodes, pods and gangs hold, there is an answer, and the
// plan of a yes takes no more than there is.
func FuzzAbsurd(f *testing.F) {
	f.Add(int64(9), int64(9), int64(9), 2, 3, int64(math.MaxInt64))
	f.Add(int64(2), int64(4), int64(5), 1<<30, -4, int64(-1))
	f.Add(int64(0), int64(0), int64(0), math.MaxInt, math.MinInt, int64(0))
	f.Fuzz(func(t *testing.T, offers, takes, more int64, count, least int, asks int64) {
		n := build.Node("a")
		n.Status.Allocatable = corev1.ResourceList{build.GPU: odd(offers), "cpu": odd(more), "pods": odd(takes)}
		bare := build.Node("b") // that offers nothing
		bare.Status.Allocatable, bare.Status.Capacity = nil, nil
		p := build.Pod("p", build.On("a"))
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{build.GPU: odd(takes), "cpu": odd(more)}
		s := build.Cluster(n, bare, p, build.Pod("q", build.On("nowhere")))
		g := gangOf(
			gang.Group{Name: "Worker", Count: count, Min: least, Pod: job.Pod{Requests: job.Resources{build.GPU: asks, "cpu": more}}},
			gang.Group{Name: "Other", Count: least, Min: count, Pod: job.Pod{Requests: job.Resources{build.GPU: 1}}, After: []string{"Worker", "Other"}},
		)
		g.Groups[0].After = []string{"Other"} // a circle
		r := whatif.Answer(t.Context(), s, g)
		if r.Rejected.Total != 2 && r.Verdict != fit.Unknown {
			t.Errorf("%d nodes were judged, want 2: %s", r.Rejected.Total, r)
		}
		placed := int64(0)
		for _, at := range r.Plan {
			if at.Count <= 0 {
				t.Fatalf("the plan has %d pods of %s on %s", at.Count, at.Group, at.Node)
			}
			if at.Group == "Worker" && asks > 0 {
				placed += int64(at.Count)
			}
		}
		if free := s.Nodes()[0].Free(build.GPU); asks > 0 && placed > free/asks {
			t.Errorf("the plan puts %d pods of %d where %d are free", placed, asks, free)
		}
		_ = r.String()
		_ = r.Lines()
		fit.NodeReasons(s, g, build.GPU)
	})
}

func TestAffinityInACircleHasNoBeginning(t *testing.T) {
	follows := func(name, other string) gang.Group {
		g := group(name, 2, build.Asks("1"), build.Spec(func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": other}},
			}}}}
		}))
		g.Pod.Labels = map[string]string{"app": name}
		return g
	}
	s := build.Cluster(build.Node("a", build.GPUs(8)), build.Node("b", build.GPUs(8)))
	const want = "too-big 0 of 4 pods fit: 2 pods of x + 2 pods of y must each be near to pods of another, and none of them may go first"
	if got := whatif.Answer(t.Context(), s, gangOf(follows("x", "y"), follows("y", "x"))); got.Verdict.String()+" "+got.String() != want {
		t.Errorf("Fit says %s %s, want %s", got.Verdict, got, want)
	}
	for name, gang := range map[string]gang.Gang{
		"one is free":                gangOf(follows("x", "y"), follows("y", "z"), group("z", 1, build.Asks("1"), build.PodLabel("app", "z"))),
		"the second is near itself":  gangOf(follows("x", "y"), follows("y", "y")),
		"a pod of others is the end": gangOf(follows("x", "y"), follows("y", "x")),
	} {
		pods := build.Cluster(build.Node("a", build.GPUs(8)), build.Node("b", build.GPUs(8)), build.Pod("old", build.On("a"), build.PodLabel("app", "y")))
		if name != "a pod of others is the end" {
			pods = s
		}
		if got := whatif.Answer(t.Context(), pods, gang); got.Verdict != fit.Fits {
			t.Errorf("%s: Fit says %s", name, got)
		}
	}
}
