//go:build integration

package integration

import (
	"context"
	"io"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/test/cluster"
)

// Whoever has the cluster's own role view in a namespace reads what Signalbox writes there: on jobs of kinds whose
// operators bring no such role, too. The controller manager makes the role of those that carry the label.
var _ = Describe("People who may view a namespace", func() {
	It("read jobs and Events there, and change nothing", func(ctx SpecContext) {
		own, err := cluster.Start(context.Background(), cluster.Options{Parts: cluster.ControllerManager, Progress: io.Writer(GinkgoWriter)})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() error { return own.Stop() })
		Expect(own.CreateNamespace(ctx, "ml", nil)).To(Succeed())
		_, err = own.Clientset().RbacV1().RoleBindings("ml").Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "reader"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "reader"}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		may := func(verb, group, resource, namespace string) bool {
			GinkgoHelper()
			asked, err := own.Clientset().AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
				Spec: authorizationv1.SubjectAccessReviewSpec{User: "reader", ResourceAttributes: &authorizationv1.ResourceAttributes{
					Verb: verb, Group: group, Resource: resource, Namespace: namespace,
				}},
			}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			return asked.Status.Allowed
		}
		Expect(may("get", "kubeflow.org", "pytorchjobs", "ml")).To(BeFalse(), "nothing is installed yet")
		Expect(own.Apply(ctx, rendered("default"))).To(Succeed())
		Eventually(func() bool { return may("get", "kubeflow.org", "pytorchjobs", "ml") }).Should(BeTrue())
		Expect(may("watch", "ray.io", "rayjobs", "ml")).To(BeTrue())
		Expect(may("list", "events.k8s.io", "events", "ml")).To(BeTrue())
		Expect(may("patch", "kubeflow.org", "pytorchjobs", "ml")).To(BeFalse())
		Expect(may("get", "kubeflow.org", "pytorchjobs", "other")).To(BeFalse())
	})
})
