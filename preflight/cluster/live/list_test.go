package live

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// TestPodsAreReadPageByPage has a server of three pages that forgets the listing once.
func TestPodsAreReadPageByPage(t *testing.T) {
	kube, calls := fake.NewClientset(), 0
	kube.PrependReactor("list", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		calls++
		if calls == 3 {
			return true, nil, apierrors.NewResourceExpired("too old")
		}
		o := a.(clienttesting.ListActionImpl).ListOptions
		if o.Limit != podsAPage {
			t.Errorf("%d pods are asked for; want %d", o.Limit, podsAPage)
		}
		at := len(o.Continue) // "", "x", "xx"
		page := &corev1.PodList{}
		for i := range 2 {
			page.Items = append(page.Items, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: fmt.Sprintf("p-%d-%d", at, i)}})
		}
		if at < 2 {
			page.Continue = o.Continue + "x"
		}
		return true, page, nil
	})
	got, err := Pods(t.Context(), kube)
	if err != nil || len(got) != 6 || calls != 6 {
		t.Fatalf("%d pods in %d calls: %v; want 6 in 6", len(got), calls, err)
	}
	for i, p := range got {
		if want := fmt.Sprintf("p-%d-%d", i/2, i%2); p.Name() != want {
			t.Errorf("pod %d is %s; want %s", i, p.Name(), want)
		}
	}
}

func TestPodsThatCannotBeListedAreAnError(t *testing.T) {
	kube, gone := fake.NewClientset(), errors.New("gone")
	kube.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, gone })
	if _, err := Pods(t.Context(), kube); !errors.Is(err, gone) {
		t.Errorf("the error is %v", err)
	}
}
