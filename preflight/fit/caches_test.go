package fit_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// labelled is a view of nodes, each with a value of its own under so many keys.
func labelledNodes(nodes, keys int) *cluster.Snapshot {
	l := &cluster.Store{}
	l.SetComplete(cluster.PodsResource, true)
	for i := range nodes {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%04d", i), Labels: map[string]string{}}}
		for k := range keys {
			n.Labels[fmt.Sprint("key-", k)] = fmt.Sprint(i % (k + 2))
		}
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourcePods: resource.MustParse("110")}
		l.SetNode(n)
	}
	return l.Snapshot(time.Time{}, "")
}

// choosing is a gang that chooses nodes by labels in every way there is.
func choosing(keys ...string) gang.Gang {
	pod := job.Pod{Requests: job.Resources{corev1.ResourceCPU: 1000}, Labels: map[string]string{"job": "a"}}
	term := corev1.NodeSelectorTerm{}
	for _, key := range keys {
		term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpDoesNotExist})
		pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: pod.Labels},
		})
	}
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{term},
	}}}
	return gang.Gang{Name: "g", Namespace: "ml", Groups: []gang.Group{{Name: "Worker", Count: 2, Pod: pod}}}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestLabelKeysThatUsersWriteGrowNoView(t *testing.T) {
	const mostGrowth = 16 << 20
	s := labelledNodes(5000, 3)
	whatif.Answer(t.Context(), s, choosing("key-0"))
	before := heap()
	for i := range 300 {
		whatif.Answer(t.Context(), s, choosing(fmt.Sprint("user-", i), "key-1"))
	}
	for i := range 1_000_000 {
		key := fmt.Sprint("user-", i)
		s.LabelColumn([]string{key, "key-1"})
		s.GroupNodes([]string{key})
	}
	if grown := heap() - before; grown > mostGrowth {
		t.Errorf("the view has grown by %d bytes; want at most %d", grown, mostGrowth)
	}
	if c := s.Caches()[0]; c.Kept > 4 {
		t.Errorf("%d %s are kept; want those of the keys that nodes have, and no more", c.Kept, c.Of)
	}
	runtime.KeepAlive(s)
}

func TestEveryCacheOfAViewHasABound(t *testing.T) {
	const labelKeys = 65 // one above the largest bound
	s := labelledNodes(50, labelKeys+1)
	want := map[string]fit.Result{}
	for _, round := range []string{"made", "kept or made again"} {
		for k := range labelKeys {
			key := fmt.Sprint("key-", k)
			r := whatif.Answer(t.Context(), s, choosing(key))
			if was, ok := want[key]; ok && was.String() != r.String() {
				t.Errorf("%s, %s: %s; before: %s", key, round, r, was)
			}
			want[key] = r
			s.AttachLimits(key)
		}
	}
	for _, c := range s.Caches() {
		if c.Kept != c.Most || c.Most >= labelKeys {
			t.Errorf("%d %s are kept of %d that were asked for; want %d", c.Kept, c.Of, labelKeys, c.Most)
		}
	}
}
