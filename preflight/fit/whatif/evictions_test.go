package whatif

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/test/build"
)

// TestPodsTakenAwayAndPutBackCountAsIfTheViewWereMadeAgain takes pods away and puts them back, and asks a
// view without those that are away the same. Those that must go are pods without which alone it does not fit.
func TestPodsTakenAwayAndPutBackCountAsIfTheViewWereMadeAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 23))
	asked, must := map[bool]int{}, 0
	for round := range 120 {
		s, g := crowded(r), gangOn(r)
		var pods []*cluster.Pod
		for _, n := range s.Nodes() {
			pods = append(pods, n.Pods()...)
		}
		m := evictionsOn(s, s.Nodes(), g, fit.NewBudget(1<<40))
		before := free(m)
		away := map[*cluster.Pod]bool{}
		for range 25 {
			p := pods[r.IntN(len(pods))]
			if away[p] {
				m.restore(p)
			} else {
				m.evict(p)
			}
			away[p] = !away[p]
			gone := !away[p] && m.mustGo(p)
			got, known := m.fits()
			want := Answer(t.Context(), without(s, away), g).Verdict == fit.Fits
			if !known || got != want || gone && want {
				t.Fatalf("round %d: it fits: %t (known %t), must go %t; a view made again says %t", round, got, known, gone, want)
			}
			asked[got]++
			must += map[bool]int{true: 1}[gone]
			if gone { // as a search for victims does
				m.evict(p)
				away[p] = true
			}
		}
		for p, is := range away {
			if is {
				m.restore(p)
			}
		}
		if diff := cmp.Diff(before, free(m)); m.amount && diff != "" {
			t.Fatalf("round %d: all are back (-before +after):\n%s", round, diff)
		}
	}
	if asked[true] < 300 || asked[false] < 300 || must < 50 {
		t.Errorf("it fits %d times and does not %d times, %d pods must go; the test has shown little", asked[true], asked[false], must)
	}
}

// crowded are up to five nodes of 8 GPUs, full of pods.
func crowded(r *rand.Rand) *cluster.Snapshot {
	var items []build.Item
	for n := range 2 + r.IntN(4) {
		node := fmt.Sprint("n", n)
		items = append(items, build.Node(node, build.GPUs(8)))
		for left, i := 8, 0; left > 0; i++ {
			take := min(left, 1+r.IntN(5))
			left -= take
			o := []build.PodOption{build.On(node), build.Asks(fmt.Sprint(take))}
			if r.IntN(4) == 0 {
				o = append(o, build.HostPort(29500))
			}
			items = append(items, build.Pod(fmt.Sprintf("%s-%d", node, i), o...))
		}
	}
	return build.Cluster(items...)
}

// gangOn is a gang of one or two roles, of which one may want a port of its node.
func gangOn(r *rand.Rand) gang.Gang {
	var g gang.Gang
	for i := range 1 + r.IntN(2) {
		p := build.Pod("x", build.Asks(fmt.Sprint(1+r.IntN(6))), build.Requests("cpu=1"))
		if r.IntN(4) == 0 {
			build.HostPort(29500)(p)
		}
		g.Groups = append(g.Groups, gang.Group{Name: fmt.Sprint("w", i), Count: 1 + r.IntN(2), Pod: job.Pod{Spec: p.Spec, Labels: p.Labels}})
	}
	return g
}

// free is what is free on each node.
func free(m *evictions) (out [][]int64) {
	for _, column := range m.view.Columns().Free {
		out = append(out, append([]int64{}, column...))
	}
	return out
}

// without is a view in which some pods are not.
func without(s *cluster.Snapshot, away map[*cluster.Pod]bool) *cluster.Snapshot {
	store := &cluster.Store{}
	store.SetComplete(cluster.PodsResource, true)
	for _, n := range s.Nodes() {
		store.SetNode(n.Object())
		for _, p := range n.Pods() {
			if !away[p] {
				store.KeepPod(p)
			}
		}
	}
	return store.Snapshot(s.Taken(), "")
}
