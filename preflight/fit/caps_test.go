package fit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

// torn are roles a, which spreads evenly over two zones, and b, which keeps away from zones of a: no
// rule alone is broken, so that only a search can show that it does not fit.
func torn(a, b int) gang.Gang {
	return gangOf(
		group("A", a, build.Asks("1"), role("a"), even("zone", "a", 1)),
		group("B", b, build.Asks("1"), role("b"), apartOver("zone", "a")),
	)
}

// inZones are nodes in two zones.
func inZones(nodes, gpus int) *cluster.Snapshot {
	var items []any
	for i := range nodes {
		items = append(items, build.Node(fmt.Sprintf("n%03d", i), build.GPUs(gpus), build.Label("zone", fmt.Sprint(i%2))))
	}
	return clusterOf(items...)
}

// halves are two roles of which a node takes one pod of the first or two of the second, one more of
// these than there is room for; in sum there would be enough.
func halves(large int) (*cluster.Snapshot, gang.Gang) {
	return clusterOf(build.Nodes(2*large, "n", build.Allocatable("cpu", "10"))),
		gangOf(group("A", large, build.Requests("cpu=6")), group("B", 2*large+1, build.Requests("cpu=5")))
}

// TestOneAboveEachLimitIsUnknown holds the searches to their word: what is too large for them to
// decide is unknown, with the reason, and neither fits nor does not.
func TestOneAboveEachLimitIsUnknown(t *testing.T) {
	const unproven = "the pods could not be placed, and it could not be proven that they cannot"
	const steps = "steps that a question may cost"
	one := func(s *cluster.Snapshot, g gang.Gang) []hostile { return []hostile{{s, g}} }
	large, gang4096 := halves(4096)
	small, gang9 := halves(9)
	cases := map[string]struct {
		asked []hostile
		want  string // why it is unknown; empty: it is not
	}{
		"64 nodes for pods that look at each other":  {one(inZones(64, 1), torn(2, 1)), ""},
		"65 nodes for pods that look at each other":  {one(inZones(65, 1), torn(2, 1)), unproven},
		"984 ways to fill a node":                    {one(inZones(2, 64), torn(40, 23)), ""},
		"1,025 ways to fill a node":                  {one(inZones(2, 64), torn(40, 24)), unproven},
		"states of 9 pods":                           {one(small, gang9), ""},
		"4,097 states":                               {one(large, gang4096), unproven},
		"more steps than a question may cost":        {constrained(60)[5:], steps},
		"more steps than it takes to read the roles": {one(demo(), shapes(5000)), steps},
		"31 roles that ask for more than there is":   {one(inZones(2, 8), crowdOf(31)), ""},
		"200 roles that ask for more than there is":  {one(inZones(2, 8), crowdOf(200)), ""},
		"2,000 roles":                                {one(inZones(2, 8), crowdOf(2000)), steps},
		"20,000 roles":                               {one(inZones(2, 8), crowdOf(20000)), steps},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := whatif.Answer(t.Context(), tc.asked[0].on, tc.asked[0].gang)
			why := strings.Join(r.Assumed, "; ")
			switch {
			case r.Verdict == fit.Fits:
				t.Errorf("it fits: %.300s", r)
			case tc.want == "" && r.Verdict == fit.Unknown, tc.want != "" && (r.Verdict != fit.Unknown || !strings.Contains(why, tc.want)):
				t.Errorf("%s for %q, want unknown for %q", r.Verdict, why, tc.want)
			}
		})
	}
}

// TestWhatIsNotProvenOfTheIdleClusterIsSaid is about what that may cost: that the gang does not fit now
// stays proven.
func TestWhatIsNotProvenOfTheIdleClusterIsSaid(t *testing.T) {
	const unproven = "that they would fit on the idle cluster is not proven"
	for pods, want := range map[int]fit.Verdict{5: fit.TooBig, 20: fit.Full} {
		var items []any
		for i := range 2 {
			name := fmt.Sprint("n", i)
			items = append(items, build.Node(name, build.GPUs(64), build.Label("zone", name)), build.Pod("p-"+name, build.On(name), build.Asks("62")))
		}
		r := whatif.Answer(t.Context(), clusterOf(items...), torn(pods, pods+3))
		if r.Verdict != want || slices.Contains(r.Assumed, unproven) != (want == fit.Full) {
			t.Errorf("%d pods that spread: %.200s, %s, assumed %q; want %s", pods, r, r.Verdict, r.Assumed, want)
		}
	}
}

// crowdOf are as many roles that differ, of one GPU each.
func crowdOf(roles int) gang.Gang {
	var g gang.Gang
	for i := range roles {
		g.Groups = append(g.Groups, group(fmt.Sprintf("w%d", i), 1, build.Asks("1"), build.Requests(fmt.Sprintf("cpu=%dm", i+1))))
	}
	return g
}

// TestWhatIsNotTriedIsSaid is about limits of what is suggested: the verdict stays as it is.
func TestWhatIsNotTriedIsSaid(t *testing.T) {
	selecting := func(keys int) gang.Gang {
		var o []build.PodOption
		for i := range keys {
			o = append(o, selects(fmt.Sprintf("k%d", i), "v"))
		}
		return gangOf(group("Worker", 1, append(o, build.Asks("1"))...))
	}
	taken := func(nodes int) *cluster.Snapshot {
		var items []any
		for i := range nodes {
			name := fmt.Sprintf("n%03d", i)
			items = append(items, build.Node(name, build.GPUs(8)), build.Pod("p"+name, build.On(name), build.Asks("8"), priority(0)))
		}
		return ruled(t, highClass, nil, items...)
	}
	whole := func(pods int) gang.Gang {
		return in("ml", gangOf(group("Worker", pods, build.Asks("8"), class("high"))))
	}
	cases := map[string]struct {
		on   *cluster.Snapshot
		gang gang.Gang
		want string // empty: all was tried
		is   fit.Verdict
	}{
		"6 node selectors":                 {demo(), selecting(6), "", fit.TooBig},
		"7 node selectors":                 {demo(), selecting(7), "of 7 node selectors only 6 were tried as changes", fit.TooBig},
		"a pod of 1,024 devices":           {demo(), gpus(1, "1024"), "", fit.TooBig},
		"a pod of 1,025 devices":           {demo(), gpus(1, "1025"), "smaller pods were not tried: one asks for more than 1024 nvidia.com/gpu", fit.TooBig},
		"roles enough for more than tries": {inZones(2, 8), pairs(30), "not every change that might make it fit was tried: there are more than 80", fit.TooBig},
		"128 nodes to clear":               {taken(128), whole(128), "", fit.Full},
		"129 nodes to clear":               {taken(129), whole(129), "whom the priority class high would move aside is more than can be tried", fit.Full},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := whatif.Answer(t.Context(), tc.on, tc.gang)
			if r.Verdict != tc.is {
				t.Errorf("the verdict is %s, want %s: %.300s", r.Verdict, tc.is, r)
			}
			if said := slices.ContainsFunc(r.Assumed, func(a string) bool { return strings.Contains(a, "tried") }); said != (tc.want != "") || tc.want != "" && !slices.Contains(r.Assumed, tc.want) {
				t.Errorf("assumed %q, want %q", r.Assumed, tc.want)
			}
		})
	}
}

// pairs are roles of many pods each.
func pairs(roles int) gang.Gang {
	var g gang.Gang
	for i := range roles {
		g.Groups = append(g.Groups, group(fmt.Sprintf("w%d", i), 16, build.Asks("1"), build.Requests(fmt.Sprintf("cpu=%dm", i+1))))
	}
	return g
}

// TestLargeGangsThatSpreadAreDecided is about gangs as large as people run: their place is found within
// the steps of a question, on nodes of which hardly two are alike.
func TestLargeGangsThatSpreadAreDecided(t *testing.T) {
	s := snapshotOf(fleet(5000, true))
	for name, tie := range map[string]build.PodOption{
		"spread over racks": even("rack", "w", 1), "spread over nodes": even("kubernetes.io/hostname", "w", 1), "in one pool": near("pool", "w"),
	} {
		t.Run(name, func(t *testing.T) {
			g := gangOf(group("Worker", 256, build.Asks("1"), role("w"), selects("pool", "train"), tie))
			r, steps := answerWithin(t.Context(), s, g, 1<<30)
			if got := whatif.Answer(t.Context(), s, g); got.Verdict != fit.Fits || r.Verdict != fit.Fits {
				t.Errorf("256 pods: %.300s; it takes %d steps", got, steps)
			}
		})
	}
}

func TestALineOfThePlanNamesFourNodesAndCountsTheOthers(t *testing.T) {
	for n, want := range map[int]string{4: "on n-1 (1), n-2 (1), n-3 (1), n-4 (1)", 5: "n-4 (1) and 1 more"} {
		r := whatif.Answer(t.Context(), build.Cluster(build.Nodes(n, "n", build.GPUs(8))...), gpus(n, "8"))
		if got := strings.Join(r.Lines(), "\n"); r.Verdict != fit.Fits || !strings.Contains(got, want) {
			t.Errorf("a plan on %d nodes reads\n%s\nwant %s", n, got, want)
		}
	}
}
