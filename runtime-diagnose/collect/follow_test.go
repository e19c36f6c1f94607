package collect

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

func eventOf(namespace, name, pod string) *corev1.Event {
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: namespace, Name: name},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: pod}, Message: "of " + pod,
	}
}

// followed reads the Events of pod train-0 of namespace ml by what is followed, and returns their names.
func followed(t *testing.T, f *Followed, kube *fake.Clientset) (names []string, missing []string) {
	t.Helper()
	u := &unstructured.Unstructured{}
	u.SetNamespace("ml")
	u.SetName("train")
	r := &reading{Cluster: &Cluster{Kube: kube, Followed: f}, kind: kinds.All()[0], object: u, owners: &owners{}}
	r.out = diagnose.Case{Pods: []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "train-0"}, Spec: corev1.PodSpec{NodeName: "n1"}}}}
	r.readEvents(t.Context())
	r.readNodeEvents(t.Context())
	for i := range r.out.Events {
		names = append(names, r.out.Events[i].Name)
	}
	for _, m := range r.out.Missing {
		missing = append(missing, fmt.Sprint(m))
	}
	return names, missing
}

func TestEventsAreFollowedAndNotAskedFor(t *testing.T) {
	node := eventOf(nodesNamespace, "node-a", "n1")
	node.InvolvedObject.Kind, node.LastTimestamp = "Node", metav1.Now()
	kube := fake.NewClientset(eventOf("ml", "b", "train-0"), eventOf("ml", "a", "train-0"), eventOf("ml", "c", "other-0"), eventOf("prod", "d", "train-0"), node)
	f := Follow(kube)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = f.Start(ctx) }()
	defer func() { stop(); <-ended }()
	until := func(what string, ok func() bool) {
		t.Helper()
		looks, end := time.NewTicker(10*time.Millisecond), time.After(30*time.Second)
		defer looks.Stop()
		for !ok() { // the watch runs in a goroutine of its own
			select {
			case <-looks.C:
			case <-end:
				t.Fatalf("it did not come about that %s", what)
			}
		}
	}
	held := func() int { all, _, _ := f.of("ml"); return len(all) }
	until("the Events are there", func() bool { return held() == 3 })
	kube.ClearActions()
	names, missing := followed(t, f, kube)
	if got := strings.Join(names, " "); got != "a b node-a" || len(missing) > 0 {
		t.Errorf("Events %q, missing %q; want a b node-a and nothing", got, missing)
	}
	if n := len(kube.Actions()); n != 0 {
		t.Errorf("the API was asked %d times: %v", n, kube.Actions())
	}
	if err := kube.CoreV1().Events("ml").Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until("one is gone", func() bool { return held() == 2 })
}

// Where nothing is followed yet, or may not be, they are asked for.
func TestEventsThatAreNotFollowedAreAskedFor(t *testing.T) {
	kube := fake.NewClientset(eventOf("ml", "a", "train-0"))
	for _, f := range []*Followed{nil, Follow(kube)} {
		if names, _ := followed(t, f, kube); len(names) != 1 {
			t.Errorf("%v Events", names)
		}
	}
}

// One above what is held of a namespace: the oldest goes, and the answer says so.
func TestFollowedEventsOfANamespaceAreBounded(t *testing.T) {
	f := Follow(nil)
	if err := f.Replace([]any{eventOf("ml", "first", "train-0")}, "1"); err != nil {
		t.Fatal(err)
	}
	for i := range mostFollowedOf - 1 {
		_ = f.Add(eventOf("ml", fmt.Sprint(i), "other-0"))
	}
	if names, missing := followed(t, f, nil); len(names) != 1 || len(missing) != 0 {
		t.Errorf("at the bound: Events %v, missing %v", names, missing)
	}
	_ = f.Update(eventOf("ml", "first", "train-0")) // it came again, and is the newest
	_ = f.Add(eventOf("ml", "last", "train-0"))
	names, missing := followed(t, f, nil)
	if all, _, _ := f.of("ml"); len(all) != mostFollowedOf || strings.Join(names, " ") != "first last" || len(missing) != 1 {
		t.Errorf("one above: %d held, Events %v, missing %v", len(all), names, missing)
	}
}

// One above what is held of all: it goes where most are, whichever comes last.
func TestFollowedEventsAreBounded(t *testing.T) {
	f := Follow(nil)
	_ = f.Replace(nil, "1")
	for i := range mostFollowed {
		_ = f.Add(eventOf(fmt.Sprintf("ns-%d", i/(mostFollowedOf-1)), fmt.Sprint(i), "p"))
	}
	before := map[string]int{}
	for name, s := range f.namespaces {
		before[name] = s.order.Len()
	}
	_ = f.Add(eventOf("ml", "new", "train-0"))
	if f.total != mostFollowed || f.namespaces["ml"].order.Len() != 1 {
		t.Errorf("%d are held, %d of the newest namespace", f.total, f.namespaces["ml"].order.Len())
	}
	if s := f.namespaces["ns-0"]; s.order.Len() != before["ns-0"]-1 || !s.left {
		t.Errorf("of the largest %d are held, as before, or nothing says that one is not", s.order.Len())
	}
}

// A listener hears of each Event once: not of those that were there, and not of one that happens again.
func TestNewEventsAreTold(t *testing.T) {
	f := Follow(nil)
	var told []string
	f.Tell(func(e *corev1.Event) { told = append(told, e.Name) })
	hear := func(name string, do func() error, want string) {
		t.Helper()
		told = nil
		if err := do(); err != nil || strings.Join(told, " ") != want {
			t.Errorf("%s: told %q (%v), want %q", name, told, err, want)
		}
	}
	a, b, c := eventOf("ml", "a", "train-0"), eventOf("ml", "b", "train-0"), eventOf("ml", "c", "train-0")
	hear("the first list", func() error { return f.Replace([]any{a}, "1") }, "")
	hear("a new one", func() error { return f.Add(b) }, "b")
	hear("it happens again", func() error { return f.Update(b) }, "")
	hear("a list after the watch was lost", func() error { return f.Replace([]any{a, b, c}, "2") }, "c")
	hear("no Event", func() error { return f.Add(&corev1.Pod{}) }, "")
}

// Whoever may write Events writes as much into each of their texts as a request holds.
func TestAnEventIsHeldInLittle(t *testing.T) {
	f := Follow(nil)
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := held()
	for i := range 64 {
		long := func() string { return strings.Repeat("-", 256<<10) }
		e := eventOf("ml", fmt.Sprint(i), long())
		e.InvolvedObject.FieldPath, e.InvolvedObject.Kind, e.InvolvedObject.UID, e.InvolvedObject.APIVersion = long(), long(), types.UID(long()), long()
		e.Reason, e.Message, e.Type, e.Action, e.ReportingController, e.ReportingInstance = long(), long(), long(), long(), long(), long()
		e.Source = corev1.EventSource{Component: long(), Host: long()}
		e.Related = &corev1.ObjectReference{Name: long()}
		_ = f.Add(e) // as a watch brings it
	}
	if grown := int64(held()) - int64(before); grown > 1<<20 {
		t.Errorf("64 Events take %d KiB", grown>>10)
	}
	all, _, _ := f.of("ml")
	for _, e := range all {
		if len(e.InvolvedObject.Name) > nameBytes { // whoever hears of an Event goes through its beginnings
			t.Fatalf("the name of what an Event is about has %d bytes", len(e.InvolvedObject.Name))
		}
	}
}
