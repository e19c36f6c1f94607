package fit_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/test/build"
)

func clusterOf(items ...any) *cluster.Snapshot {
	var all []build.Item
	for _, i := range items {
		switch v := i.(type) {
		case []build.Item:
			all = append(all, v...)
		case build.Item:
			all = append(all, v)
		}
	}
	return build.Cluster(all...)
}

// demo is four free H100 nodes, one of them cordoned beside them, and a tainted pool.
func demo() *cluster.Snapshot {
	return clusterOf(
		build.Nodes(4, "h100", build.GPUs(8)),
		build.Node("h100-5", build.GPUs(8), build.Cordoned()),
		build.Nodes(2, "l40s", build.GPUs(4), build.Taint("gpu=l40s:NoSchedule")),
	)
}

func TestFitInTheUsersWords(t *testing.T) {
	twoHalfBusy := clusterOf(build.Nodes(2, "a", build.GPUs(8)),
		build.Pod("x", build.On("a-1"), build.Asks("4")), build.Pod("y", build.On("a-2"), build.Asks("4")))
	oneTaken := clusterOf(build.Nodes(2, "a", build.GPUs(8)), build.Pod("x", build.On("a-1"), build.Asks("1")))
	small := build.Nodes(6, "c", build.Allocatable("cpu", "24"), build.Allocatable("memory", "128Gi"))
	cases := map[string]struct {
		on   *cluster.Snapshot
		gang gang.Gang
		want string
		do   string
	}{
		"a master and five workers on four free nodes": {
			demo(), gangOf(group("Master", 1, build.Asks("8")), group("Worker", 5, build.Asks("8"))),
			"4 of 6 pods fit: they ask for 48 nvidia.com/gpu, but the 4 nodes they may use have 32 even idle; 1 node cordoned, 2 tainted (gpu=l40s:NoSchedule)",
			"fits with 3 Workers instead of 5 (1 Master + 3 Workers on 4 nodes)",
		},
		"with the cordoned node it would fit": {
			demo(), gpus(5, "8"),
			"4 of 5 pods fit: they ask for 40 nvidia.com/gpu, but the 4 nodes they may use have 32 even idle; they all fit once the cordoned node is back; 1 node cordoned, 2 tainted (gpu=l40s:NoSchedule)",
			"fits with 4 Workers instead of 5 (4 Workers on 4 nodes)",
		},
		"with the nodes of a network that is not up yet it would fit": {
			clusterOf(build.Nodes(2, "a", build.GPUs(8), build.Taint("node.kubernetes.io/network-unavailable:NoSchedule"))), gpus(2, "8"),
			"0 of 2 pods fit: no node may take them (2 nodes tainted (node.kubernetes.io/network-unavailable:NoSchedule)); they all fit once node.kubernetes.io/network-unavailable:NoSchedule is gone", "",
		},
		"with nodes that are away in three ways it would fit": {
			clusterOf(build.Node("a", build.GPUs(8), build.Cordoned()), build.Node("b", build.GPUs(8), build.NotReady()),
				build.Node("c", build.GPUs(8), build.Taint("node.kubernetes.io/disk-pressure:NoSchedule"))), gpus(3, "8"),
			"0 of 3 pods fit: no node may take them (1 node not ready, 1 cordoned, 1 tainted (node.kubernetes.io/disk-pressure:NoSchedule)); they all fit once the 2 unready or cordoned nodes are back and node.kubernetes.io/disk-pressure:NoSchedule is gone", "",
		},
		"it fits": {
			demo(), gangOf(group("Master", 1, build.Asks("8")), group("Worker", 3, build.Asks("8"))),
			"4 of 4 pods fit: 1 Master + 3 Workers on 4 nodes", "",
		},
		"eight free, but four and four": {
			twoHalfBusy, gpus(1, "8"),
			"the pod does not fit now: it asks for 8 nvidia.com/gpu, but no node has more than 4 free (8 in all); 2 nodes full",
			"fits with 2 Workers of 4 nvidia.com/gpu instead of 1 Worker of 8 (2 Workers on 2 nodes)",
		},
		"one GPU of sixteen is taken": {
			oneTaken, gpus(2, "8"),
			"1 of 2 pods fit now: they ask for 16 nvidia.com/gpu, but only 15 are free on the 2 nodes they may use; 1 node full",
			"fits with 1 Worker instead of 2 (1 Worker on 1 node)",
		},
		"tasks larger than any node": {
			clusterOf(small), gangOf(group("worker", 4, build.Requests("cpu=48", "memory=64Gi"))),
			"0 of 4 pods fit: one worker asks for 48 cpu, but the largest node it may use has 24 even idle; 6 nodes too small",
			"fits with 24 cpu per pod instead of 48 (4 workers on 4 nodes)",
		},
		"no node has a GPU": {
			clusterOf(small), gpus(2, "8"),
			"0 of 2 pods fit: one Worker asks for 8 nvidia.com/gpu, but no node it may use has any; 6 nodes too small", "",
		},
		"no node carries the label": {
			demo(), gangOf(group("Worker", 2, build.Asks("8"), selects("pool", "h200"))),
			"0 of 2 pods fit: no node may take them (1 node cordoned, 6 not selected)",
			"fits without the node selector pool=h200 (2 Workers on 2 nodes)",
		},
		"the daemon of a node takes what the pod needs": {
			clusterOf(build.Node("a", build.GPUs(8)), build.Pod("agent", build.On("a"), build.OwnedBy("DaemonSet", "agent"), build.Requests("cpu=1"))),
			gangOf(group("Worker", 1, build.Requests("cpu=96"))),
			"the pod does not fit: one Worker asks for 96 cpu, but the largest node it may use has 95 even idle; 1 node too small",
			"fits with 95 cpu per pod instead of 96 (1 Worker on 1 node)",
		},
		"sixteen free as twelve and four": {
			clusterOf(build.Node("a", build.GPUs(16)), build.Node("b", build.GPUs(8)), build.Pod("x", build.On("a"), build.Asks("4")), build.Pod("y", build.On("b"), build.Asks("4"))),
			gpus(2, "8"),
			"1 of 2 pods fit now: they ask for 8 nvidia.com/gpu each, but single nodes have room for only 1 pod of 8 (16 free in all); 1 node full",
			"fits with 1 Worker instead of 2 (1 Worker on 1 node)",
		},
		"CPUs run out before GPUs do": {
			clusterOf(build.Nodes(2, "a", build.GPUs(8)), build.Pod("x", build.On("a-1"), build.Requests("cpu=90"))),
			gangOf(group("Worker", 2, build.Requests("cpu=32", "nvidia.com/gpu=8"))),
			"1 of 2 pods fit now: they ask for 16 nvidia.com/gpu (8 each) and 64 cpu (32 each); 16 nvidia.com/gpu and 102 cpu are free on the 2 nodes they may use, but not enough of both on the same nodes; 1 node full",
			"fits with 1 Worker instead of 2 (1 Worker on 1 node)",
		},
		"room for pods runs out": {
			clusterOf(build.Node("a", build.Allocatable("pods", "2")), build.Pod("x", build.On("a"))),
			gangOf(group("Worker", 2)),
			"1 of 2 pods fit now: they need room for 2 pods, but only 1 place for a pod is free on the 1 node they may use",
			"fits with 1 Worker instead of 2 (1 Worker on 1 node)",
		},
		"an elastic role at its minimum": {
			demo(), gangOf(gang.Group{Name: "Worker", Count: 8, Min: 2, Pod: job.Pod{Spec: build.Pod("w", build.Asks("8")).Spec}}),
			"4 of up to 8 pods fit: 4 Workers on 4 nodes", "",
		},
		"one pod that fits": {demo(), gpus(1, "8"), "the pod fits: 1 Worker on 1 node", ""},
		"nothing to place":  {demo(), gangOf(), "there are no pods to place", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := whatif.Answer(t.Context(), tc.on, tc.gang)
			if diff := cmp.Diff(tc.want, got.String()); diff != "" {
				t.Errorf("Fit (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.do, got.Change); diff != "" {
				t.Errorf("Change (-want +got):\n%s\nall: %q", diff, got.Changes)
			}
		})
	}
}

func TestFitAsLines(t *testing.T) {
	cases := map[string]struct {
		gang gang.Gang
		want string
	}{
		"no": {gangOf(group("Master", 1, build.Asks("8")), group("Worker", 5, build.Asks("8"))), `
4 of 6 pods fit
  asked    1 Master + 5 Workers: 8 nvidia.com/gpu each
  short    nvidia.com/gpu: 48 asked, 8 by one pod; 32 there even idle on 4 nodes, at most 8 on one
  nodes    1 node cordoned, 2 tainted (gpu=l40s:NoSchedule)
  change   fits with 3 Workers instead of 5 (1 Master + 3 Workers on 4 nodes)`},
		"a label that no node has": {gangOf(group("Worker", 2, build.Asks("16"), selects("pool", "h200"))), `
0 of 2 pods fit
  asked    2 Workers: 16 nvidia.com/gpu each
  because  no node may take them: none has pool=h200
  nodes    1 node cordoned, 6 not selected`},
		"yes": {gangOf(group("launcher", 1), group("Worker", 4, build.Asks("8"))), `
5 of 5 pods fit
  asked    1 launcher: nothing but a place
  asked    4 Workers: 8 nvidia.com/gpu each
  plan     1 launcher on h100-1 (1)
           4 Workers on h100-1 (1), h100-2 (1), h100-3 (1), h100-4 (1)`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := "\n" + strings.Join(whatif.Answer(t.Context(), demo(), tc.gang).Lines(), "\n")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRolesThatRunOneAfterTheOtherShareTheirRoom(t *testing.T) {
	one := clusterOf(build.Node("a", build.GPUs(8)))
	after := func(g gang.Group, names ...string) gang.Group { g.After = names; return g }
	cases := map[string]struct {
		gang gang.Gang
		want fit.Verdict
	}{
		"together they do not fit":             {gangOf(group("init", 1, build.Asks("8")), group("node", 1, build.Asks("8"))), fit.TooBig},
		"one after the other they do":          {gangOf(group("init", 1, build.Asks("8")), after(group("node", 1, build.Asks("8")), "init")), fit.Fits},
		"in any order of declaration":          {gangOf(after(group("node", 1, build.Asks("8")), "init"), group("init", 1, build.Asks("8"))), fit.Fits},
		"three in a row":                       {gangOf(group("a", 1, build.Asks("8")), after(group("b", 1, build.Asks("8")), "a"), after(group("c", 1, build.Asks("8")), "b")), fit.Fits},
		"one that nobody waits for stays":      {gangOf(group("ps", 1, build.Asks("4")), group("init", 1, build.Asks("4")), after(group("node", 1, build.Asks("8")), "init")), fit.TooBig},
		"a port of one that stays is not free": {gangOf(group("ps", 1, build.HostPort(2222)), group("init", 1), after(group("node", 1, build.HostPort(2222)), "init")), fit.TooBig},
		"a port of one that is over is free":   {gangOf(group("init", 1, build.HostPort(2222)), after(group("node", 1, build.HostPort(2222)), "init")), fit.Fits},
		"a circle is no order":                 {gangOf(after(group("a", 1, build.Asks("8")), "b"), after(group("b", 1, build.Asks("8")), "a")), fit.TooBig},
		"a name that nobody has":               {gangOf(after(group("a", 1, build.Asks("8")), "nobody")), fit.Fits},
		"the second is too big":                {gangOf(group("a", 1), after(group("b", 1, build.Asks("9")), "a")), fit.TooBig},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := whatif.Answer(t.Context(), one, tc.gang); got.Verdict != tc.want {
				t.Errorf("Fit says %s, want %s\n%s", got.Verdict, tc.want, got)
			}
		})
	}
}

func TestPodsThatStayFromAnEarlierStageAreNotForgotten(t *testing.T) {
	after := func(g gang.Group, names ...string) gang.Group { g.After = names; return g }
	g := gangOf(group("ps", 1, build.HostPort(2222)), group("init", 1), after(group("node", 1, build.HostPort(2222)), "init"))
	got := whatif.Answer(t.Context(), clusterOf(build.Node("a", build.GPUs(8)), build.Node("b", build.GPUs(8))), g)
	const want = "ps may still run when node starts: ports, volumes and affinity between them are not judged"
	if got.Verdict != fit.Unknown || !slices.Contains(got.Assumed, want) {
		t.Errorf("Fit says %s %q, want unknown and %q", got.Verdict, got.Assumed, want)
	}
}

// What a pod needed beside it when it was placed may have completed since: its place is not lost for that.
func TestPodsThatStayNeedNobodyWhoHasCompleted(t *testing.T) {
	after := func(g gang.Group, names ...string) gang.Group { g.After = names; return g }
	g := gangOf(group("init", 1, role("init")), group("ps", 1, role("ps"), near("zone", "init")), after(group("node", 1, near("zone", "ps")), "init"))
	got := whatif.Answer(t.Context(), threeZones(), g)
	const want = "ps may still run when node starts: ports, volumes and affinity between them are not judged"
	if got.Verdict != fit.Unknown || !slices.Contains(got.Assumed, want) {
		t.Errorf("Fit says %s %q, want unknown and %q", got, got.Assumed, want)
	}
}

// Its author writes as many labels into a selector as he likes: sixteen are looked for on the nodes.
func TestSixteenLabelsOfASelectorAreLookedFor(t *testing.T) {
	for n, want := range map[int]int{16: 1, 17: 0} {
		g := gpus(1, "8")
		g.Groups[0].Pod.Spec.NodeSelector = map[string]string{"z": "nowhere"}
		node := build.Node("a", build.GPUs(8))
		for i := range n - 1 {
			key := fmt.Sprintf("k%02d", i)
			g.Groups[0].Pod.Spec.NodeSelector[key], node.Labels[key] = "v", "v"
		}
		got := whatif.Answer(t.Context(), clusterOf(node), g)
		if len(got.Rejected.Selectors) != want || got.Rejected.Selector != 1 {
			t.Errorf("of %d labels %q is said to be nowhere, %d nodes are refused; want %d and 1", n, got.Rejected.Selectors, got.Rejected.Selector, want)
		}
	}
}

func TestPodsOfTheGangKeepTheirPlace(t *testing.T) {
	mine := func(p *corev1.Pod) (string, bool) { return p.Labels["role"], p.Labels["job"] == "train" }
	running := func(name, node string) *corev1.Pod {
		return build.Pod(name, build.On(node), build.Asks("8"), build.PodLabel("job", "train"), build.PodLabel("role", "Worker"))
	}
	g := gpus(3, "8")
	g.Own = mine
	nodes := build.Nodes(3, "a", build.GPUs(8))
	half := clusterOf(nodes, running("w0", "a-1"), running("w1", "a-2"))
	got := whatif.Answer(t.Context(), half, g)
	want := []fit.Placement{{Group: "Worker", Node: "a-1", Count: 1}, {Group: "Worker", Node: "a-2", Count: 1}, {Group: "Worker", Node: "a-3", Count: 1}}
	if diff := cmp.Diff(want, got.Plan); got.Verdict != fit.Fits || got.Placed != 3 || diff != "" {
		t.Errorf("two of three run: %s, placed %d (-want +got):\n%s", got.Verdict, got.Placed, diff)
	}
	more := gpus(5, "8")
	more.Own = mine
	full := clusterOf(nodes, running("w0", "a-1"), running("w1", "a-2"), running("w2", "a-3"))
	if diff := cmp.Diff("fits with 3 Workers instead of 5 (3 Workers on 3 nodes)", whatif.Answer(t.Context(), full, more).Change); diff != "" {
		t.Errorf("three of five run (-want +got):\n%s", diff)
	}
	leaving := running("w1", "a-2")
	leaving.DeletionTimestamp = &metav1.Time{Time: build.Taken}
	if got := whatif.Answer(t.Context(), clusterOf(nodes, running("w0", "a-1"), leaving), g); got.Verdict != fit.Full || got.Placed != 2 {
		t.Errorf("a pod that is being deleted takes room and does not count: %s, placed %d; want full, 2", got.Verdict, got.Placed)
	}
	extra := gang.Group{Name: "Worker", Count: 5, Min: 1, Pod: job.Pod{Requests: job.Resources{"nobody.has/this": 1}}}
	elastic := gangOf(extra, group("Master", 1, build.Asks("8")))
	elastic.Own = mine
	if got := whatif.Answer(t.Context(), half, elastic); got.Verdict != fit.Fits || got.Placed != 3 {
		t.Errorf("an elastic role whose minimum runs: %s, placed %d; want fits, 3\n%s", got.Verdict, got.Placed, got)
	}
	g.Own = nil
	if got := whatif.Answer(t.Context(), half, g); got.Verdict != fit.Full || got.Placed != 1 {
		t.Errorf("pods of somebody else: %s, placed %d; want full, 1", got.Verdict, got.Placed)
	}
}

func TestWithoutPodsOnlyTheImpossibleIsProven(t *testing.T) {
	view := func(items ...build.Item) *cluster.Snapshot {
		var b cluster.Builder
		for _, i := range items {
			b.Node(i.(*corev1.Node))
		}
		return b.Snapshot(build.Taken)
	}
	const said = "pods are not known: what runs on the nodes was not counted, every node is taken as idle"
	got := whatif.Answer(t.Context(), view(build.Nodes(2, "a", build.GPUs(8))...), gpus(2, "8"))
	if got.Verdict != fit.Unknown || len(got.Plan) != 2 || !slices.Contains(got.Assumed, said) {
		t.Errorf("Fit says %s with the plan %v and %q; want unknown, a plan for idle nodes, and why", got.Verdict, got.Plan, got.Assumed)
	}
	if got := whatif.Answer(t.Context(), view(build.Nodes(2, "a", build.GPUs(8))...), gpus(2, "9")); got.Verdict != fit.TooBig {
		t.Errorf("nine GPUs on nodes of eight: %s, want too-big", got.Verdict)
	}
	if got := whatif.Answer(t.Context(), view(), gpus(1, "1")); got.Verdict != fit.Unknown || got.Assumed[0] != "the view of the cluster holds no nodes" {
		t.Errorf("without nodes: %s, %q; want unknown and why", got.Verdict, got.Assumed)
	}
	if got := whatif.Answer(t.Context(), clusterOf(), gpus(1, "1")); got.Verdict != fit.TooBig {
		t.Errorf("a cluster that is known to have no nodes: %s, want too-big", got.Verdict)
	}
	var none *cluster.Snapshot
	if got := whatif.Answer(t.Context(), none, gpus(1, "1")); got.Verdict != fit.Unknown || got.Assumed[0] != "there is no view of the cluster" {
		t.Errorf("no snapshot: %s, %q; want unknown and why", got.Verdict, got.Assumed)
	}
}

func TestWhereNodesCanBeAddedTheNodesThereAreProveNothing(t *testing.T) {
	grows := func(items ...any) *cluster.Snapshot {
		return clusterOf(append(items, build.Node("a", build.GPUs(8), build.Label("karpenter.sh/nodepool", "gpu")))...)
	}
	busy := build.Pod("x", build.On("a"), build.Asks("1"))
	queued := gpus(1, "8")
	queued.Queue = "team-a"
	cases := map[string]struct {
		on   *cluster.Snapshot
		gang gang.Gang
		want fit.Verdict
		says bool
	}{
		"busy":                             {clusterOf(build.Node("a", build.GPUs(8)), busy), gpus(1, "8"), fit.Full, true},
		"busy, and nodes can be added":     {grows(busy), gpus(1, "8"), fit.Full, false},
		"too many, and nodes can be added": {grows(), gpus(2, "8"), fit.TooBig, false},
		"too large for any node there is":  {grows(), gpus(1, "9"), fit.TooBig, false},
		"too large, and nobody adds nodes": {clusterOf(build.Node("a", build.GPUs(8))), queued9(), fit.TooBig, true},
		"busy, and a queue holds it back":  {clusterOf(build.Node("a", build.GPUs(8)), busy), queued, fit.Full, false},
		"it fits":                          {clusterOf(build.Node("a", build.GPUs(8))), gpus(1, "8"), fit.Fits, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := whatif.Answer(t.Context(), tc.on, tc.gang)
			if got.Verdict != tc.want || got.Warns() != tc.says {
				t.Errorf("Fit says %s, worth a warning: %t; want %s, %t", got.Verdict, got.Warns(), tc.want, tc.says)
			}
		})
	}
}

// queued9 is a pod of nine GPUs in a queue.
func queued9() gang.Gang {
	g := gpus(1, "9")
	g.Queue = "team-a"
	return g
}

func TestAssumptionsAreNamed(t *testing.T) {
	least := gpus(4, "8")
	least.MinMembers = 2
	cases := map[string]struct {
		on   *cluster.Snapshot
		gang gang.Gang
		want string
	}{
		"pods that wait too": {
			clusterOf(build.Node("a", build.GPUs(8)), build.Pod("p", build.In("other"), build.Asks("4")), build.Pod("q", build.Asks("2"))), gpus(1, "8"),
			"2 pods of others wait for a place too (6 nvidia.com/gpu); not counted",
		},
		"a minimum that fits": {clusterOf(build.Nodes(3, "a", build.GPUs(8))), least, "the gang may start with 2 of its 4 pods, and 3 fit"},
		"a priority class": {
			clusterOf(build.Node("a", build.GPUs(8)), build.Pod("x", build.On("a"), build.Asks("8"))),
			gangOf(group("Worker", 1, build.Asks("8"), build.Spec(func(s *corev1.PodSpec) { s.PriorityClassName = "high" }))),
			"the priority class high may move others aside; that is not considered",
		},
		"a request below zero": {clusterOf(build.Node("a")), gangOf(gang.Group{Name: "Worker", Count: 1, Pod: job.Pod{Requests: job.Resources{"cpu": -3000}}}), "Worker asks for -3 cpu; counted as 0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := whatif.Answer(t.Context(), tc.on, tc.gang); !slices.Contains(got.Assumed, tc.want) {
				t.Errorf("assumed %q; want %q among them", got.Assumed, tc.want)
			}
		})
	}
}

func TestAbsurdNumbersAreAnsweredQuickly(t *testing.T) {
	s := clusterOf(build.Nodes(50, "a", build.GPUs(8)))
	cases := map[string]gang.Gang{
		"a million pods of 8":         gpus(1_000_000, "8"),
		"2^62 pods of nothing":        gangOf(group("Worker", 1<<62)),
		"three roles of 2^62":         gangOf(group("A", 1<<62, build.Asks("1")), group("B", 1<<62, build.Asks("1")), group("C", 1<<62, build.Asks("2"))),
		"two roles of a million each": gangOf(group("A", 1_000_000, build.Asks("8")), group("B", 1_000_000, build.Requests("cpu=1"))),
		"more than there is on earth": gpus(2, "9Ei"),
	}
	for name, g := range cases {
		t.Run(name, func(t *testing.T) {
			if got := whatif.Answer(t.Context(), s, g); got.Verdict != fit.TooBig || got.Wanted < 2 {
				t.Errorf("Fit says %s for %d pods, want too-big", got.Verdict, got.Wanted)
			}
		})
	}
}

func TestTheResultAsJSON(t *testing.T) {
	got, err := json.MarshalIndent(whatif.Answer(t.Context(), clusterOf(build.Node("a", build.GPUs(8)), build.Pod("x", build.On("a"), build.Asks("4"))), gpus(1, "8")), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want := `{
 "answer": "full",
 "verdict": "full",
 "placed": 0,
 "wanted": 1,
 "plan": [],
 "shortfall": [
  {
   "resource": "nvidia.com/gpu",
   "asked": 8,
   "free": 4,
   "largestHole": 4,
   "neededHole": 8
  }
 ],
 "rejected": {
  "total": 1,
  "notReady": 0,
  "cordoned": 0,
  "selector": 0,
  "taint": 0,
  "tooSmall": 0,
  "full": 1,
  "other": 0,
  "open": 0
 },
 "change": "",
 "assumed": []
}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}
