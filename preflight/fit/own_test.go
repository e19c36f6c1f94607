package fit_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

// sixOf is a gang of 1+5 pods of 8 GPUs of which some run, one on each node from a-1 on.
func sixOf(running int, options ...build.PodOption) (gang.Gang, []any) {
	var pods []any
	for i := range running {
		role := "Worker"
		if i == 0 {
			role = "Master"
		}
		options := append(options, build.On(fmt.Sprintf("a-%d", i+1)), build.Asks("8"), build.PodLabel("role", role), build.PodLabel("job", "train"))
		pods = append(pods, build.Pod(fmt.Sprintf("train-%d", i), options...))
	}
	mine := append(options, build.Asks("8"), build.PodLabel("job", "train"))
	g := gangOf(group("Master", 1, mine...), group("Worker", 5, mine...))
	g.Own = func(p *corev1.Pod) (string, bool) { return p.Labels["role"], p.Labels["job"] == "train" }
	return g, pods
}

func TestWhatIsAskedForPodsThatWaitBesideThoseThatRun(t *testing.T) {
	g, running := sixOf(4)
	apart := func(p *corev1.Pod) { p.Spec.Affinity = apartFrom(corev1.LabelHostname, "job", "train") }
	lonely, spread := sixOf(4, apart)
	cases := map[string]struct {
		gang gang.Gang
		on   *cluster.Snapshot
		want string
		do   string
	}{
		"others are in the way": {
			g, clusterOf(append(running, build.Nodes(6, "a", build.GPUs(8)),
				build.Pod("x", build.On("a-5"), build.Asks("3")), build.Pod("y", build.On("a-6"), build.Asks("5")))...),
			"4 of 6 pods fit now: the 2 pods that wait ask for 8 nvidia.com/gpu each, but no node has more than 5 free (8 in all); 6 nodes full",
			"fits with 3 Workers instead of 5 (1 Master + 3 Workers on 4 nodes)",
		},
		"the cluster is too small, its own pods in place": {
			g, clusterOf(append(running, build.Nodes(5, "a", build.GPUs(8)))...),
			"5 of 6 pods fit: the 2 pods that wait ask for 16 nvidia.com/gpu, but the 5 nodes they may use have 8 even idle, beside the 4 pods that run; 4 nodes full",
			"fits with 4 Workers instead of 5 (1 Master + 4 Workers on 5 nodes)",
		},
		"a node of its own for each, and too few nodes": {
			lonely, clusterOf(append(spread, build.Nodes(5, "a", build.GPUs(16)))...),
			"5 of 6 pods fit: 2 Workers need a node each (required pod anti-affinity); 1 node could take one, even idle; 4 nodes closed by ports, volumes or affinity",
			"fits with 4 Workers instead of 5 (1 Master + 4 Workers on 5 nodes)",
		},
		"a node was cordoned under a pod that runs": {
			g, clusterOf(append(running, build.Node("a-1", build.GPUs(8), build.Cordoned()), build.Node("a-2", build.GPUs(8)), build.Node("a-3", build.GPUs(8)),
				build.Node("a-4", build.GPUs(8)), build.Nodes(2, "b", build.GPUs(8)))...),
			"6 of 6 pods fit: 1 Master + 5 Workers on 6 nodes", "",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := whatif.Answer(t.Context(), tc.on, tc.gang)
			if diff := cmp.Diff(tc.want, got.String()); diff != "" {
				t.Errorf("Fit (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.do, got.Change); diff != "" {
				t.Errorf("Change (-want +got):\n%s", diff)
			}
		})
	}
}

// What the nodes have when idle is told without what the gang's own pods hold, and the lines say so.
func TestTheLinesSayThatOwnPodsHoldTheirRoom(t *testing.T) {
	g, running := sixOf(4)
	lines := whatif.Answer(t.Context(), clusterOf(append(running, build.Nodes(5, "a", build.GPUs(8)))...), g).Lines()
	for _, want := range []string{
		"  running  4 of 6 pods; their room is not free for the others",
		"  short    nvidia.com/gpu: 16 asked, 8 by one pod; 8 there even idle on 5 nodes, at most 8 on one, beside the 4 pods that run",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("the lines are %q; want among them %q", lines, want)
		}
	}
}

// TestOnlyPodsThatMayBeTheGangsAreAskedAbout: a namespace may hold tens of thousands, and
// every update of a job asks.
func TestOnlyPodsThatMayBeTheGangsAreAskedAbout(t *testing.T) {
	l := fleet(300, false) // 6,000 pods in its namespace
	name := func(i int) string { return fmt.Sprintf("mine-%d", i) }
	mine := func(i int) *corev1.Pod {
		return build.Pod(name(i), build.On(fmt.Sprintf("n%05d", i)), build.PodLabel("job", "train"), build.PodLabel("role", "Worker"))
	}
	for i := range 8 {
		l.SetPod(mine(i))
	}
	asked := 0
	g := gangOf(group("Worker", 12))
	g.Own = func(p *corev1.Pod) (string, bool) { asked++; return p.Labels["role"], p.Labels["job"] == "train" }
	without := func() (fit.Result, int) {
		asked, g.OwnLabels = 0, nil
		return whatif.Answer(t.Context(), snapshotOf(l), g), asked
	}
	with := func() (fit.Result, int) {
		asked, g.OwnLabels = 0, map[string]string{"job": "train"}
		return whatif.Answer(t.Context(), snapshotOf(l), g), asked
	}
	for round := range 40 {
		want, all := without()
		got, few := with()
		if diff := cmp.Diff(want, got); diff != "" || got.Running != 8-round%2 {
			t.Fatalf("round %d: %d run (-all asked +some asked):\n%s", round, got.Running, diff)
		}
		if all < 6000 || few > 3000 {
			t.Fatalf("round %d: asked about %d pods, and about %d where the labels are known; want all, and a few", round, all, few)
		}
		// One of them goes and comes back, and others move about in the lists.
		if i := round / 2 % 8; round%2 == 0 {
			l.DropPod("default", name(i))
		} else {
			l.SetPod(mine(i))
		}
		l.DropPod("default", fmt.Sprintf("n%05d-%d", round*7, round%20))
	}
}
