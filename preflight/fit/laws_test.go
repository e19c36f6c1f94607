package fit_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// worlds calls a function with many worlds of up to 12 nodes and 4 groups.
func worlds(t *testing.T, n int, check func(t *testing.T, seed uint64, r *rand.Rand, w world)) {
	t.Helper()
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 7))
		check(t, seed, r, newWorld(r, 12, 4))
		if t.Failed() {
			return
		}
	}
}

func TestAPlanNeverOvercommitsAndKeepsEveryRule(t *testing.T) {
	worlds(t, 1500, func(t *testing.T, seed uint64, _ *rand.Rand, w world) {
		got := whatif.Answer(t.Context(), w.snapshot(), w.gang)
		if err := replay(w, got); err != "" {
			t.Errorf("seed %d: %s\n%s\nplan %v", seed, err, w, got.Plan)
		}
	})
}

// replay puts a plan on the nodes, pod by pod, by the rules of the reference.
func replay(w world, r fit.Result) string {
	placed := map[string]int{}
	for _, stage := range stagesOf(w.gang) {
		room, on := map[string]map[corev1.ResourceName]int64{}, map[string]map[string]int{}
		for _, n := range w.nodes {
			room[n.Name], on[n.Name] = roomOn(n, w.pods, false), map[string]int{}
		}
		for _, p := range r.Plan {
			at := slices.IndexFunc(stage, func(g gang.Group) bool { return g.Name == p.Group })
			if at < 0 {
				continue
			}
			node := w.nodes[slices.IndexFunc(w.nodes, func(n *corev1.Node) bool { return n.Name == p.Node })]
			for range p.Count {
				if !admits(node, stage[at]) || !apart(on[p.Node], stage[at]) || !takes(room[p.Node], stage[at], 1) {
					return fmt.Sprintf("%s does not take another %s", p.Node, p.Group)
				}
				on[p.Node][p.Group]++
				placed[p.Group]++
			}
		}
	}
	total := 0
	for _, g := range w.gang.Groups {
		total += placed[g.Name]
		least := need([]gang.Group{g})
		if placed[g.Name] > g.Count || r.Verdict == fit.Fits && placed[g.Name] < least {
			return fmt.Sprintf("%d of %s are placed; want %d to %d", placed[g.Name], g.Name, least, g.Count)
		}
	}
	if total != r.Placed {
		return fmt.Sprintf("the plan has %d pods, placed is %d", total, r.Placed)
	}
	return ""
}

// asksAndHas are the sentences that compare what is asked in sum with what there is.
var asksAndHas = regexp.MustCompile(`asks? for ([\d.]+\w*) [^ ]+(?: \([^)]*\))?, but (?:only ([\d.]+\w*) |the [^,;]* (?:have|has) ([\d.]+\w*) even)|needs? room for (\d+) pods?, but (?:only (\d+) |the [^,;]* (?:have|has) (\d+) )`)

func TestNoReasonComparesWithRoomThatIsEnough(t *testing.T) {
	told := 0
	worlds(t, 3000, func(t *testing.T, seed uint64, _ *rand.Rand, w world) {
		got := whatif.Answer(t.Context(), w.snapshot(), w.gang)
		m := slices.DeleteFunc(asksAndHas.FindStringSubmatch(got.String()), func(part string) bool { return part == "" })
		if strings.Contains(got.String(), "the 0 nodes") {
			t.Errorf("seed %d: %s", seed, got)
		}
		if m == nil {
			return
		}
		told++
		if asked, has := resource.MustParse(m[1]), resource.MustParse(m[2]); asked.Cmp(has) <= 0 {
			t.Errorf("seed %d: %s\n%s", seed, got, w)
		}
	})
	if told < 100 {
		t.Errorf("only %d reasons compare sums", told)
	}
}

func TestEveryNodeIsCountedOnce(t *testing.T) {
	worlds(t, 500, func(t *testing.T, seed uint64, _ *rand.Rand, w world) {
		got := whatif.Answer(t.Context(), w.snapshot(), w.gang).Rejected
		sum := got.NotReady + got.Cordoned + got.Selector + got.Taint + got.TooSmall + got.Full + got.Other + got.Open
		if sum != got.Total || got.Total != len(w.nodes) {
			t.Errorf("seed %d: %+v sums to %d; there are %d nodes", seed, got, sum, len(w.nodes))
		}
	})
}

func TestOneMoreNodeNeverHurts(t *testing.T) {
	worlds(t, 600, func(t *testing.T, seed uint64, r *rand.Rand, w world) {
		if whatif.Answer(t.Context(), w.snapshot(), w.gang).Verdict != fit.Fits {
			return
		}
		more := newWorld(r, 1, 1).nodes[0]
		more.Name = "n99"
		w.nodes = append(w.nodes, more)
		if got := whatif.Answer(t.Context(), w.snapshot(), w.gang); got.Verdict != fit.Fits {
			t.Errorf("seed %d: with one more node the fit says %s\n%s", seed, got, w)
		}
	})
}

func TestTheOrderOfNodesAndPodsChangesNothing(t *testing.T) {
	worlds(t, 300, func(t *testing.T, seed uint64, r *rand.Rand, w world) {
		want := whatif.Answer(t.Context(), w.snapshot(), w.gang)
		r.Shuffle(len(w.nodes), func(i, j int) { w.nodes[i], w.nodes[j] = w.nodes[j], w.nodes[i] })
		r.Shuffle(len(w.pods), func(i, j int) { w.pods[i], w.pods[j] = w.pods[j], w.pods[i] })
		got := whatif.Answer(t.Context(), w.snapshot(), w.gang)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("seed %d: Fit (-before +after shuffling):\n%s", seed, diff)
		}
		if strings.Join(want.Lines(), "\n") != strings.Join(got.Lines(), "\n") || want.String() != got.String() {
			t.Errorf("seed %d: the text changed:\n%s\n%s", seed, want, got)
		}
	})
}

func TestPlacedAgreesWithTheVerdict(t *testing.T) {
	worlds(t, 500, func(t *testing.T, seed uint64, _ *rand.Rand, w world) {
		got := whatif.Answer(t.Context(), w.snapshot(), w.gang)
		least := 0
		for _, g := range w.gang.Groups {
			least += need([]gang.Group{g})
		}
		if fits := got.Verdict == fit.Fits; fits && got.Placed < least || got.Placed > got.Wanted {
			t.Errorf("seed %d: %s with %d placed of %d (at least %d)", seed, got.Verdict, got.Placed, got.Wanted, least)
		}
		if got.Verdict != fit.Fits && got.Group == "" {
			t.Errorf("seed %d: %s, and no group is named\n%s", seed, got, w)
		}
	})
}

func FuzzFit(f *testing.F) {
	f.Add(uint64(1), int64(8), int64(8), 4, 0, "pool")
	f.Add(uint64(2), int64(-1), int64(1)<<62, 1<<30, -5, "")
	f.Add(uint64(3), int64(1)<<62, int64(1)<<62, 1<<62, 1, "kubernetes.io/hostname")
	f.Add(uint64(4), int64(0), int64(0), -1, 1<<40, "a/b/c")
	f.Fuzz(func(t *testing.T, seed uint64, asks, has int64, count, least int, key string) {
		r := rand.New(rand.NewPCG(seed, 3))
		w := newWorld(r, 8, 5)
		g := &w.gang.Groups[0]
		g.Count, g.Min = count, least
		g.Pod.Requests = podspec.Effective(&g.Pod.Spec)
		g.Pod.Requests["example.com/a"] = asks
		g.Pod.Spec.NodeSelector = map[string]string{key: ""}
		g.After = append(g.After, w.gang.Groups[len(w.gang.Groups)-1].Name) // a circle, or itself
		w.nodes[0].Labels[key] = ""
		w.nodes[0].Status.Allocatable["example.com/a"] = quantity(has)
		got := whatif.Answer(t.Context(), w.snapshot(), w.gang)
		for _, line := range append(got.Lines(), got.String(), got.Change) {
			if strings.Contains(line, "%!") {
				t.Errorf("text is broken: %s", line)
			}
		}
		sum := 0
		for _, p := range got.Plan {
			sum += p.Count
		}
		if sum != got.Placed || got.Placed > got.Wanted {
			t.Errorf("the plan has %d pods, placed %d of %d", sum, got.Placed, got.Wanted)
		}
	})
}

func quantity(n int64) resource.Quantity { return *resource.NewQuantity(n, resource.DecimalSI) }

func TestTooBigByShapeMeansThatOnePodAloneIs(t *testing.T) {
	found := 0
	worlds(t, 1500, func(t *testing.T, seed uint64, _ *rand.Rand, w world) {
		got := whatif.Answer(t.Context(), w.snapshot(), w.gang)
		if got.Verdict != fit.TooBig {
			return
		}
		alone := slices.ContainsFunc(w.gang.Groups, func(g gang.Group) bool {
			g.Count, g.Min, g.After = min(1, g.Count), 0, nil
			return whatif.Answer(t.Context(), w.snapshot(), gang.Gang{Namespace: w.gang.Namespace, Groups: []gang.Group{g}}).Verdict == fit.TooBig
		})
		if got.PodTooBig && !alone {
			t.Errorf("seed %d: too big by shape, but one pod of any group is not\n%s", seed, w)
		}
		if got.PodTooBig {
			found++
		}
	})
	if found == 0 {
		t.Error("no world was too big by shape; the test has shown nothing")
	}
}

func TestManyAnswersAtOnceAreTheSame(t *testing.T) {
	s := snapshotOf(fleet(300, true))
	var gangs []gang.Gang
	var want []fit.Result
	for _, pods := range []int{1, 5, 40, 128, 300, 900} {
		for _, gpus := range []string{"1", "2", "8"} {
			g := crew(pods+3, 3, gpus)
			gangs, want = append(gangs, g), append(want, whatif.Answer(t.Context(), snapshotOf(fleet(300, true)), g))
		}
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 5 {
				for i, g := range gangs {
					if diff := cmp.Diff(want[i], whatif.Answer(t.Context(), s, g)); diff != "" {
						t.Errorf("gang %d (-alone +beside others):\n%s", i, diff)
						return
					}
				}
			}
		})
	}
	wait.Wait()
}
