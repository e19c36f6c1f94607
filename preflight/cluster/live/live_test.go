package live_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	discoveryfake "k8s.io/client-go/discovery/fake"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/test/build"
)

var (
	runtimeKind     = schema.GroupVersionKind{Group: "trainer.kubeflow.org", Version: "v1alpha1", Kind: "ClusterTrainingRuntime"}
	runtimeResource = schema.GroupVersionResource{Group: "trainer.kubeflow.org", Version: "v1alpha1", Resource: "clustertrainingruntimes"}
	claimKind       = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
	follow          = metav1.Verbs{"get", "list", "watch"}
)

// cluster is a fake API server and what follows it.
type cluster struct {
	kube      *kubefake.Clientset
	dynamic   *dynamicfake.FakeDynamicClient
	discovery *lockedDiscovery
	live      *live.Live
}

// lockedDiscovery answers with groups that may be replaced meanwhile.
type lockedDiscovery struct {
	*discoveryfake.FakeDiscovery
	mu sync.Mutex
}

func (d *lockedDiscovery) ServerGroupsWithContext(ctx context.Context) (*metav1.APIGroupList, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.FakeDiscovery.ServerGroupsWithContext(ctx)
}

func (d *lockedDiscovery) ServerResourcesForGroupVersionWithContext(ctx context.Context, gv string) (*metav1.APIResourceList, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.FakeDiscovery.ServerResourcesForGroupVersionWithContext(ctx, gv)
}

func newCluster(objects ...runtime.Object) *cluster {
	c := &cluster{kube: kubefake.NewClientset(objects...)}
	lists := map[schema.GroupVersionResource]string{}
	for _, r := range live.Resources() {
		for _, v := range r.Versions {
			lists[schema.GroupVersionResource{Group: r.Group, Version: v, Resource: r.Plural}] = "AnyList"
		}
	}
	lists[schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}] = "ConfigMapList"
	c.dynamic = dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists)
	c.discovery = &lockedDiscovery{FakeDiscovery: c.kube.Discovery().(*discoveryfake.FakeDiscovery)}
	c.serve(&metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{
		{Name: "persistentvolumeclaims", Kind: "PersistentVolumeClaim", Namespaced: true, Verbs: follow},
	}})
	c.live = live.New(live.Clients{Kube: c.kube, Dynamic: c.dynamic, Discovery: c.discovery}, live.Options{})
	return c
}

// serve replaces what discovery answers.
func (c *cluster) serve(groups ...*metav1.APIResourceList) {
	c.discovery.mu.Lock()
	defer c.discovery.mu.Unlock()
	c.discovery.Resources = groups
}

// run follows the cluster until the test ends and waits until nothing moves.
func (c *cluster) run(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		if err := c.live.Start(ctx); err != nil {
			t.Errorf("Start: %v", err)
		}
	})
	t.Cleanup(func() { stop(); done.Wait() })
	settle()
}

// settle lets everything that moves come to rest, and two rounds of discovery pass.
func settle() {
	synctest.Wait()
	time.Sleep(11 * time.Second) //nolint:forbidigo // the bubble's clock: no time passes
	synctest.Wait()
}

func object(kind schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(kind)
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

func one(asks string) gang.Gang {
	return gang.Gang{Groups: []gang.Group{{Name: "Worker", Count: 1, Pod: job.Pod{Spec: build.Pod("w", build.Asks(asks)).Spec}}}}
}

func TestBeforeTheFirstReadNothingIsTrusted(t *testing.T) {
	c := newCluster(build.Node("a", build.GPUs(8)))
	if got := whatif.Answer(t.Context(), c.live.Snapshot(), one("8")); got.Verdict != fit.Unknown || !strings.Contains(got.String(), "has not been read yet") {
		t.Errorf("before Start the fit says %s; want unknown and why", got)
	}
	if c.live.Synced() {
		t.Error("synced before Start")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := c.live.WaitForSync(ctx); err == nil || !strings.Contains(err.Error(), "the list of kinds the API serves") {
		t.Errorf("WaitForSync: %v; want an error that names what is missing", err)
	}
}

func TestTheSnapshotFollowsTheCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(build.Node("a", build.GPUs(8)), build.Pod("busy", build.On("a"), build.Asks("4")),
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ml", Labels: map[string]string{"team": "red"}}},
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "plain"}})
		c.run(t)
		if err := c.live.WaitForSync(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := whatif.Answer(t.Context(), c.live.Snapshot(), one("8")); got.Verdict != fit.Full {
			t.Errorf("with a busy pod the fit says %s; want full", got)
		}
		if got := c.live.Namespace("ml")["team"]; got != "red" {
			t.Errorf("label team of ml is %q, want red", got)
		}
		if c.live.Namespace("plain") == nil || c.live.Namespace("nowhere") != nil {
			t.Error("a namespace without labels is known, one that does not exist is not")
		}
		before := c.live.Snapshot()
		if err := c.kube.CoreV1().Pods("default").Delete(t.Context(), "busy", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		settle()
		if got := whatif.Answer(t.Context(), c.live.Snapshot(), one("8")); got.Verdict != fit.Fits {
			t.Errorf("after the pod went the fit says %s; want fits", got)
		}
		if got := whatif.Answer(t.Context(), before, one("8")); got.Verdict != fit.Full {
			t.Errorf("the snapshot taken before changed its answer to %s", got)
		}
		still := c.live.Snapshot()
		n, err := c.kube.CoreV1().Nodes().Get(t.Context(), "a", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		n.Status.Conditions[0].LastHeartbeatTime = metav1.Now()
		n.ResourceVersion = "77"
		if _, err := c.kube.CoreV1().Nodes().UpdateStatus(t.Context(), n, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		settle()
		if c.live.Snapshot() != still {
			t.Error("a heartbeat alone made a new snapshot")
		}
	})
}

func TestKindsInstalledLaterAreFollowedAndRemovedOnesForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(build.Node("a"))
		if _, err := c.dynamic.Resource(runtimeResource).Create(t.Context(), object(runtimeKind, "", "torch"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		c.run(t)
		look := func(name string) job.Presence {
			_, there := c.live.Snapshot().Lookup(runtimeKind, "", name)
			return there
		}
		if got := look("torch"); got != job.Unknown {
			t.Errorf("before the CRD is served the runtime is %v, want unknown", got)
		}
		served := c.discovery.Resources
		c.serve(append(served, &metav1.APIResourceList{GroupVersion: "trainer.kubeflow.org/v1alpha1", APIResources: []metav1.APIResource{
			{Name: "clustertrainingruntimes", Kind: "ClusterTrainingRuntime", Verbs: follow},
		}})...)
		settle()
		if look("torch") != job.Present || look("other") != job.Absent {
			t.Errorf("after the CRD is served: torch %v, other %v; want present and absent", look("torch"), look("other"))
		}
		c.serve(served...)
		settle()
		if look("torch") != job.Unknown || look("other") != job.Unknown {
			t.Errorf("after the CRD is gone: torch %v, other %v; want unknown", look("torch"), look("other"))
		}
	})
}

func refuse(f *clienttesting.Fake, resource string) {
	no := apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", nil)
	f.PrependReactor("list", resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, no })
	f.PrependWatchReactor(resource, func(clienttesting.Action) (bool, watch.Interface, error) { return true, nil, no })
}

func TestWhatMayNotBeListedStaysUnknownAndStopsNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(build.Node("a", build.GPUs(8)))
		refuse(&c.dynamic.Fake, "persistentvolumeclaims")
		c.run(t)
		if !c.live.Synced() {
			t.Fatalf("not synced: %v", c.live.Problems())
		}
		if got := whatif.Answer(t.Context(), c.live.Snapshot(), one("8")); got.Verdict != fit.Fits {
			t.Errorf("the fit says %s; want fits", got)
		}
		if _, there := c.live.Snapshot().Lookup(claimKind, "ml", "data"); there != job.Unknown {
			t.Errorf("a claim is %v, want unknown: claims may not be listed", there)
		}
		if p := c.live.Problems(); len(p) != 1 || !strings.HasPrefix(p[0], "persistentvolumeclaims is forbidden") {
			t.Errorf("problems are %q; want the claims", p)
		}
	})
}

func TestWithoutPodsTheSnapshotSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(build.Node("a", build.GPUs(8)))
		refuse(&c.kube.Fake, "pods")
		c.run(t)
		if !c.live.Synced() {
			t.Fatal("a refusal must not hold up everything else")
		}
		got := whatif.Answer(t.Context(), c.live.Snapshot(), one("8"))
		if got.Verdict != fit.Unknown || !strings.Contains(got.String(), "pods cannot be listed: pods is forbidden") {
			t.Errorf("the fit says %s; want unknown, because pods cannot be listed", got)
		}
	})
}

func TestEverythingThatIsFollowedIsAllowed(t *testing.T) {
	text, err := os.ReadFile("../../../config/rbac/view.yaml")
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[schema.GroupResource]bool{}
	for doc := range strings.SplitSeq(string(text), "\n---\n") {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(doc), &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					if slices.Contains(rule.Verbs, "list") && slices.Contains(rule.Verbs, "watch") {
						allowed[schema.GroupResource{Group: group, Resource: resource}] = true
					}
				}
			}
		}
	}
	wanted := []schema.GroupResource{{Resource: "nodes"}, {Resource: "pods"}, {Resource: "namespaces"}}
	for _, r := range live.Resources() {
		wanted = append(wanted, schema.GroupResource{Group: r.Group, Resource: r.Plural})
	}
	for _, r := range wanted {
		if !allowed[r] {
			t.Errorf("%s is followed, and config/rbac/view.yaml does not allow to list and watch it", r)
		}
		if r.Resource == "secrets" || r.Resource == "configmaps" {
			t.Errorf("%s must not be followed", r)
		}
	}
}
