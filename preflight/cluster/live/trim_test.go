package live

import (
	"fmt"
	"maps"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/test/build"
)

func trimmed(t *testing.T, by cache.TransformFunc, object any) any {
	t.Helper()
	out, err := by(object)
	if err != nil {
		t.Fatal(err)
	}
	again, err := by(out) // as informers may
	if err != nil || !unchanged(out, again) {
		t.Fatalf("trimming twice gives something else: %v", err)
	}
	return out
}

func TestWhatMattersOfANodeIsNewsAndNothingElse(t *testing.T) {
	node := func() *corev1.Node { return build.Node("a", build.GPUs(8), build.Taint("k=v:NoSchedule")) }
	news := map[string]func(*corev1.Node){
		"label":         build.Label("pool", "b"),
		"taint":         build.Taint("x=y:NoExecute"),
		"cordon":        build.Cordoned(),
		"readiness":     build.NotReady(),
		"features":      func(n *corev1.Node) { n.Status.DeclaredFeatures = []string{"RestartAllContainersOnContainerExits"} },
		"allocatable":   func(n *corev1.Node) { n.Status.Allocatable[build.GPU] = resource.MustParse("7") },
		"no conditions": func(n *corev1.Node) { n.Status.Conditions = nil },
		"annotation":    build.NodeAnnotation("cluster-autoscaler.kubernetes.io/scale-down-disabled", "true"),
	}
	for name, change := range news {
		t.Run(name, func(t *testing.T) {
			n := node()
			change(n)
			if unchanged(trimmed(t, keepNodes(), node()), trimmed(t, keepNodes(), n)) {
				t.Errorf("another %s is taken for the same node", name)
			}
		})
	}
	beat := node()
	beat.ResourceVersion = "2"
	beat.Status.Conditions[0].LastHeartbeatTime = metav1.NewTime(build.Taken)
	beat.Status.Conditions = append(beat.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse})
	beat.Status.Images = []corev1.ContainerImage{{Names: []string{"registry.example.com/x"}}}
	beat.Status.Allocatable["memory"] = resource.MustParse("1024Gi") // 1Ti, written otherwise
	if !unchanged(trimmed(t, keepNodes(), node()), trimmed(t, keepNodes(), beat)) {
		t.Error("a heartbeat is taken for news")
	}
}

func TestPodsAreHeldWithoutWhatNobodyShouldSee(t *testing.T) {
	keep := keepPods()
	p := build.Pod("p", build.On("a"), build.Asks("1"), build.PodLabel("app", "x"))
	p.Annotations = map[string]string{"long": strings.Repeat("x", mostAnnotation+1), "short": strings.Repeat("y", mostAnnotation)}
	p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "PASSWORD", Value: "hunter2"}}
	held, ok := trimmed(t, keep, p).(*heldPod)
	if !ok {
		t.Fatal("a pod is held as something else")
	}
	if m := held.GetObjectMeta(); m.GetName() != "p" || m.GetNamespace() != "default" {
		t.Errorf("the queue sees %s/%s; want default/p", m.GetNamespace(), m.GetName())
	}
	if len(p.Annotations) != 2 {
		t.Error("trimming has changed the pod that came")
	}
	if got := held.pod.Metadata(&corev1.Pod{}).Annotations; len(got) > 0 {
		t.Errorf("annotations that no reader looks at are held: %v", got)
	}
	for _, key := range kinds.PodAnnotations() {
		p.Annotations[key] = "3"
		if got := trimmed(t, keep, p).(*heldPod).pod.Metadata(&corev1.Pod{}).Annotations; got[key] != "3" {
			t.Errorf("of annotation %s, which readers look at, %v is held", key, got)
		}
		delete(p.Annotations, key)
	}
	ready := p.DeepCopy()
	ready.ResourceVersion, ready.Status.Message = "8", "started"
	if !unchanged(held, trimmed(t, keep, ready)) {
		t.Error("a status that changes nothing is taken for news")
	}
	ready.Spec.NodeName = "b"
	if unchanged(held, trimmed(t, keep, ready)) {
		t.Error("another node is taken for the same pod")
	}
}

func TestALeanPodKeepsTheAnnotationsThatReadersLookAt(t *testing.T) {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"example.com/none": "x"}}}
	for _, key := range kinds.PodAnnotations() {
		p.Annotations[key] = "3"
	}
	want := maps.Clone(p.Annotations)
	delete(want, "example.com/none")
	if diff := cmp.Diff(want, cluster.LeanPod(p).Annotations); diff != "" {
		t.Errorf("annotations of a lean pod (-want +got):\n%s", diff)
	}
}

func TestWordsAreHeldOnceAndNotForEver(t *testing.T) {
	w := words{}
	for i := range 3 * mostWords {
		w.of(strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/mostWords) + metav1.NewTime(build.Taken.AddDate(0, 0, i)).String())
		if len(w) > mostWords {
			t.Fatalf("%d words are held; want at most %d", len(w), mostWords)
		}
	}
}

// A pod may name an owner of a megabyte, and be gone a moment later.
func TestALongWordIsNotHeldBeyondItsPod(t *testing.T) {
	w := words{}
	for _, n := range []int{mostWord, mostWord + 1} {
		if s := strings.Repeat("x", n); w.of(s) != s {
			t.Errorf("a word of %d bytes is another one", n)
		}
	}
	if len(w) != 1 {
		t.Errorf("%d words are held; want the one that may be a name", len(w))
	}
}

// A cluster of a hundred thousand pods has to fit into what a container gets: what is counted are the pod and its place in
// the store.
func TestAPodThatIsFollowedTakesLittle(t *testing.T) {
	const jobs, workers, most = 200, 20, 500
	used := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	keep, store := keepPods(), &cluster.Store{}
	before := used()
	for i := range jobs {
		for j := range workers {
			job := fmt.Sprint("train-", i)
			p := build.Pod(fmt.Sprint(job, "-worker-", j), build.On(fmt.Sprint("node-", i)), build.Asks("1"))
			p.Labels = map[string]string{
				"training.kubeflow.org/job-name": job, "training.kubeflow.org/operator-name": "pytorchjob-controller",
				"training.kubeflow.org/replica-index": fmt.Sprint(j), "training.kubeflow.org/replica-type": "worker", "team": "speech",
			}
			p.Annotations = map[string]string{"cni.projectcalico.org/podIP": fmt.Sprintf("10.0.%d.%d/32", i, j), "sidecar.istio.io/inject": "false"}
			text, err := p.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			came := &corev1.Pod{} // as it does: no word of it is another's
			if err := came.Unmarshal(text); err != nil {
				t.Fatal(err)
			}
			held, err := keep(came)
			if err != nil {
				t.Fatal(err)
			}
			store.KeepPod(held.(*heldPod).pod)
		}
	}
	if each := (used() - before) / (jobs * workers); each > most {
		t.Errorf("a pod takes %d bytes; want at most %d", each, most)
	}
	runtime.KeepAlive(keep)
	runtime.KeepAlive(store)
}
