package webhook

import (
	"fmt"
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

// Who writes the status of jobs is asked once a minute, and what is remembered has a bound.
func TestWhoWritesTheStatusOfJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kube, asked, away := fake.NewClientset(), 0, false
		kube.PrependReactor("create", "subjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
			asked++
			r := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview).DeepCopy()
			of := r.Spec.ResourceAttributes
			r.Status.Allowed = !away && r.Spec.User == "operator" && of.Verb == "patch" && of.Resource == "jobsets" && of.Subresource == "status"
			return true, r, nil
		})
		writes := MayWriteStatus(kube)
		jobSets := schema.GroupVersionResource{Group: "jobset.x-k8s.io", Version: "v1alpha2", Resource: "jobsets"}
		expect := func(user, namespace string, want bool, questions int) {
			t.Helper()
			asked = 0
			if got := writes(t.Context(), authenticationv1.UserInfo{Username: user}, jobSets, namespace); got != want || asked != questions {
				t.Errorf("%s in %s: %t after %d questions; want %t after %d", user, namespace, got, asked, want, questions)
			}
		}
		expect("operator", "ml", true, 2)
		expect("operator", "ml", true, 0)
		expect("ada", "ml", false, 2)
		expect("ada", "ml", false, 0)
		away = true
		expect("operator", "ml", true, 0)
		time.Sleep(time.Minute) //nolint:forbidigo // the clock is the test's
		expect("operator", "ml", false, 2)
		for i := range 1024 - 2 {
			expect("ada", fmt.Sprint(i), false, 2)
		}
		expect("ada", "0", false, 0)
		expect("ada", "one more than are remembered", false, 2)
		expect("ada", "0", false, 2)
	})
}
