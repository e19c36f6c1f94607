package controller

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// serveLists answers lists and lets watches wait; it streams no lists.
func serveLists(t *testing.T, lists map[string]map[string]any) *rest.Config {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		list, ok := lists[r.URL.Path]
		switch {
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		case r.URL.Query().Get("sendInitialEvents") != "":
			w.WriteHeader(http.StatusUnprocessableEntity)
			list = map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Invalid", "code": http.StatusUnprocessableEntity}
		case r.URL.Query().Get("watch") != "":
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		if err := json.NewEncoder(w).Encode(list); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

// What the controller asks its cache for is there as the API server has it, whatever the cache holds.
func TestTheCacheShowsWhatItHolds(t *testing.T) {
	p := worker(1)
	p.APIVersion, p.Kind = "v1", "Pod"
	cfg := serveLists(t, map[string]map[string]any{
		"/api/v1/pods": {"kind": "PodList", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": "9"}, "items": []any{p, worker(21)}},
		"/apis/kubeflow.org/v1/pytorchjobs": {"kind": "PyTorchJobList", "apiVersion": "kubeflow.org/v1", "metadata": map[string]any{"resourceVersion": "9"}, "items": []any{map[string]any{
			"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": map[string]any{"namespace": "team-07", "name": "train-0", "uid": "u", "resourceVersion": "8", "labels": map[string]any{"team": "speech"}},
			"spec": map[string]any{"nprocPerNode": "8"},
		}}},
	})
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(pytorchGVK, meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	options := CacheOptions(kube, nil)
	options.Mapper = mapper
	c, err := cache.New(cfg, options)
	if err != nil {
		t.Fatal(err)
	}
	keys := jobLabels(kinds.All())
	if _, err := c.GetInformer(t.Context(), &corev1.Pod{}, cache.BlockUntilSynced(false)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Start(t.Context()) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(pytorchGVK)
	if _, err := c.GetInformer(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	if !c.WaitForCacheSync(t.Context()) {
		t.Fatal("the cache does not sync")
	}

	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "team-07", Name: "train-0"}, u); err != nil || u.GetUID() != "u" || u.Object["spec"].(map[string]any)["nprocPerNode"] != "8" {
		t.Errorf("the job is %v, %v", u.Object, err)
	}
	r := &Reconciler{Cache: c, podLabels: keys}
	pytorch := kinds.For(pytorchGVK)
	var pods corev1.PodList
	if err := c.List(t.Context(), &pods, r.podsOf("team-07", pytorch.Pods(job.Ref{Kind: "PyTorchJob", Namespace: "team-07", Name: "train-0"}))...); err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) != 1 || pods.Items[0].UID != p.UID || pods.Items[0].Status.Phase != corev1.PodRunning || pods.Items[0].Spec.NodeName != "node-0001" {
		t.Errorf("the pods of the job are %v", pods.Items)
	}
	jobs := &unstructured.UnstructuredList{}
	jobs.SetGroupVersionKind(pytorchGVK.GroupVersion().WithKind("PyTorchJobList"))
	for team, want := range map[string]int{"speech": 1, "vision": 0} {
		if err := c.List(t.Context(), jobs, client.MatchingLabels{"team": team}); err != nil || len(jobs.Items) != want {
			t.Errorf("of team %s are %d jobs, %v; want %d", team, len(jobs.Items), err, want)
		}
	}
}
