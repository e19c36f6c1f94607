package controller

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// Every pod that a kind selects is relevant, and so is one that it controls.
func TestPodsOfEveryKindAreRelevant(t *testing.T) {
	relevant, yes := relevance(kinds.All()), true
	for _, k := range kinds.All() {
		requirements, _ := k.Pods(job.Ref{Kind: k.Name, Namespace: "ml", Name: "train"}).Requirements()
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: labels.Set{}}}
		for _, r := range requirements {
			for _, value := range r.ValuesUnsorted() {
				p.Labels[r.Key()] = value
			}
		}
		if !relevant(p) {
			t.Errorf("a pod with the labels of a %s, %v, is not relevant", k.Name, p.Labels)
		}
		owned := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{APIVersion: k.GVKs[0].GroupVersion().String(), Kind: k.GVKs[0].Kind, Controller: &yes}}}}
		if !relevant(owned) {
			t.Errorf("a pod that a %s controls is not relevant", k.Name)
		}
	}
	for _, other := range []*corev1.Pod{
		{},
		{ObjectMeta: metav1.ObjectMeta{Labels: labels.Set{"app": "web"}, OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Controller: &yes}}}},
		{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{APIVersion: "kubeflow.org/v1", Kind: "PyTorchJob"}}}}, // of no controller
	} {
		if relevant(other) {
			t.Errorf("%v is relevant", other)
		}
	}
}

// Pods that are of no job are never seen; one that stops being of a job goes.
func TestOnlyRelevantPodsAreFollowed(t *testing.T) {
	of := func(name, job string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if job != "" {
			p.Labels = labels.Set{"training.kubeflow.org/job-name": job}
		}
		return p
	}
	source := watch.NewFake()
	from := relevantPods(toolscache.ToListerWatcherWithContext(&toolscache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &corev1.PodList{Items: []corev1.Pod{*of("a", ""), *of("b", "train"), *of("c", "")}}, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return source, nil },
	}), relevance(kinds.All()))

	list, err := from.ListWithContext(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if pods := list.(*corev1.PodList); len(pods.Items) != 1 || pods.Items[0].Name != "b" {
		t.Errorf("listed %v", pods.Items)
	}
	w, err := from.WatchWithContext(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		source.Add(of("d", ""))
		source.Add(of("e", "train"))
		source.Modify(of("d", ""))
		source.Modify(of("e", ""))
		source.Modify(of("d", "train"))
		source.Action(watch.Bookmark, of("", ""))
		source.Delete(of("d", "train"))
		source.Error(&metav1.Status{Reason: "Expired"})
		source.Stop()
	}()
	var got []string
	for e := range w.ResultChan() {
		name := ""
		if p, ok := e.Object.(*corev1.Pod); ok {
			name = p.Name
		}
		got = append(got, fmt.Sprint(e.Type, " ", name))
	}
	want := []string{"ADDED e", "DELETED d", "DELETED e", "MODIFIED d", "BOOKMARK ", "DELETED d", "ERROR "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A watch that is stopped while an event waits leaves nothing behind.
func TestAStoppedWatchEnds(t *testing.T) {
	source := watch.NewFake()
	w := &relevantEvents{from: source, events: make(chan watch.Event), stopped: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		w.pass(func(*corev1.Pod) bool { return true })
		close(ended)
	}()
	source.Add(&corev1.Pod{})
	w.Stop()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("it waits for somebody who takes the event")
	}
}
