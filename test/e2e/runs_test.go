//go:build integration

package e2e

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A job that is created again under its name is another object: what it printed when it went well
// outlives it, and tells which line is new when it fails.
var _ = Describe("a job that ran well before", func() {
	It("is compared with its last good run", func(ctx context.Context) {
		namespace := newNamespace(ctx)
		failing := strings.Replace(inNamespace(kubeflowJob("PyTorchJob", "pytorchReplicaSpecs", "Master", "pytorch"), namespace), "missing-module.log", "ring-disagrees.log", 1)
		well := strings.NewReplacer("state: exit-code", "state: succeeded", "ring-disagrees.log", "ring-ends.log").Replace(failing)

		By("letting it succeed")
		Expect(world.Apply(ctx, well)).To(Succeed())
		Eventually(annotationsOf).WithContext(ctx).WithArguments(pytorchJobs, namespace, "broken").Should(HaveKeyWithValue("signalbox.dev/healthy", "Yes"))
		Eventually(func() (names []string, err error) {
			list, err := world.Clientset().CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{LabelSelector: "signalbox.dev/evidence=true"})
			for i := range list.Items {
				names = append(names, list.Items[i].Name)
			}
			return names, err
		}).Should(ContainElement(HavePrefix("signalbox-evidence-good-")))

		By("deleting it with all that belongs to it")
		Expect(objects.Resource(pytorchJobs).Namespace(namespace).Delete(ctx, "broken", metav1.DeleteOptions{})).To(Succeed())
		Eventually(func() ([]corev1.Pod, error) {
			list, err := world.Clientset().CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
			return list.Items, err
		}).Should(BeEmpty())
		Eventually(func() bool {
			_, err := objects.Resource(pytorchJobs).Namespace(namespace).Get(ctx, "broken", metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		}).Should(BeTrue())

		By("letting it fail under the same name, with a line that no signature knows")
		Expect(world.Apply(ctx, failing)).To(Succeed())
		Eventually(annotationsOf).WithContext(ctx).WithArguments(pytorchJobs, namespace, "broken").Should(SatisfyAll(
			HaveKeyWithValue("signalbox.dev/healthy", "No"),
			HaveKeyWithValue("signalbox.dev/analysis", ContainSubstring("the last good run (")),
			HaveKeyWithValue("signalbox.dev/diagnosis", ContainSubstring(`"signature":"unfamiliar-line"`)),
			HaveKeyWithValue("signalbox.dev/diagnosis", ContainSubstring("the shard table disagrees with the ring")),
		))
	})
})
