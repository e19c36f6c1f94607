package fit_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/test/build"
)

// tripled has three of each node, of which one may be in use, and more pods.
func tripled(w world) world {
	for _, n := range w.nodes {
		for _, suffix := range []string{"-b", "-c"} {
			twin := n.DeepCopy()
			twin.Name += suffix
			w.nodes = append(w.nodes, twin)
		}
	}
	for i := range w.gang.Groups {
		w.gang.Groups[i].Count *= 3
	}
	return w
}

func TestCountingEqualNodesOnceChangesNoAnswer(t *testing.T) {
	fewer := 0
	worlds(t, 400, func(t *testing.T, seed uint64, _ *rand.Rand, w world) {
		w = tripled(w)
		together := w.snapshot()
		want := whatif.Answer(t.Context(), together, w.gang)
		for i, n := range w.nodes { // an offer that no pod asks for makes every node a different one
			own := n.DeepCopy()
			own.Status.Allocatable[corev1.ResourceName(fmt.Sprintf("example.com/node-%d", i))] = quantity(1)
			w.nodes[i] = own
		}
		apart := w.snapshot()
		if len(together.Columns().Ready) < len(apart.Columns().Ready) {
			fewer++
		}
		got := whatif.Answer(t.Context(), apart, w.gang)
		which := cmpopts.IgnoreFields(fit.Result{}, "Plan", "Placed", "Change", "Changes", "Numbers", "Group", "Assumed")
		if want.Verdict == fit.Unknown || got.Verdict == fit.Unknown {
			return // which of both finds a packing is luck
		}
		if diff := cmp.Diff(want, got, which, cmpopts.IgnoreFields(fit.Rejections{}, "Taints")); diff != "" {
			t.Errorf("seed %d: Fit (-equal nodes counted once +each on its own):\n%s\n%s", seed, diff, w)
		}
	})
	if fewer < 300 {
		t.Errorf("equal nodes were found in %d of 400 worlds; the test is about those", fewer)
	}
}

func TestNodesThatDifferInNamesAndLabelsOnlyAreOneClass(t *testing.T) {
	nodes := build.Nodes(50, "a", build.GPUs(8))
	for i, n := range nodes {
		n.GetLabels()["rack"] = fmt.Sprint(i / 5)
	}
	s := clusterOf(nodes, build.Nodes(3, "b", build.GPUs(4)), build.Pod("x", build.On("a-7"), build.Asks("1")))
	if got := len(s.Columns().Ready); got != 3 {
		t.Errorf("there are %d classes; want 3: free nodes of 8, one with 7 left, nodes of 4", got)
	}
	got := whatif.Answer(t.Context(), s, gangOf(group("Worker", 6, build.Asks("8"), selects("rack", "1"))))
	const want = "4 of 6 pods fit: they ask for 48 nvidia.com/gpu, but the 5 nodes they may use have 40 even idle; 48 nodes not selected, 1 full"
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("Fit of one rack, in which one node is in use (-want +got):\n%s", diff)
	}
}

func TestALabelThatChangesIsSeen(t *testing.T) {
	var l cluster.Store
	for _, n := range build.Nodes(3, "a", build.GPUs(8), build.Label("pool", "x")) {
		l.SetNode(n.(*corev1.Node))
	}
	l.SetPod(build.Pod("p", build.On("a-1"), build.Asks("1")))
	fits := func() int {
		return whatif.Answer(t.Context(), l.Snapshot(build.Taken, ""), gangOf(group("Worker", 3, build.Asks("7"), selects("pool", "x")))).Placed
	}
	steps := []struct {
		name string
		do   func()
		want int
	}{
		{"as it is", func() {}, 3},
		{"a label changes", func() { l.SetNode(build.Node("a-2", build.GPUs(8), build.Label("pool", "y"))) }, 2},
		{"it changes back, on a smaller node", func() { l.SetNode(build.Node("a-2", build.GPUs(4), build.Label("pool", "x"))) }, 2},
		{"a node comes", func() { l.SetNode(build.Node("a-0", build.GPUs(8), build.Label("pool", "x"))) }, 3},
		{"two go", func() { l.DropNode("a-0"); l.DropNode("a-1") }, 1},
	}
	for _, step := range steps {
		step.do()
		if got := fits(); got != step.want {
			t.Errorf("%s: %d pods fit, want %d", step.name, got, step.want)
		}
	}
}
