package controller

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/test/resident"
)

const jobNameLabel = "training.kubeflow.org/job-name"

// A cluster of a hundred thousand pods has to fit into what a container gets, and the garbage collector looks at each object
// in each of its cycles. Pods that were objects of their own would be one each at least; how often the maps of the table are
// split hangs on their seeds, and moves what is left by some hundredths.
func TestPodsThatAreHeldTakeLittle(t *testing.T) {
	const pods, mostBytes, mostObjects = 4000, 330, 0.5
	table := newPodTable(jobLabels(kinds.All()))
	bytes, objects := resident.Live()
	for i := range pods {
		p := worker(i)
		p.Spec.NodeName = fmt.Sprint("node-", i/20)
		table.set(held(t, p))
	}
	nowBytes, nowObjects := resident.Live()
	if each := (nowBytes - bytes) / pods; each > mostBytes {
		t.Errorf("a pod takes %d bytes; want %d at most", each, mostBytes)
	}
	if each := float64(nowObjects-objects) / pods; each > mostObjects {
		t.Errorf("a pod is %.2f objects; want %.2f at most", each, mostObjects)
	}
	t.Logf("%d bytes and %.2f objects", (nowBytes-bytes)/pods, float64(nowObjects-objects)/pods)
	runtime.KeepAlive(table)
}

// Whatever comes and goes, the table answers as a map of the pods would; also where their names have one hash, and what is left
// of those that are gone is little.
func TestThePodTableHoldsWhatItIsGiven(t *testing.T) {
	for name, mask := range map[string]uint64{"each hash its own": ^uint64(0), "few hashes": 3} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			table := newPodTable(map[string]bool{jobNameLabel: true})
			table.mask = mask
			want := map[podName]*corev1.Pod{}
			for step := range 6000 {
				p := worker(random.IntN(120))
				p.Namespace = fmt.Sprintf("team-%d", random.IntN(3))
				key := podName{p.Namespace, p.Name}
				var before *corev1.Pod
				if random.IntN(3) == 0 {
					before = table.drop(p.Namespace, p.Name)
				} else {
					p.Status.Message = strings.Repeat("x", random.IntN(4000))
					p.ResourceVersion = fmt.Sprint(step)
					kept := held(t, p)
					before = table.set(kept)
					if diff := cmp.Diff(want[key], before); diff != "" {
						t.Fatalf("what was there before (-want +got):\n%s", diff)
					}
					want[key] = kept.pod()
					continue
				}
				if diff := cmp.Diff(want[key], before); diff != "" {
					t.Fatalf("what was there before (-want +got):\n%s", diff)
				}
				delete(want, key)
			}
			inJob := map[string][]string{}
			for key, p := range want {
				if diff := cmp.Diff(p, table.get(key.namespace, key.name)); diff != "" {
					t.Fatalf("%v (-want +got):\n%s", key, diff)
				}
				of := p.Namespace + "/" + p.Labels[jobNameLabel]
				inJob[of] = append(inJob[of], p.Name)
			}
			for of, pods := range inJob {
				namespace, job, _ := strings.Cut(of, "/")
				var got []string
				for _, p := range table.labelled(namespace, jobNameLabel, job) {
					got = append(got, p.Name)
				}
				slices.Sort(got)
				slices.Sort(pods)
				if diff := cmp.Diff(pods, got); diff != "" {
					t.Errorf("pods of %s (-want +got):\n%s", of, diff)
				}
			}
			if got := len(table.all(nil)); got != len(want) || len(table.names()) != len(want) {
				t.Errorf("%d pods; want %d", got, len(want))
			}
			if table.text.held > max(leastHeld, 2*table.text.live)+chunkSize {
				t.Errorf("%d bytes are held, of which %d are somebody's", table.text.held, table.text.live)
			}
			for key := range want {
				table.drop(key.namespace, key.name)
			}
			if len(table.words.ids)+len(table.named)+len(table.ofJob)+table.text.live != 0 {
				t.Errorf("left are %d words, %d names, %d jobs and %d bytes", len(table.words.ids), len(table.named), len(table.ofJob), table.text.live)
			}
		})
	}
}

// A handler that comes later is told of all that there is; a list that is read anew says what is gone meanwhile; one that leaves hears no more.
func TestPodsAreToldToWhoeverComes(t *testing.T) {
	i := newPodInformer(map[string]bool{jobNameLabel: true})
	list := func(numbers ...int) toolscache.Delta {
		var all []any
		for _, n := range numbers {
			all = append(all, held(t, worker(n)))
		}
		return toolscache.Delta{Type: toolscache.ReplacedAll, Object: toolscache.ReplacedAllInfo{Objects: all}}
	}
	var said []string
	handler := toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(o any, first bool) { said = append(said, fmt.Sprint("added ", o.(*corev1.Pod).Name, " ", first)) },
		UpdateFunc: func(_, o any) { said = append(said, "changed "+o.(*corev1.Pod).Name) },
		DeleteFunc: func(o any) { said = append(said, "gone "+o.(*corev1.Pod).Name) },
	}
	told := func(want ...string) {
		t.Helper()
		slices.Sort(said)
		if diff := cmp.Diff(want, said); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		said = nil
	}
	if i.take(list(1, 2)); !i.HasSynced() {
		t.Error("the first list has come, and nobody is told that it has")
	}
	registration, err := i.AddEventHandler(handler)
	if err != nil || !registration.HasSynced() {
		t.Fatal(err)
	}
	told("added train-0-worker-1 true", "added train-0-worker-2 true")
	i.take(list(2, 3))
	told("added train-0-worker-3 false", "changed train-0-worker-2", "gone train-0-worker-1")
	i.take(toolscache.Delta{Type: toolscache.Deleted, Object: held(t, worker(3))})
	i.take(toolscache.Delta{Type: toolscache.Deleted, Object: held(t, worker(9))}) // nobody has heard of it
	told("gone train-0-worker-3")
	if err := i.RemoveEventHandler(registration); err != nil {
		t.Fatal(err)
	}
	i.take(list(7))
	told()
	if keys := i.GetStore().ListKeys(); !slices.Equal(keys, []string{"team-07/train-0-worker-7"}) || len(i.GetStore().List()) != 1 {
		t.Errorf("held are %v", keys)
	}
	if _, there, err := i.GetStore().GetByKey("team-07/other"); there || err != nil {
		t.Errorf("there is a pod that nobody has seen: %v", err)
	}
	if _, err := i.GetIndexer().ByIndex("by-node", "n"); err == nil {
		t.Error("an index that is not there answers")
	}
}

// The informer says when it has ended: a cache does not hand out one that has.
func TestAnInformerOfPodsEnds(t *testing.T) {
	source := watch.NewFake()
	informer := informerOf(kubefake.NewClientset(), nil, func(*corev1.Pod) bool { return true }, nil)(&toolscache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (apiruntime.Object, error) { return &corev1.PodList{}, nil },
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			return source, nil
		},
	}, &corev1.Pod{}, 0, nil)
	if err := informer.SetWatchErrorHandler(func(*toolscache.Reflector, error) {}); err != nil {
		t.Fatal(err)
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() { defer close(ended); informer.Run(stop) }()
	if informer.IsStopped() {
		t.Error("it has ended before it ran")
	}
	close(stop)
	<-ended
	if !informer.IsStopped() {
		t.Error("it has ended and does not say so")
	}
}

// Pods that are read as they come are held as they come: the first list is in memory once. A handler that comes meanwhile, or later, is told
// of each of them once.
func TestTheFirstListIsHeldOnce(t *testing.T) {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}}
	for n := range 50 {
		list.Items = append(list.Items, *worker(n))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") != "" {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", apiruntime.ContentTypeProtobuf)
		if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(list, w); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	kube, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: apiruntime.ContentTypeProtobuf}})
	if err != nil {
		t.Fatal(err)
	}
	informer := informerOf(kube, nil, relevance(kinds.All()), jobLabels(kinds.All()))(&toolscache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (apiruntime.Object, error) {
			t.Error("the list is read whole")
			return list, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil },
	}, &corev1.Pod{}, 0, nil).(*podInformer)
	added := map[string]int{}
	count := toolscache.ResourceEventHandlerFuncs{AddFunc: func(o any) { added[o.(*corev1.Pod).Name]++ }, UpdateFunc: func(_, o any) { t.Errorf("%s has changed", o.(*corev1.Pod).Name) }}
	if _, err := informer.AddEventHandler(count); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); informer.RunWithContext(ctx) }()
	<-informer.synced
	late := 0
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: func(any) { late++ }}); err != nil {
		t.Fatal(err)
	}
	if len(added) != 50 || late != 50 || len(informer.GetStore().ListKeys()) != 50 {
		t.Errorf("told of %d pods, late of %d, held are %d; want 50", len(added), late, len(informer.GetStore().ListKeys()))
	}
	if kept, err := informer.keep(worker(7)); err != nil || kept.(*packedPod).name() != worker(7).Name {
		t.Errorf("of a later list %v is kept, %v", kept, err)
	}
	stop()
	<-ended
}
