package webhook

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// A review waits for the rights of an operator where nothing is known of them, and no longer.
func TestWhoWritesTheStatusOfJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kube, away := fake.NewClientset(), false
		var asked atomic.Int32
		var held chan struct{} // while it is open, the API server does not answer
		everywhere := map[string]bool{"operator": true}
		kube.PrependReactor("create", "subjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
			if held != nil {
				<-held
			}
			if asked.Add(1); away {
				return true, nil, errors.New("away")
			}
			r := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview).DeepCopy()
			of := r.Spec.ResourceAttributes
			there := everywhere[r.Spec.User] || r.Spec.User == "of ml" && of.Namespace == "ml"
			r.Status.Allowed = there && of.Verb == "patch" && of.Resource == "jobsets" && of.Subresource == "status"
			return true, r, nil
		})
		writes := MayWriteStatus(kube)
		jobSets := schema.GroupVersionResource{Group: "jobset.x-k8s.io", Version: "v1alpha2", Resource: "jobsets"}
		expect := func(user, namespace string, want bool, before, behind int32) {
			t.Helper()
			asked.Store(0)
			if held = nil; before == 0 {
				held = make(chan struct{})
			}
			if got := writes(t.Context(), authenticationv1.UserInfo{Username: user}, jobSets, namespace); got != want || asked.Load() != before {
				t.Errorf("%s in %s: %t after %d questions; want %t after %d", user, namespace, got, asked.Load(), want, before)
			}
			if held != nil {
				close(held)
			}
			if synctest.Wait(); asked.Load() != before+behind {
				t.Errorf("%s in %s: %d questions behind the answer; want %d", user, namespace, asked.Load()-before, behind)
			}
		}
		pass := func(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // the clock is the test's
		expect("operator", "ml", true, 2, 0)
		expect("operator", "lab", true, 0, 0) // of all namespaces
		expect("of ml", "ml", true, 4, 0)
		expect("of ml", "ml", true, 0, 0)
		expect("of ml", "lab", false, 2, 0)
		expect("ada", "ml", false, 4, 0)
		expect("ada", "ml", false, 0, 0)

		pass(rightsFresh)
		everywhere["operator"], everywhere["ada"] = false, true
		expect("operator", "ml", true, 0, 2) // the review does not wait
		expect("operator", "ml", false, 2, 0)
		expect("ada", "ml", false, 0, 4)
		expect("ada", "ml", true, 0, 0)

		away = true
		pass(rightsFresh)
		expect("ada", "ml", true, 0, 1)
		expect("ada", "ml", true, 0, 0) // it is being asked
		pass(rightsKept)
		expect("ada", "ml", false, 2, 0) // silence is no leave
	})
}

func TestRightsAreAskedSeldomAndBounded(t *testing.T) {
	kube, asked := fake.NewClientset(), 0
	kube.PrependReactor("create", "subjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		asked++
		return true, a.(clienttesting.CreateAction).GetObject(), nil
	})
	writes := MayWriteStatus(kube)
	for i := range mostRights - 1 { // and one of all namespaces
		writes(t.Context(), authenticationv1.UserInfo{Username: "ada"}, schema.GroupVersionResource{}, fmt.Sprint(i))
	}
	for _, step := range []struct {
		namespace string
		want      int
	}{{"0", 0}, {"one more than are remembered", 2}, {"0", 4}} {
		asked = 0
		if writes(t.Context(), authenticationv1.UserInfo{Username: "ada"}, schema.GroupVersionResource{}, step.namespace); asked != step.want {
			t.Errorf("%d questions for %s; want %d", asked, step.namespace, step.want)
		}
	}
}
