package fit_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

// town is a cluster under change, kept in a ledger and written down beside it.
type town struct {
	r     *rand.Rand
	kept  cluster.Store
	nodes map[string]*corev1.Node
	pods  map[types.NamespacedName]*corev1.Pod
}

// change makes one change of every sort that happens in clusters.
func (c *town) change() {
	name := fmt.Sprintf("n%02d", c.r.IntN(12))
	switch c.r.IntN(10) {
	case 0, 1, 2:
		n := c.node(name)
		c.nodes[name] = n
		c.kept.SetNode(n)
	case 3:
		delete(c.nodes, name)
		c.kept.DropNode(name)
	case 4, 5:
		key := types.NamespacedName{Namespace: []string{"default", "other"}[c.r.IntN(2)], Name: fmt.Sprintf("p%02d", c.r.IntN(60))}
		delete(c.pods, key)
		c.kept.DropPod(key.Namespace, key.Name)
	default:
		p := c.pod(name)
		c.pods[types.NamespacedName{Namespace: p.Namespace, Name: p.Name}] = p
		c.kept.SetPod(p)
	}
}

func (c *town) node(name string) *corev1.Node {
	options := []build.NodeOption{build.GPUs(c.r.IntN(9)), build.Label("pool", []string{"a", "b"}[c.r.IntN(2)])}
	if c.r.IntN(6) == 0 {
		options = append(options, build.Cordoned())
	}
	if c.r.IntN(6) == 0 {
		options = append(options, build.Taint("k=v:NoSchedule"))
	}
	if c.r.IntN(8) == 0 {
		options = append(options, build.NotReady())
	}
	if c.r.IntN(8) == 0 {
		options = append(options, build.Allocatable("example.com/rare", "2"))
	}
	if c.r.IntN(20) == 0 {
		options = append(options, build.Allocatable("pods", ""), build.Label("karpenter.sh/nodepool", "x"))
	}
	n := build.Node(name, options...)
	if c.r.IntN(10) == 0 {
		n.Status.Conditions = nil
	}
	return n
}

func (c *town) pod(node string) *corev1.Pod {
	p := build.Pod(fmt.Sprintf("p%02d", c.r.IntN(60)), build.In([]string{"default", "other"}[c.r.IntN(2)]), build.Asks(fmt.Sprint(c.r.IntN(4))))
	p.Labels = map[string]string{"app": []string{"x", "y"}[c.r.IntN(2)]}
	switch c.r.IntN(8) {
	case 0: // waits
		return p
	case 1:
		build.OwnedBy("DaemonSet", "d")(p)
	case 2:
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}},
		}}}}
	case 3:
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"memory": *resource.NewQuantity(1<<62, resource.BinarySI)}
	case 4:
		build.HostPort(80)(p)
	}
	build.On(node)(p)
	if c.r.IntN(10) == 0 {
		p.Status.Phase = corev1.PodFailed
	}
	return p
}

func (c *town) fresh() *cluster.Snapshot {
	var l cluster.Store
	for _, n := range c.nodes {
		l.SetNode(n)
	}
	for _, p := range c.pods {
		l.SetPod(p)
	}
	whole(&l)
	return l.Snapshot(build.Taken, "")
}

func whole(l *cluster.Store) {
	l.SetComplete(schema.GroupResource{Resource: "nodes"}, true)
	l.SetComplete(schema.GroupResource{Resource: "pods"}, true)
}

// questions look at every part of a snapshot.
func questions() []gang.Gang {
	labelled := group("Server", 3, build.Asks("1"), build.HostPort(80))
	labelled.Pod.Labels = map[string]string{"app": "x"}
	apart := group("Apart", 2, build.Spec(func(s *corev1.PodSpec) {
		s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: "pool", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "y"}},
		}}}}
	}))
	own := gangOf(group("Worker", 6, build.Asks("2")))
	own.Own = func(p *corev1.Pod) (string, bool) { return "Worker", p.Labels["app"] == "x" }
	return []gang.Gang{
		gangOf(group("Worker", 4, build.Asks("2"))),
		gangOf(group("Worker", 9, build.Asks("1"), selects("pool", "a"))),
		gangOf(labelled), gangOf(apart), own,
		gangOf(group("Worker", 1, build.Requests("example.com/rare=1", "memory=1Gi"))),
	}
}

func TestALedgerInWhichEverythingChangesEqualsAFreshOne(t *testing.T) {
	verdicts := map[fit.Verdict]int{}
	for seed := range uint64(120) {
		c := &town{r: rand.New(rand.NewPCG(seed, 11)), nodes: map[string]*corev1.Node{}, pods: map[types.NamespacedName]*corev1.Pod{}}
		whole(&c.kept)
		keepsItsAnswers(t, seed, 15, questions(), verdicts, func() (kept, fresh *cluster.Snapshot) {
			for range 1 + c.r.IntN(20) {
				c.change()
			}
			kept, fresh = c.kept.Snapshot(build.Taken, ""), c.fresh()
			if diff := cmp.Diff(fresh.Nodes(), kept.Nodes(), cmpopts.IgnoreUnexported(cluster.Node{})); diff != "" {
				t.Fatalf("seed %d: nodes (-fresh +kept):\n%s", seed, diff)
			}
			if len(fresh.Columns().Ready) != len(kept.Columns().Ready) || fresh.Autoscaler() != kept.Autoscaler() {
				t.Fatalf("seed %d: %d classes and autoscaler %q; fresh: %d, %q", seed, len(kept.Columns().Ready), kept.Autoscaler(), len(fresh.Columns().Ready), fresh.Autoscaler())
			}
			return kept, fresh
		})
	}
	for _, v := range []fit.Verdict{fit.Fits, fit.TooBig, fit.Full} {
		if verdicts[v] < 100 {
			t.Errorf("%s was the answer %d times; the test is about all verdicts: %v", v, verdicts[v], verdicts)
		}
	}
}

// keepsItsAnswers asks each snapshot of a view that changes what a fresh view of the same objects
// answers, and asks it again when all changes are done: a snapshot is of its own time.
func keepsItsAnswers(t *testing.T, seed uint64, rounds int, questions []gang.Gang, verdicts map[fit.Verdict]int, next func() (kept, fresh *cluster.Snapshot)) {
	t.Helper()
	type taken struct {
		s    *cluster.Snapshot
		want []fit.Result
	}
	var earlier []taken
	for range rounds {
		kept, fresh := next()
		now := taken{s: kept}
		for i, g := range questions {
			want, got := whatif.Answer(t.Context(), fresh, g), whatif.Answer(t.Context(), kept, g)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, question %d: Fit (-fresh +kept):\n%s", seed, i, diff)
			}
			verdicts[got.Verdict]++
			now.want = append(now.want, got)
		}
		earlier = append(earlier, now)
	}
	for at, was := range earlier {
		for i, g := range questions {
			if diff := cmp.Diff(was.want[i], whatif.Answer(t.Context(), was.s, g)); diff != "" {
				t.Fatalf("seed %d: snapshot %d answers question %d otherwise than when it was taken (-then +now):\n%s", seed, at, i, diff)
			}
		}
	}
}

func TestSnapshotsAreReadWhileTheirLedgerChanges(t *testing.T) {
	c := &town{r: rand.New(rand.NewPCG(1, 12)), nodes: map[string]*corev1.Node{}, pods: map[types.NamespacedName]*corev1.Pod{}}
	whole(&c.kept)
	done := make(chan struct{})
	snapshots := make(chan *cluster.Snapshot, 4)
	go func() { // the race detector is the judge
		defer close(done)
		for s := range snapshots {
			for _, g := range questions() {
				whatif.Answer(t.Context(), s, g)
			}
			s.Bound("default", "p01")
		}
	}()
	for range 300 {
		c.change()
		snapshots <- c.kept.Snapshot(build.Taken, "")
	}
	close(snapshots)
	<-done
}

// FuzzLedger makes changes as bytes say, and compares with a ledger that was not changed.
func FuzzLedger(f *testing.F) {
	f.Add(uint64(1), 10)
	f.Add(uint64(99), 200)
	f.Fuzz(func(t *testing.T, seed uint64, changes int) {
		c := &town{r: rand.New(rand.NewPCG(seed, 13)), nodes: map[string]*corev1.Node{}, pods: map[types.NamespacedName]*corev1.Pod{}}
		whole(&c.kept)
		for range min(max(changes, 0), 500) {
			c.change()
			if c.r.IntN(7) == 0 {
				c.kept.Snapshot(build.Taken, "")
			}
		}
		kept, fresh := c.kept.Snapshot(build.Taken, ""), c.fresh()
		for _, g := range questions() {
			if diff := cmp.Diff(whatif.Answer(t.Context(), fresh, g), whatif.Answer(t.Context(), kept, g)); diff != "" {
				t.Fatalf("Fit (-fresh +kept):\n%s", diff)
			}
		}
	})
}
