package fit_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/test/build"
)

// referenceFit is the slow and obvious fit: it tries every distribution of every group
// over the nodes, by rules written down once more and on their own. It knows what world
// below makes, not all of Kubernetes.
func referenceFit(nodes []*corev1.Node, pods []*corev1.Pod, g gang.Gang, idle bool) bool {
	for _, stage := range stagesOf(g) {
		room := make([]map[corev1.ResourceName]int64, len(nodes))
		for i, n := range nodes {
			room[i] = roomOn(n, pods, idle)
		}
		if !place(nodes, room, make([]map[string]int, len(nodes)), stage, 0, need(stage)) {
			return false
		}
	}
	return true
}

func need(stage []gang.Group) int {
	if len(stage) == 0 {
		return 0
	}
	if g := stage[0]; g.Min > 0 && g.Min < g.Count {
		return g.Min
	}
	return stage[0].Count
}

// stagesOf knows one shape: groups that wait for none, then groups that wait for all of those.
func stagesOf(g gang.Gang) [][]gang.Group {
	var first, second []gang.Group
	for _, group := range g.Groups {
		if len(group.After) == 0 {
			first = append(first, group)
		} else {
			second = append(second, group)
		}
	}
	return [][]gang.Group{first, second}
}

func roomOn(n *corev1.Node, pods []*corev1.Pod, idle bool) map[corev1.ResourceName]int64 {
	out := map[corev1.ResourceName]int64{}
	for name, q := range n.Status.Allocatable {
		out[name] = q.MilliValue()
	}
	for _, p := range pods {
		daemon := len(p.OwnerReferences) > 0 && p.OwnerReferences[0].Kind == "DaemonSet"
		ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
		if p.Spec.NodeName != n.Name || ended || idle && !daemon {
			continue
		}
		out[corev1.ResourcePods] -= 1000
		for name, q := range p.Spec.Containers[0].Resources.Requests {
			out[name] -= q.MilliValue()
		}
	}
	return out
}

// place puts the pods of the first group of the stage that are left on nodes from at on,
// then the other groups.
func place(nodes []*corev1.Node, room []map[corev1.ResourceName]int64, on []map[string]int, stage []gang.Group, at, left int) bool {
	if len(stage) == 0 {
		return true
	}
	if left == 0 {
		return place(nodes, room, on, stage[1:], 0, need(stage[1:]))
	}
	if at == len(nodes) {
		return false
	}
	g := stage[0]
	if place(nodes, room, on, stage, at+1, left) { // none (more) here
		return true
	}
	if !admits(nodes[at], g) || !apart(on[at], g) || !takes(room[at], g, 1) {
		return false
	}
	if on[at] == nil {
		on[at] = map[string]int{}
	}
	on[at][g.Name]++
	ok := place(nodes, room, on, stage, at, left-1)
	on[at][g.Name]--
	takes(room[at], g, -1)
	return ok
}

func admits(n *corev1.Node, g gang.Group) bool {
	if n.Status.Conditions[0].Status != corev1.ConditionTrue || n.Spec.Unschedulable {
		return false
	}
	for key, value := range g.Pod.Spec.NodeSelector {
		if n.Labels[key] != value {
			return false
		}
	}
	for _, taint := range n.Spec.Taints {
		tolerated := false
		for _, t := range g.Pod.Spec.Tolerations {
			tolerated = tolerated || t.Key == taint.Key
		}
		if !tolerated {
			return false
		}
	}
	return true
}

// apart knows one anti-affinity: pods of the group keep away from each other.
func apart(on map[string]int, g gang.Group) bool {
	return g.Pod.Spec.Affinity == nil || on[g.Name] == 0
}

func takes(room map[corev1.ResourceName]int64, g gang.Group, sign int64) bool {
	requests := map[corev1.ResourceName]int64{corev1.ResourcePods: 1000}
	for name, q := range g.Pod.Spec.Containers[0].Resources.Requests {
		requests[name] = q.MilliValue()
	}
	for name, n := range requests {
		if sign > 0 && n > 0 && room[name] < n {
			return false
		}
	}
	for name, n := range requests {
		room[name] -= sign * n
	}
	return true
}

// world is a small random cluster and gang.
type world struct {
	nodes []*corev1.Node
	pods  []*corev1.Pod
	gang  gang.Gang
}

func (w world) snapshot() *cluster.Snapshot {
	var items []build.Item
	for _, n := range w.nodes {
		items = append(items, n)
	}
	for _, p := range w.pods {
		items = append(items, p)
	}
	return build.Cluster(items...)
}

func (w world) String() string {
	var b strings.Builder
	for _, n := range w.nodes {
		fmt.Fprintf(&b, "node %s cpu=%s gpu=%s pods=%s pool=%s cordoned=%v ready=%s taints=%d\n", n.Name, n.Status.Allocatable.Cpu(), text(n.Status.Allocatable, build.GPU), n.Status.Allocatable.Pods(), n.Labels["pool"], n.Spec.Unschedulable, n.Status.Conditions[0].Status, len(n.Spec.Taints))
	}
	for _, p := range w.pods {
		r := p.Spec.Containers[0].Resources.Requests
		fmt.Fprintf(&b, "pod %s on %s cpu=%s gpu=%s owners=%d phase=%s\n", p.Name, p.Spec.NodeName, r.Cpu(), text(r, build.GPU), len(p.OwnerReferences), p.Status.Phase)
	}
	for _, g := range w.gang.Groups {
		r := g.Pod.Spec.Containers[0].Resources.Requests
		fmt.Fprintf(&b, "group %s count=%d min=%d cpu=%s gpu=%s selector=%v tolerations=%d apart=%v after=%v\n", g.Name, g.Count, g.Min, r.Cpu(), text(r, build.GPU), g.Pod.Spec.NodeSelector, len(g.Pod.Spec.Tolerations), g.Pod.Spec.Affinity != nil, g.After)
	}
	return b.String()
}

func text(list corev1.ResourceList, name corev1.ResourceName) string {
	q := list[name]
	return q.String()
}

func one(r *rand.Rand, in int) bool { return r.IntN(in) == 0 }

// newWorld makes at most nodes nodes and groups groups, with the mistakes of real ones.
func newWorld(r *rand.Rand, nodes, groups int) world {
	var w world
	for i := range 1 + r.IntN(nodes) {
		o := []build.NodeOption{
			build.Allocatable("cpu", fmt.Sprint(4+4*r.IntN(3))), build.GPUs([]int{0, 4, 8, 8}[r.IntN(4)]),
			build.Label("pool", string(rune('a'+r.IntN(2)))), build.Allocatable("pods", fmt.Sprint(2+r.IntN(6))),
		}
		if one(r, 14) {
			o = append(o, build.Cordoned())
		}
		if one(r, 14) {
			o = append(o, build.NotReady())
		}
		if one(r, 4) {
			o = append(o, build.Taint("gpu=l40s:NoSchedule"))
		}
		w.nodes = append(w.nodes, build.Node(fmt.Sprintf("n%d", i), o...))
	}
	for i := range r.IntN(9) {
		o := []build.PodOption{
			build.On(w.nodes[r.IntN(len(w.nodes))].Name),
			build.Requests(fmt.Sprintf("cpu=%d", r.IntN(4)), fmt.Sprintf("%s=%d", build.GPU, r.IntN(5))),
		}
		if one(r, 5) {
			o = append(o, build.OwnedBy("DaemonSet", "d"))
		}
		if one(r, 6) {
			o = append(o, build.Phase(corev1.PodSucceeded))
		}
		w.pods = append(w.pods, build.Pod(fmt.Sprintf("p%d", i), o...))
	}
	for i := range 1 + r.IntN(groups) {
		w.gang.Groups = append(w.gang.Groups, newGroup(r, i))
	}
	if one(r, 5) && len(w.gang.Groups) > 1 {
		first := w.gang.Groups[0].Name
		for i := range w.gang.Groups[1:] {
			w.gang.Groups[i+1].After = []string{first}
		}
	}
	return w
}

func newGroup(r *rand.Rand, i int) gang.Group {
	name := string(rune('A' + i))
	p := build.Pod("x", build.Requests(fmt.Sprintf("cpu=%d", r.IntN(5)), fmt.Sprintf("%s=%d", build.GPU, r.IntN(5))), build.PodLabel("role", name))
	if one(r, 4) {
		p.Spec.NodeSelector = map[string]string{"pool": string(rune('a' + r.IntN(2)))}
	}
	if one(r, 4) {
		p.Spec.Tolerations = []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists}}
	}
	if one(r, 4) {
		p.Spec.Affinity = apartFrom(corev1.LabelHostname, "role", name)
	}
	g := gang.Group{Name: name, Count: 1 + r.IntN(4), Pod: job.Pod{Spec: p.Spec, Labels: p.Labels}}
	if one(r, 6) {
		g.Min = 1 + r.IntN(g.Count)
	}
	return g
}

func apartFrom(topology, key, value string) *corev1.Affinity {
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: topology, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{key: value}},
		}},
	}}
}

func TestFitAgreesWithTheExhaustiveOne(t *testing.T) {
	tally := map[fit.Verdict]int{}
	rounds := 3000
	if testing.Short() {
		rounds = 1000
	}
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 2))
		w := newWorld(r, 6, 4)
		got := whatif.Answer(t.Context(), w.snapshot(), w.gang)
		tally[got.Verdict]++
		fits := referenceFit(w.nodes, w.pods, w.gang, false)
		want := "no"
		switch {
		case fits:
			want = "fits"
		case !referenceFit(w.nodes, w.pods, w.gang, true):
			want = "too-big"
		}
		ok := map[fit.Verdict]string{fit.Fits: "fits", fit.TooBig: "too-big", fit.Full: "no", fit.Fragmented: "no", fit.Unknown: want}
		if ok[got.Verdict] != want {
			t.Fatalf("seed %d: Fit says %s, trying everything says %s\n%s\n%s", seed, got.Verdict, want, w, got)
		}
		if got.Verdict == fit.Unknown {
			t.Logf("seed %d: unknown: %s", seed, got)
		}
	}
	t.Logf("verdicts: %v", tally)
	if tally[fit.Unknown]*100 > rounds {
		t.Errorf("unknown in %d of %d small worlds; want at most 1 in 100", tally[fit.Unknown], rounds)
	}
	for _, v := range []fit.Verdict{fit.Fits, fit.TooBig, fit.Full, fit.Fragmented} {
		if tally[v] < rounds/100 {
			t.Errorf("%s came up in %d of %d worlds only: the worlds test nothing", v, tally[v], rounds)
		}
	}
}
