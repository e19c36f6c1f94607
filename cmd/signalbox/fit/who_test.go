package fit

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	objects "github.com/signalbox-dev/signalbox/test/build"
)

// TestNamesEndWhereTheRightsDo asks who holds the nodes for somebody who may read one namespace of
// three; of the third the API server gives no answer.
func TestNamesEndWhereTheRightsDo(t *testing.T) {
	var asked []string
	clients := kubefake.NewClientset()
	clients.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		review := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
		at := review.Spec.ResourceAttributes
		asked = append(asked, at.Verb+" "+at.Resource+" in "+at.Namespace)
		if at.Namespace == "c" {
			return true, nil, errors.New("timeout")
		}
		review.Status.Allowed = at.Namespace == "a"
		return true, review, nil
	})
	items := slices.Clone(objects.Nodes(4, "n", objects.GPUs(8)))
	for namespace, node := range map[string]string{"a": "n-1", "b": "n-2", "c": "n-3"} {
		items = append(items, objects.Pod("secret-of-"+namespace, objects.In(namespace), objects.On(node), objects.Asks("8")))
	}
	items = append(items, objects.Pod("again", objects.In("b"), objects.On("n-4"), objects.Asks("8")))
	w := &review.World{Cluster: objects.Cluster(items...), Live: &apiserver.Cluster{Objects: dynamicfake.NewSimpleDynamicClient(runtime.NewScheme()), Clients: clients}}
	g := objects.Workers(4, "8")
	answer := whatif.Answer(t.Context(), w.Cluster, g)
	got := holdersOf(t.Context(), w, review.Reviewed{Report: preflight.Report{Fit: &answer, Gang: &g}}, reader(w))
	want := &review.WhoAnswer{
		Smallest: true, Holders: []whatif.Holder{{Kind: "Pod", Namespace: "a", Name: "secret-of-a", Pods: 1, Devices: 8, Nodes: []string{"n-1"}, Pod: "secret-of-a"}},
		Unreadable: &review.Unnamed{Jobs: 3, Pods: 3, Devices: 24}, Plan: got.Plan,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("who (-want +got):\n%s", diff)
	}
	slices.Sort(asked)
	if diff := cmp.Diff([]string{"list pods in a", "list pods in b", "list pods in c"}, asked); diff != "" {
		t.Errorf("asked of the API server (-want +got):\n%s", diff)
	}
	if !slices.Contains(got.Text(), "           3 jobs in namespaces you may not read: 3 pods with 24 devices") {
		t.Errorf("the text does not count them:\n%q", got.Text())
	}
}

func TestWithoutAClusterEveryNameIsTheUsersOwn(t *testing.T) {
	if !reader((&review.World{}))(context.Background(), corev1.NamespaceDefault) {
		t.Error("a snapshot is the user's own file, and its names are hidden")
	}
}
