package controller

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// Each kind's pods are found by the index, and they are the same as without it.
func TestPodsAreFoundByIndex(t *testing.T) {
	keys := jobLabels(kinds.All())
	for _, k := range kinds.All() {
		if key, _ := naming(k.Pods(job.Ref{Kind: k.Name, Namespace: "ml", Name: "train"}), func(key, _ string) bool { return keys[key] }); key == "" {
			t.Errorf("the pods of a %s are looked for among all of the namespace; the labels are %v", k.Name, slices.Sorted(maps.Keys(keys)))
		}
	}
	pod := func(namespace, name string, labels map[string]string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}}
	}
	of := func(name, operator string) map[string]string {
		return map[string]string{"training.kubeflow.org/job-name": name, "training.kubeflow.org/operator-name": operator}
	}
	objects := fake.NewClientBuilder().WithObjects(
		pod("ml", "train-0", of("train", "pytorchjob-controller")), pod("ml", "train-1", of("train", "pytorchjob-controller")),
		pod("ml", "tf-0", of("train", "tfjob-controller")), pod("ml", "other-0", of("other", "pytorchjob-controller")),
		pod("vision", "train-0", of("train", "pytorchjob-controller")), pod("ml", "web", nil),
	).WithIndex(&corev1.Pod{}, podIndex, func(o client.Object) (out []string) {
		for key, value := range o.GetLabels() {
			if keys[key] {
				out = append(out, key+"="+value)
			}
		}
		return out
	}).Build()
	selector := kinds.All()[slices.IndexFunc(kinds.All(), func(k *kinds.Kind) bool { return k.Name == "PyTorchJob" })].Pods(job.Ref{Kind: "PyTorchJob", Namespace: "ml", Name: "train"})
	for name, r := range map[string]*Reconciler{"with an index": {podLabels: keys}, "without": {}} {
		options := r.podsOf("ml", selector)
		if got, want := len(options), 2+len(r.podLabels)/max(1, len(r.podLabels)); got != want {
			t.Errorf("%s: %d options; want %d", name, got, want)
		}
		var pods corev1.PodList
		if err := objects.List(t.Context(), &pods, options...); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range pods.Items {
			names = append(names, client.ObjectKeyFromObject(&p).String())
		}
		if diff := cmp.Diff([]string{"ml/train-0", "ml/train-1"}, names); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
