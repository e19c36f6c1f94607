package fit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/test/build"
)

// tiedWorld is two to four nodes and a few pods that decide where others go.
type tiedWorld struct{ world }

func (w tiedWorld) String() string {
	var b strings.Builder
	for _, n := range w.nodes {
		fmt.Fprintf(&b, "node %s zone=%s pods=%s\n", n.Name, n.Labels["zone"], n.Status.Allocatable.Pods())
	}
	for _, p := range w.pods {
		fmt.Fprintf(&b, "pod %s on %s role=%s affinity=%v\n", p.Name, p.Spec.NodeName, p.Labels["role"], p.Spec.Affinity)
	}
	for _, g := range w.gang.Groups {
		fmt.Fprintf(&b, "group %s count=%d spread=%v affinity=%v\n", g.Name, g.Count, g.Pod.Spec.TopologySpreadConstraints, g.Pod.Spec.Affinity)
	}
	return b.String()
}

func newTiedWorld(r *rand.Rand) tiedWorld {
	w := tiedWorld{world{gang: gangOf()}}
	for i := range 2 + r.IntN(3) {
		o := []build.NodeOption{build.Allocatable("pods", fmt.Sprint(1+r.IntN(3)))}
		if !one(r, 6) {
			o = append(o, build.Label("zone", string(rune('x'+r.IntN(2)))))
		}
		w.nodes = append(w.nodes, build.Node(fmt.Sprintf("n%d", i), o...))
	}
	for i := range r.IntN(3) {
		p := build.Pod(fmt.Sprintf("p%d", i), build.On(w.nodes[r.IntN(len(w.nodes))].Name), role([]string{"A", "B", "C"}[r.IntN(3)]))
		if one(r, 4) {
			p.Spec.Affinity = apartFrom([]string{"zone", corev1.LabelHostname}[r.IntN(2)], "role", "A")
		}
		if crowd := slices.IndexFunc(w.pods, func(q *corev1.Pod) bool { return q.Spec.NodeName == p.Spec.NodeName }); crowd < 0 {
			w.pods = append(w.pods, p)
		}
	}
	for i := range 1 + r.IntN(2) {
		name := string(rune('A' + i))
		p := build.Pod("x", role(name))
		topology, to := []string{"zone", "zone", corev1.LabelHostname}[r.IntN(3)], string(rune('A'+r.IntN(2)))
		switch r.IntN(4) {
		case 0:
			even(topology, to, int32(1+r.IntN(2)))(p)
		case 1:
			near(topology, to)(p)
		case 2:
			apartOver(topology, to)(p)
		}
		w.gang.Groups = append(w.gang.Groups, gang.Group{Name: name, Count: 1 + r.IntN(4), Pod: job.Pod{Spec: p.Spec, Labels: p.Labels}})
	}
	return w
}

// standing is one pod on a node, as the reference sees it.
type standing struct {
	role string
	spec *corev1.PodSpec
	node *corev1.Node
}

// start are the pods that are there; on an idle cluster none is.
func (w tiedWorld) start(idle bool) (out []standing) {
	for _, p := range w.pods {
		at := slices.IndexFunc(w.nodes, func(n *corev1.Node) bool { return n.Name == p.Spec.NodeName })
		if !idle {
			out = append(out, standing{p.Labels["role"], &p.Spec, w.nodes[at]})
		}
	}
	return out
}

// allowed is the scheduler's judgement on one more pod, worked out from nothing but what
// stands where.
func (w tiedWorld) allowed(all []standing, g *gang.Group, n *corev1.Node) bool {
	room := n.Status.Allocatable.Pods().Value()
	for _, s := range all {
		if s.node == n {
			room--
		}
	}
	same := func(a, b *corev1.Node, key string) bool {
		v, ok := a.Labels[key]
		other, also := b.Labels[key]
		return ok && also && v == other
	}
	is := func(s string, selector *metav1.LabelSelector) bool { return selector.MatchLabels["role"] == s }
	for _, s := range all {
		if s.spec.Affinity != nil && s.spec.Affinity.PodAntiAffinity != nil {
			t := s.spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
			if is(g.Name, t.LabelSelector) && same(s.node, n, t.TopologyKey) {
				return false
			}
		}
	}
	if a := g.Pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		t := a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
		for _, s := range all {
			if is(s.role, t.LabelSelector) && same(s.node, n, t.TopologyKey) {
				return false
			}
		}
	}
	if a := g.Pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
		t := a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
		if _, ok := n.Labels[t.TopologyKey]; !ok {
			return false
		}
		here, anywhere := false, false
		for _, s := range all {
			if _, ok := s.node.Labels[t.TopologyKey]; ok && is(s.role, t.LabelSelector) {
				anywhere, here = true, here || same(s.node, n, t.TopologyKey)
			}
		}
		if !here && (anywhere || !is(g.Name, t.LabelSelector)) {
			return false
		}
	}
	for _, c := range g.Pod.Spec.TopologySpreadConstraints {
		counts := map[string]int{}
		for _, o := range w.nodes {
			if v, ok := o.Labels[c.TopologyKey]; ok {
				counts[v] += 0
			}
		}
		for _, s := range all {
			if v, ok := s.node.Labels[c.TopologyKey]; ok && is(s.role, c.LabelSelector) {
				counts[v]++
			}
		}
		v, ok := n.Labels[c.TopologyKey]
		least := 1 << 20
		for _, count := range counts {
			least = min(least, count)
		}
		if is(g.Name, c.LabelSelector) {
			counts[v]++
		}
		if !ok || counts[v]-least > int(c.MaxSkew) {
			return false
		}
	}
	return room > 0
}

// reachable tries every order of every pod on every node.
func (w tiedWorld) reachable(all []standing, left []int, seen map[string]bool) bool {
	if !slices.ContainsFunc(left, func(n int) bool { return n > 0 }) {
		return true
	}
	var key []string
	for _, s := range all {
		key = append(key, s.role+s.node.Name)
	}
	slices.Sort(key)
	if name := strings.Join(key, " "); seen[name] {
		return false
	} else {
		seen[name] = true
	}
	for i := range w.gang.Groups {
		if left[i] == 0 {
			continue
		}
		g := &w.gang.Groups[i]
		for _, n := range w.nodes {
			if !w.allowed(all, g, n) {
				continue
			}
			left[i]--
			ok := w.reachable(append(slices.Clone(all), standing{g.Name, &g.Pod.Spec, n}), left, seen)
			left[i]++
			if ok {
				return true
			}
		}
	}
	return false
}

func (w tiedWorld) fits(idle bool) bool {
	left := make([]int, len(w.gang.Groups))
	for i, g := range w.gang.Groups {
		left[i] = g.Count
	}
	return w.reachable(w.start(idle), left, map[string]bool{})
}

// replay binds the plan in its order, by the rules of the reference.
func (w tiedWorld) replay(r fit.Result) string {
	all, order := w.start(false), r.Order
	if len(order) == 0 {
		order = r.Plan
	}
	placed := map[string]int{}
	for _, p := range order {
		g := &w.gang.Groups[slices.IndexFunc(w.gang.Groups, func(g gang.Group) bool { return g.Name == p.Group })]
		n := w.nodes[slices.IndexFunc(w.nodes, func(n *corev1.Node) bool { return n.Name == p.Node })]
		for range p.Count {
			if !w.allowed(all, g, n) {
				return fmt.Sprintf("%s does not take another %s", n.Name, g.Name)
			}
			all = append(all, standing{g.Name, &g.Pod.Spec, n})
			placed[g.Name]++
		}
	}
	for _, g := range w.gang.Groups {
		if r.Verdict == fit.Fits && placed[g.Name] != g.Count {
			return fmt.Sprintf("%d of %s are placed; want %d", placed[g.Name], g.Name, g.Count)
		}
	}
	return ""
}

func TestTiedPodsAgreeWithTheExhaustiveSearch(t *testing.T) {
	rounds, tally := 4000, map[fit.Verdict]int{}
	if testing.Short() {
		rounds = 1000
	}
	for seed := range uint64(rounds) {
		w := newTiedWorld(rand.New(rand.NewPCG(seed, 11)))
		got := whatif.Answer(t.Context(), w.snapshot(), w.gang)
		tally[got.Verdict]++
		if why := w.replay(got); why != "" {
			t.Fatalf("seed %d: the plan cannot be bound in its order %v: %s\n%s\n%s", seed, got.Order, why, w, got)
		}
		now := w.fits(false)
		ok := true
		switch got.Verdict {
		case fit.Fits:
			ok = now
		case fit.TooBig:
			ok = !now && !w.fits(true)
		case fit.Full, fit.Fragmented:
			ok = !now
		case fit.Unknown:
		}
		if !ok {
			t.Fatalf("seed %d: Fit says %s; trying everything says %v now, %v on the idle cluster\n%s\n%s", seed, got.Verdict, now, w.fits(true), w, got)
		}
	}
	t.Logf("verdicts: %v", tally)
	if tally[fit.Unknown]*100 > rounds {
		t.Errorf("unknown in %d of %d small worlds; want at most 1 in 100", tally[fit.Unknown], rounds)
	}
	for _, v := range []fit.Verdict{fit.Fits, fit.TooBig, fit.Full} {
		if tally[v] < rounds/100 {
			t.Errorf("%s came up in %d of %d worlds only: the worlds test nothing", v, tally[v], rounds)
		}
	}
}
