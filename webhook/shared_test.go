package webhook

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	fakediscovery "k8s.io/client-go/discovery/fake"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// shared are jobs that the webhook follows for others, too.
type shared struct {
	t      *testing.T
	api    *fakediscovery.FakeDiscovery
	client *dynamicfake.FakeDynamicClient
	jobs   *Jobs

	watches atomic.Int32 // that are told of what comes
}

func newShared(t *testing.T, objects ...*unstructured.Unstructured) *shared {
	t.Helper()
	var all []runtime.Object
	for _, o := range objects {
		all = append(all, o)
	}
	s := &shared{t: t, client: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{pytorch: "PyTorchJobList"}, all...)}
	// The fake notes that it was asked for a watch before there is one, and one tells nothing from before.
	s.client.PrependWatchReactor("*", func(a clienttesting.Action) (bool, watch.Interface, error) {
		w, err := s.client.Tracker().Watch(a.GetResource(), a.GetNamespace())
		s.watches.Add(1)
		return true, w, err
	})
	s.api, _ = fake.NewClientset().Discovery().(*fakediscovery.FakeDiscovery)
	s.api.Resources = []*metav1.APIResourceList{{GroupVersion: "kubeflow.org/v1", APIResources: []metav1.APIResource{{Name: "pytorchjobs"}}}}
	s.jobs = NewJobs(live.Clients{Dynamic: s.client, Discovery: s.api}, kinds.All(), Others{Pack: live.Pack}, logr.Discard())
	return s
}

// start follows the jobs until the test ends.
func (s *shared) start() {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = s.jobs.Start(ctx) }()
	s.t.Cleanup(func() { stop(); <-ended })
}

// asked is how often the jobs were listed and watched.
func (s *shared) asked() (lists, watches int) {
	for _, a := range s.client.Actions() {
		if a.GetVerb() == "list" {
			lists++
		}
	}
	return lists, int(s.watches.Load())
}

// users is how many want the jobs followed.
func (s *shared) users() int {
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	if f := s.jobs.followed[pytorchKind]; f != nil {
		return f.users
	}
	return 0
}

// listener is one that looks at jobs of another, as a cache does.
type listener struct {
	informer cache.SharedIndexInformer
	stop     func()

	mu   sync.Mutex
	told []string
}

func (s *shared) listen() *listener {
	s.t.Helper()
	l := &listener{informer: s.jobs.Informer(pytorch.GroupVersion().WithKind("PyTorchJob"))}
	if l.informer == nil {
		s.t.Fatal("the jobs are not followed for others")
	}
	if err := l.informer.SetTransform(func(any) (any, error) { s.t.Error("somebody else's transform is used"); return nil, nil }); err != nil {
		s.t.Fatal(err)
	}
	note := func(what string) func(any) {
		return func(object any) {
			o, err := meta.Accessor(object)
			if err != nil {
				s.t.Error(err)
				return
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			l.told = append(l.told, what+" "+o.GetName())
		}
	}
	if _, err := l.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: note("new"), DeleteFunc: note("gone")}); err != nil {
		s.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended, before := make(chan struct{}), s.users()
	go func() { defer close(ended); l.informer.RunWithContext(ctx) }()
	s.until("the listener runs", func() bool { return s.users() == before+1 })
	l.stop = sync.OnceFunc(func() { stop(); <-ended })
	s.t.Cleanup(l.stop)
	return l
}

func (l *listener) heard() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(slices.Values(l.told))
}

func (s *shared) create(name string) {
	s.t.Helper()
	if _, err := s.client.Resource(pytorch).Namespace("ml").Create(s.t.Context(), stored(name, 0), metav1.CreateOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shared) until(what string, ok func() bool) {
	s.t.Helper()
	(&swept{t: s.t}).until(what, ok)
}

// Jobs are listed and watched once, however many look at them, come back and look again.
func TestJobsAreFollowedOnceForAll(t *testing.T) {
	s := newShared(t, stored("first", 0))
	early := s.listen() // before anything was asked
	s.start()
	s.until("who was there before hears", func() bool { return cmp.Equal(early.heard(), []string{"new first"}) })
	second := s.listen()
	s.until("who came later hears of what was there", func() bool { return cmp.Equal(second.heard(), []string{"new first"}) })
	s.until("the jobs are watched", func() bool { _, watches := s.asked(); return watches == 1 })

	early.stop()
	s.create("later")
	s.until("the other hears", func() bool { return cmp.Equal(second.heard(), []string{"new first", "new later"}) })
	s.until("the webhook knows", func() bool { return s.jobs.UID(pytorchKind, "ml", "later") != "" })
	if diff := cmp.Diff([]string{"new first"}, early.heard()); diff != "" {
		t.Errorf("who has gone was told (-want +got):\n%s", diff)
	}
	if _, err := early.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{}); err == nil || !early.informer.IsStopped() || second.informer.IsStopped() {
		t.Errorf("one that has ended takes handlers (%v), or the other has ended", err)
	}
	if third := s.listen(); !third.informer.HasSynced() {
		t.Error("what is held is not there for who comes back")
	}
	if lists, watches := s.asked(); lists != 1 || watches != 1 {
		t.Errorf("the jobs were listed %d times and watched %d times", lists, watches)
	}

	u, ok := second.informer.GetIndexer().ListKeys(), false
	object, there, err := second.informer.GetIndexer().GetByKey("ml/first")
	if err == nil && there {
		_, ok = object.(runtime.Object).DeepCopyObject().(*unstructured.Unstructured)
	}
	if !ok {
		t.Errorf("of %v no job is shown: %v, %v", u, object, err)
	}
}

var pytorchKind = schema.GroupKind{Group: "kubeflow.org", Kind: "PyTorchJob"}

// A kind that is served no more is followed for as long as something looks at it: what does decides when it is gone.
func TestAKindThatGoesIsFollowedAsLongAsSomebodyLooks(t *testing.T) {
	s := newShared(t, stored("first", 0))
	s.start()
	l := s.listen()
	s.until("it is seen", func() bool { return len(l.heard()) == 1 })
	s.until("the jobs are watched", func() bool { _, watches := s.asked(); return watches == 1 })
	base := l.informer.(*sharedInformer).SharedIndexInformer
	s.jobs.adjust(kinds.For(pytorch.GroupVersion().WithKind("PyTorchJob")), nil)
	if uid := s.jobs.UID(pytorchKind, "ml", "first"); uid != "" {
		t.Errorf("the webhook knows of job %s of a kind that is not served", uid)
	}
	s.create("later")
	s.until("who looks hears", func() bool { return len(l.heard()) == 2 })
	l.stop()
	s.until("nobody follows it any more", base.IsStopped)
}

// Nothing else looks at jobs where none are packed, at a version that is not followed, or at another kind.
func TestJobsThatAreNotFollowedForOthers(t *testing.T) {
	s := newShared(t)
	s.start()
	s.until("the jobs are seen", s.jobs.Synced)
	for _, gvk := range []schema.GroupVersionKind{{Group: "kubeflow.org", Version: "v9", Kind: "PyTorchJob"}, {Group: "apps", Version: "v1", Kind: "Deployment"}} {
		if s.jobs.Informer(gvk) != nil {
			t.Errorf("%s is followed", gvk)
		}
	}
	s.jobs.others = Others{}
	if s.jobs.Informer(pytorch.GroupVersion().WithKind("PyTorchJob")) != nil {
		t.Error("jobs that are not packed are shown to others")
	}
}

// What is reviewed of a job is the same whether it is held for a review alone or for all.
func TestAJobThatIsHeldForAllIsReviewedAsOneThatIsHeldForAReview(t *testing.T) {
	u := stored("train", 0, func(u *unstructured.Unstructured) {
		u.SetLabels(map[string]string{"team": "speech"})
		u.SetAnnotations(map[string]string{"team": "a", corev1.LastAppliedConfigAnnotation: "{}"})
		u.Object["status"] = map[string]any{"conditions": []any{}}
	})
	held := func(pack Pack) *heldJob {
		t.Helper()
		h, err := keepJob(kinds.For(u.GroupVersionKind()), pack)(u.DeepCopy())
		if err != nil {
			t.Fatal(err)
		}
		return h.(*heldJob)
	}
	alone, all := held(nil), held(live.Pack)
	if diff := cmp.Diff(alone.reviewed().Object, all.reviewed().Object); diff != "" {
		t.Errorf("-alone +for all:\n%s", diff)
	}
	if alone.state != all.state || alone.state == 0 {
		t.Errorf("the states are %d and %d", alone.state, all.state)
	}
	all.reviewed().SetLabels(map[string]string{"team": "none"})
	if got := all.Object().GetLabels()["team"]; got != "speech" {
		t.Errorf("a review changes what is held: team %s", got)
	}
}

// The state of a job is the same in every version of the program: replicas of two tell each other.
func TestAStateIsThatOfTheJSON(t *testing.T) {
	for name, spec := range map[string]any{
		"all there is":                 map[string]any{"z": int64(1), "a": []any{0.5, nil, true, "x\ny"}},
		"more than the room for texts": strings.Repeat("x", mostTextRoom+1),
	} {
		t.Run(name, func(t *testing.T) {
			u := stored("train", 0, func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"b": "<é>", "a": "\""}) })
			u.Object["spec"] = spec
			text, err := json.Marshal([]any{u.GetUID(), u.Object["spec"], u.GetLabels(), map[string]string{}})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if got, want := stateOf(u), stateOfText(text); got != want {
					t.Errorf("state %d, want %d", got, want)
				}
			}
			whole, err := u.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			got, err := decode(whole)
			if diff := cmp.Diff(u.Object, got.Object); err != nil || diff != "" {
				t.Errorf("decoded, %v (-want +got):\n%.200s", err, diff)
			}
		})
	}
}

// Managers of fields are decoded where what is read of them is something; where they are not, the job was changed when it was created.
func TestManagersAreDecodedWhereTheySaySomething(t *testing.T) {
	const created, later = "2026-11-20T08:00:00Z", "2026-11-20T09:00:00Z"
	entry := func(at, fields string) string {
		return `{"apiVersion":"kubeflow.org/v1","fieldsType":"FieldsV1","fieldsV1":` + fields + `,"manager":"m","operation":"Update","time":"` + at + `"}`
	}
	j := NewJobs(live.Clients{}, nil, Others{Managers: func(text []byte) bool { return strings.Contains(string(text), "theirs") }}, logr.Discard())
	for name, tc := range map[string]struct {
		managers string
		want     bool
	}{
		"as it was created":        {"[" + entry(created, `{"f:spec":{"f:x":{}},"f:metadata":{"f:labels":{}}}`) + "]", false},
		"its spec later":           {"[" + entry(created, `{"f:spec":{}}`) + "," + entry(later, `{"f:spec":{"f:suspend":{}}}`) + "]", true},
		"its labels later":         {"[" + entry(later, `{"f:metadata":{"f:labels":{".":{}}}}`) + "]", true},
		"what silences checks":     {"[" + entry(later, `{"f:metadata":{"f:annotations":{"f:signalbox.dev/ignore":{}}}}`) + "]", true},
		"its status later":         {"[" + entry(created, `{"f:spec":{}}`) + "," + entry(later, `{"f:status":{"f:conditions":{}}}`) + "]", false},
		"an annotation of others":  {"[" + entry(later, `{"f:metadata":{"f:annotations":{"f:a.example.org/b":{}}}}`) + "]", false},
		"what the others look for": {"[" + entry(created, `{"f:theirs":{}}`) + "]", true},
		"a time of another form":   {"[" + entry("2026-11-20T08:00:00.5Z", `{"f:spec":{}}`) + "]", true},
		"no time":                  {`[{"fieldsV1":{"f:spec":{}},"manager":"m"}]`, true},
		"a name with escapes":      {"[" + entry(later, `{"f:sp\u0065c":{}}`) + "]", true},
		"no list":                  {`{}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := j.wantsManagers([]byte(tc.managers), created); got != tc.want {
				t.Errorf("they are decoded: %t, want %t", got, tc.want)
			}
			u, err := decode([]byte(`{"kind":"J","metadata":{"creationTimestamp":"` + created + `"}}`))
			if err != nil {
				t.Fatal(err)
			}
			var managers []any
			if json.Unmarshal([]byte(tc.managers), &managers) == nil {
				u.Object["metadata"].(map[string]any)["managedFields"] = managers
			}
			if at := changedAt(u).UTC().Format(time.RFC3339); !tc.want && at != created {
				t.Errorf("they are not decoded, and say that the job was changed at %s", at)
			}
		})
	}
	if !j.wantsManagers([]byte("[]"), "2026-11-20T08:00:00+01:00") {
		t.Error("times of another form are taken for what they are not")
	}
}
