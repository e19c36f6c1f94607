package topology

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/test/build"
)

// ruled are two roles of four pods with every rule between pods that there is, on nodes of three racks.
func ruled(t *testing.T, r *rand.Rand) *RuleSet {
	t.Helper()
	var items []build.Item
	for i := range 6 {
		items = append(items, build.Node(fmt.Sprint("n", i), build.GPUs(4), build.Label("rack", fmt.Sprint(i%3)), build.Label("zone", fmt.Sprint(i%2))))
	}
	of := func(role string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"role": role}}
	}
	var g gang.Gang
	for i, role := range []string{"a", "b"} {
		other := []string{"a", "b"}[r.IntN(2)]
		p := build.Pod(role, build.Asks("1"), build.Requests(fmt.Sprintf("cpu=%dm", i+1)), build.PodLabel("role", role), build.Spec(func(s *corev1.PodSpec) {
			term := []corev1.PodAffinityTerm{{TopologyKey: []string{"zone", "rack"}[r.IntN(2)], LabelSelector: of(other)}}
			s.Affinity = &corev1.Affinity{}
			if r.IntN(2) == 0 {
				s.Affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}
			} else {
				s.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}
			}
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "rack", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: of(role)}}
		}))
		g.Groups = append(g.Groups, gang.Group{Name: role, Count: 4, Pod: job.Pod{Spec: p.Spec, Labels: p.Labels}})
	}
	s := build.Cluster(items...)
	q := assign.NewSolver(s, g, assign.NewCycle(s, g, assign.NewBudget(assign.MostSteps)))
	w := NewRuleSet(q, q.PodSets([]int{0, 1}), false)
	if w == nil {
		t.Fatal("no rule holds between pods that spread")
	}
	return w
}

// state is all that a simulation counts, in text.
func state(b *simulation) string {
	return fmt.Sprint(b.in, b.least, b.affinityPods, b.held, b.Placed, b.order)
}

// TestAPodThatIsTakenBackLeavesNothingBehind binds pods where the rules let them, takes some back, and
// compares with a simulation in which these never came.
func TestAPodThatIsTakenBackLeavesNothingBehind(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 22))
	bound := 0
	for range 300 {
		w := ruled(t, r)
		b := w.simulate(nil)
		for nodeGroup := range b.Fresh {
			for b.Left(nodeGroup) > 0 {
				b.Reserve(nodeGroup, 1)
			}
		}
		var stack []string
		var steps [][2]int
		for range 30 {
			if len(steps) > 0 && r.IntN(3) == 0 {
				last := steps[len(steps)-1]
				b.unbind(last[0], last[1])
				if diff := cmp.Diff(stack[len(stack)-1], state(b)); diff != "" {
					t.Fatalf("taken back (-before +after):\n%s", diff)
				}
				steps, stack = steps[:len(steps)-1], stack[:len(stack)-1]
				continue
			}
			i, at := r.IntN(2), r.IntN(len(b.Bins))
			if b.PodsPerNode(i, at) == 0 || !b.may(i, b.Bins[at].NodeGroup, b.Bins[at].Nodes[0], b.Count(at)) {
				continue
			}
			steps, stack = append(steps, [2]int{i, at}), append(stack, state(b))
			b.bind(i, at)
			bound++
		}
	}
	if bound < 500 {
		t.Errorf("%d pods were bound; the test has shown little", bound)
	}
}

// TestOtherWaysThanTheFirstCostAShare places pods that cost more than a share to place: the first way has all
// that there is to spend, and is whole; where it cannot be, what is left is for other ways to find out.
func TestOtherWaysThanTheFirstCostAShare(t *testing.T) {
	var items []build.Item
	for i := range 400 {
		items = append(items, build.Node(fmt.Sprintf("n%03d", i), build.GPUs(2+i%7), build.Label("rack", fmt.Sprint(i%5))))
	}
	p := build.Pod("a", build.Asks("1"), build.PodLabel("role", "a"), build.Spec(func(s *corev1.PodSpec) {
		s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"role": "a"}},
		}}
	}))
	g := gang.Gang{Name: "g", Namespace: "default", Groups: []gang.Group{{Name: "a", Count: 800, Pod: job.Pod{Spec: p.Spec, Labels: p.Labels}}}}
	s := build.Cluster(items...)
	for _, hopeless := range []bool{false, true} {
		budget := assign.NewBudget(8 * assign.MostSteps)
		q := assign.NewSolver(s, g, assign.NewCycle(s, g, budget))
		w := NewRuleSet(q, q.PodSets([]int{0}), false)
		before := budget.Used()
		b := w.build(nil, hopeless)
		used := budget.Used() - before
		if b.Whole() == hopeless || (used > mostBuildSteps) == hopeless || !budget.Spend(1) {
			t.Errorf("hopeless %t: all are placed %t, in %d steps; a share is %d", hopeless, b.Whole(), used, mostBuildSteps)
		}
	}
}
