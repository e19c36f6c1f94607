package fit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

// beside are two roles that ask for one GPU more than there is in their zone, and as many others in all
// that can go anywhere.
func beside(roles int) gang.Gang {
	g := gang.Gang{}
	for i, n := range []int{5, 4} {
		g.Groups = append(g.Groups, group(fmt.Sprintf("near%d", i), n, build.Asks("1"), build.Requests(fmt.Sprintf("cpu=%dm", i+1)), selects("zone", "0")))
	}
	for i := len(g.Groups); i < roles; i++ {
		g.Groups = append(g.Groups, group(fmt.Sprintf("far%d", i), 1, build.Requests(fmt.Sprintf("cpu=%dm", i+1))))
	}
	return gangOf(g.Groups...)
}

// racks are zones, each of so many nodes on one rack, and a last one of two nodes on two racks.
func racks(zones, nodes int) *cluster.Snapshot {
	var items []any
	add := func(zone, rack string, gpus int) {
		items = append(items, build.Node(fmt.Sprintf("n%04d", len(items)), build.GPUs(gpus), build.Label("zone", zone), build.Label("rack", rack)))
	}
	for z := range zones - 1 {
		for n := range nodes {
			add(fmt.Sprintf("z%d", z), fmt.Sprintf("z%d", z), []int{1, 8}[n%2])
		}
	}
	for r := range 2 {
		add("last", fmt.Sprintf("r%d", r), 2)
	}
	return clusterOf(items...)
}

// TestOneAboveAShortCutTheAnswerIsTheSame is about limits beyond which another way decides.
func TestOneAboveAShortCutTheAnswerIsTheSame(t *testing.T) {
	together := gangOf(group("Worker", 2, build.Asks("1"), role("w"), near("zone", "w"), spec(func(s *corev1.PodSpec) {
		s.Affinity.PodAntiAffinity = apartFrom("rack", "role", "w").PodAntiAffinity
	})))
	chosen := func(n int) gang.Gang {
		return gangOf(group("Worker", 2, build.Asks("1"), selects("own", fmt.Sprint(n-1)), tolerates(fmt.Sprint("taint-", n-1))))
	}
	sets := func(n int, gpus string) gang.Gang { // each in one zone, whichever
		var groups []gang.Group
		for i := range n {
			name := fmt.Sprint("set-", i)
			groups = append(groups, group(name, 2, build.Asks(gpus), role(name), near("zone", name)))
		}
		return gangOf(groups...)
	}
	own := func(nodes int) *cluster.Snapshot { // each with a label and a taint that no other has
		var items []any
		for i := range nodes {
			items = append(items, build.Node(fmt.Sprintf("n%04d", i), build.GPUs(8), build.Label("own", fmt.Sprint(i)), build.Taint(fmt.Sprintf("taint-%d=x:NoSchedule", i))))
		}
		return clusterOf(items...)
	}
	cases := map[string]struct {
		on      *cluster.Snapshot
		gang    gang.Gang
		want    fit.Verdict
		assumed string
	}{
		"6 roles, of which two are too many together": {inZones(2, 8), beside(6), fit.TooBig, ""},
		"7 roles, of which two are too many together": {inZones(2, 8), beside(7), fit.TooBig, ""},
		"8 zones to begin in":                         {racks(8, 10), together, fit.Fits, ""},
		"9 zones to begin in":                         {racks(9, 10), together, fit.Unknown, "it could not be proven that they cannot"},
		"9 zones of few nodes":                        {racks(9, 4), together, fit.Fits, ""},
		"4 sets that each begin in a zone":            {racks(8, 4), sets(4, "1"), fit.Fits, ""},
		"5 sets that each begin in a zone":            {racks(8, 4), sets(5, "1"), fit.Fits, ""},
		"5 sets that are too many":                    {racks(8, 1), sets(5, "8"), fit.TooBig, ""},
		"511 labels and taints":                       {own(511), chosen(511), fit.Fits, ""},
		"512 labels and taints":                       {own(512), chosen(512), fit.Fits, ""},
		"513 labels and taints":                       {own(513), chosen(513), fit.Fits, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := whatif.Answer(t.Context(), tc.on, tc.gang)
			if why := strings.Join(r.Assumed, "; "); r.Verdict != tc.want || !strings.Contains(why, tc.assumed) {
				t.Errorf("%.300s, assumed %q; want %s for %q", r, why, tc.want, tc.assumed)
			}
			if n := r.Rejected; n.Total != len(tc.on.Nodes()) || tc.want == fit.Fits && n.Open == 0 {
				t.Errorf("of %d nodes %+v", len(tc.on.Nodes()), n)
			}
		})
	}
}

// TestGroupsOfNodesAreTheSameWhereTheyAreLookedUpOtherwise is about more combinations of shapes and labels
// than a table is made for.
func TestGroupsOfNodesAreTheSameWhereTheyAreLookedUpOtherwise(t *testing.T) {
	for _, n := range []int{255, 256, 257, 300} { // 256 × 256 have a table
		var items []any
		for i := range 2 * n {
			items = append(items, build.Node(fmt.Sprintf("n%04d", i), build.Allocatable("cpu", fmt.Sprint(i%n+1)), build.Label("pool", fmt.Sprint(i%n))))
		}
		s := clusterOf(items...)
		if diff := cmp.Diff(grouped(oneByOne(s, []string{"pool"}), "pool"), grouped(s.Alike("pool"), "pool")); diff != "" {
			t.Errorf("%d shapes and labels (-one by one +groups):\n%s", n, diff)
		}
	}
}

// TestWhatIsTriedOfRunningJobsLosesNoMoreThanAHint is about how many running jobs are looked at: what is
// said is proven all the same.
func TestWhatIsTriedOfRunningJobsLosesNoMoreThanAHint(t *testing.T) {
	running := func(jobs int, gpus func(i int) int) *cluster.Snapshot {
		var items []any
		for i := range jobs {
			node := fmt.Sprintf("n%03d", i)
			items = append(items, build.Node(node, build.GPUs(8), build.Allocatable("cpu", fmt.Sprint(i+1))), build.Pod(fmt.Sprintf("j%03d", i), build.On(node), build.Asks(fmt.Sprint(gpus(i))), build.PodLabel("job-name", fmt.Sprintf("j%03d", i))))
		}
		return clusterOf(items...)
	}
	whole := func(int) int { return 8 }
	// The job of the last node holds one GPU less than that of the first, and more than all between them.
	graded := func(jobs int) func(int) int {
		return func(i int) int { return map[int]int{0: 8, jobs - 1: 7}[i] + map[bool]int{true: 6}[i > 0 && i < jobs-1] }
	}
	last := func(jobs int) gang.Gang {
		return gangOf(group("Worker", 1, build.Asks("8"), spec(func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
				{MatchFields: []corev1.NodeSelectorRequirement{expr("metadata.name", corev1.NodeSelectorOpIn, "n000")}},
				{MatchFields: []corev1.NodeSelectorRequirement{expr("metadata.name", corev1.NodeSelectorOpIn, fmt.Sprintf("n%03d", jobs-1))}},
			}}}}
		})))
	}
	cases := map[string]struct {
		on   *cluster.Snapshot
		gang gang.Gang
		want string // part of it; empty: nothing is said
	}{
		"16 jobs together":             {running(16, whole), gpus(16, "8"), "fits once the jobs default/j000, "},
		"17 jobs together":             {running(17, whole), gpus(17, "8"), "fits once the jobs default/j000, "},
		"the smallest of 31 is enough": {running(31, graded(31)), last(31), "fits once the job default/j030 ends"},
		"of 32 not each is tried":      {running(32, graded(32)), last(32), "fits once the job default/j000 ends"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := whatif.Completions(t.Context(), tc.on, tc.gang, whatif.Answer(t.Context(), tc.on, tc.gang), nil)
			if !strings.HasPrefix(got, tc.want) || tc.want == "" && got != "" {
				t.Errorf("Completions = %q, want %q", got, tc.want)
			}
		})
	}
}

// TestVictimsAreTheSameHoweverManyNodesHaveRoom is about nodes with room beside those that are cleared.
func TestVictimsAreTheSameHoweverManyNodesHaveRoom(t *testing.T) {
	for _, spare := range []int{1, 64, 65, 200} {
		items := []any{build.Node("full", build.GPUs(8)), build.Pod("p", build.On("full"), build.Asks("8"), priority(0))}
		for i := range spare {
			items = append(items, build.Node(fmt.Sprintf("spare%03d", i), build.GPUs(4)))
		}
		g := in("ml", gangOf(group("Master", 1, build.Asks("1"), class("high")), group("Worker", 1, build.Asks("8"), class("high"))))
		r := whatif.Answer(t.Context(), ruled(t, highClass, nil, items...), g)
		if r.Verdict != fit.Full && r.Verdict != fit.Fragmented || r.Preempts == nil || len(r.Preempts.Victims) != 1 || r.Preempts.Victims[0].Name != "p" {
			t.Errorf("%d nodes with room: %s, victims %v, want p", spare, r, r.Preempts)
		}
	}
}

// TestVictimsAreNotMoreBecauseNodesAreNotCleared is about a node with room for the gang, which would be
// cleared last: its room counts where others are cleared first.
func TestVictimsAreNotMoreBecauseNodesAreNotCleared(t *testing.T) {
	for _, full := range []int{17, 18, 40} { // for one pod without a place 18 are looked at
		items := []any{build.Node("room", build.GPUs(8))}
		for i := range 3 {
			items = append(items, build.Pod(fmt.Sprint("small-", i), build.On("room"), build.Requests("cpu=1"), priority(0)))
		}
		for i := range full {
			node := fmt.Sprintf("full%02d", i)
			items = append(items, build.Node(node, build.GPUs(8)), build.Pod("p"+node, build.On(node), build.Asks("8"), priority(0)))
		}
		g := in("ml", gangOf(group("Worker", 2, build.Asks("8"), class("high"))))
		r := whatif.Answer(t.Context(), ruled(t, highClass, nil, items...), g)
		if r.Preempts == nil || len(r.Preempts.Victims) != 1 || r.Preempts.Victims[0].Pods != 1 {
			t.Errorf("%d full nodes: %s, %v; want one victim", full, r, r.Preempts)
		}
	}
}

// TestVictimsThatCostTooManyStepsAreNotNamed is about what a search for victims may cost; the verdict stays.
func TestVictimsThatCostTooManyStepsAreNotNamed(t *testing.T) {
	for pods, want := range map[int]string{4: "", 64: "whom the priority class high would move aside is more than can be tried"} {
		var items []any
		for i := range 128 {
			node := fmt.Sprintf("n%03d", i)
			items = append(items, build.Node(node, build.Allocatable("cpu", fmt.Sprint(pods))))
			for j := range pods {
				items = append(items, build.Pod(fmt.Sprintf("p%d-%d", i, j), build.On(node), build.Requests("cpu=1"), priority(int32(j))))
			}
		}
		g := in("ml", gangOf(group("Worker", 128, build.Requests(fmt.Sprint("cpu=", pods)), class("high"))))
		r := whatif.Answer(t.Context(), ruled(t, highClass, nil, items...), g)
		if r.Verdict != fit.Full || (r.Preempts != nil) != (want == "") || want != "" && !slices.Contains(r.Assumed, want) {
			t.Errorf("%d pods to clear: %s, %v, assumed %q; want %q", 128*pods, r.Verdict, r.Preempts != nil, r.Assumed, want)
		}
	}
}
