package fit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/test/build"
)

// grouped says of each group how many nodes it has, and of its first node what they agree in.
func grouped(groups []cluster.NodeGroup, keys ...string) (out []string) {
	for _, g := range groups {
		text := fmt.Sprint(g.Name, " ×", g.Count, " ", g.Allocatable, g.Taints)
		for _, key := range keys {
			text += " " + g.Labels[key]
		}
		out = append(out, text)
	}
	return out
}

// oneByOne groups nodes by looking at each.
func oneByOne(s *cluster.Snapshot, keys []string, specs ...*corev1.PodSpec) (out []cluster.NodeGroup) {
	for _, n := range s.Nodes() {
		if slices.ContainsFunc(specs, func(spec *corev1.PodSpec) bool { return !cluster.Selects(spec)(n) }) {
			continue
		}
		at := slices.IndexFunc(out, func(g cluster.NodeGroup) bool {
			differs := func(key string) bool {
				a, isA := g.Labels[key]
				b, isB := n.Labels[key]
				return a != b || isA != isB
			}
			return cmp.Equal(g.Allocatable, n.Allocatable) && cmp.Equal(g.Taints, n.Taints) && !slices.ContainsFunc(keys, differs)
		})
		if at < 0 {
			at, out = len(out), append(out, cluster.NodeGroup{Node: n})
		}
		out[at].Count++
	}
	return out
}

func TestGroupsOfNodesAreThoseOfLookingAtEach(t *testing.T) {
	for seed := range uint64(40) {
		c := &town{r: rand.New(rand.NewPCG(seed, 16)), nodes: map[string]*corev1.Node{}, pods: map[types.NamespacedName]*corev1.Pod{}}
		for range 12 {
			for range 1 + c.r.IntN(15) {
				c.change()
			}
			s := c.kept.Snapshot(build.Taken, "")
			for _, keys := range [][]string{nil, {"pool"}, {"pool", "nobody's"}, {corev1.LabelHostname}} {
				if diff := cmp.Diff(grouped(oneByOne(s, keys), keys...), grouped(s.Alike(keys...), keys...)); diff != "" {
					t.Fatalf("seed %d, %q (-one by one +groups):\n%s", seed, keys, diff)
				}
			}
			most, sum := int64(0), int64(0)
			for _, n := range s.Nodes() {
				most, sum = max(most, n.Allocatable[build.GPU]), sum+n.Allocatable[build.GPU]
			}
			if s.Offered(build.GPU) != sum || s.DevicesPerNode() != most {
				t.Fatalf("seed %d: %d GPUs, %d on a node; want %d and %d", seed, s.Offered(build.GPU), s.DevicesPerNode(), sum, most)
			}
			// However a pod chooses nodes, they are as many as when each is asked.
			for i, choose := range []build.PodOption{
				selects("pool", "a"), selects(corev1.LabelHostname, "n03"), spec(func(s *corev1.PodSpec) { s.NodeName = "n05" }), selects("pool", "none"),
				affinity(corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{expr("metadata.name", corev1.NodeSelectorOpIn, "n01", "n02")}}),
				affinity(corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{expr("pool", corev1.NodeSelectorOpNotIn, "a")}}),
			} {
				specs := []*corev1.PodSpec{&build.Pod("x", choose).Spec, &build.Pod("y", selects("pool", "a")).Spec}
				for _, specs := range [][]*corev1.PodSpec{specs[:1], specs} {
					want, got := 0, 0
					for _, g := range oneByOne(s, nil, specs...) {
						want += g.Count
					}
					for _, g := range s.Chosen(nil, specs...) {
						got += g.Count
					}
					if got != want {
						t.Fatalf("seed %d: choice %d of %d pods: %d nodes; want %d", seed, i, len(specs), got, want)
					}
				}
			}
		}
	}
}

func TestNodeReasonsOfMoreRolesThanCanBeReadAreNotWorkedOut(t *testing.T) {
	s, g := demo(), shapes(2000)
	for at, r := range fit.NodeReasons(s, g, build.GPU) {
		if r.Why != "not worked out" {
			t.Errorf("node %d: %+v", at, r)
		}
	}
}
