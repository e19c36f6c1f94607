//go:build integration

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// onNodes is a JobSet whose Jobs want a node each to themselves.
func onNodes(name, priority string, jobs, pods int) string {
	return fmt.Sprintf(`
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: %s, annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: kubernetes.io/hostname}}
spec:
  replicatedJobs:
  - name: slice
    replicas: %d
    template:
      spec:
        parallelism: %[3]d
        completions: %[3]d
        template:
          spec:
            priorityClassName: %[4]q
            containers: [{name: train, image: "registry.example/train:1", command: [python, train.py], resources: {limits: {cpu: 100m, memory: 64Mi}}}]
`, name, jobs, pods, priority)
}

var _ = Describe("Jobs that want a node each to themselves", func() {
	It("fit where kube-scheduler finds nodes for them, with the labels that JobSet writes", func(ctx context.Context) {
		namespace := newNamespace(ctx)
		running := func(ctx context.Context) (n int, err error) {
			pods, err := world.Clientset().CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
			for i := range pods.Items {
				if pods.Items[i].Status.Phase == corev1.PodRunning {
					n++
				}
			}
			return n, err
		}
		asked := func(ctx context.Context, manifest string) (string, error) {
			file := filepath.Join(GinkgoT().TempDir(), "job.yaml")
			if err := os.WriteFile(file, []byte(inNamespace(manifest, namespace)), 0o600); err != nil {
				return "", err
			}
			return world.Kubectl(ctx, "apply", "--dry-run=server", "--warnings-as-errors", "-f", file)
		}
		DeferCleanup(world.Kubectl, "delete", "jobsets", "--all", "-n", namespace)
		Expect(world.Apply(ctx, inNamespace(onNodes("taken", "", 4, 1), namespace))).To(Succeed()) // of the 9 nodes without a taint
		Eventually(running).WithContext(ctx).Should(Equal(4))

		rest := onNodes("rest", "", 5, 2)
		Eventually(asked).WithContext(ctx).WithArguments(rest).Should(ContainSubstring("created"))
		Expect(world.Apply(ctx, inNamespace(rest, namespace))).To(Succeed())
		Eventually(running).WithContext(ctx).Should(Equal(14))

		_, err := asked(ctx, onNodes("more", "", 1, 1))
		Expect(err).To(MatchError(ContainSubstring("warning")), "no node is left")
		Expect(world.Apply(ctx, "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: above}\nvalue: 7\n")).To(Succeed())
		above := onNodes("above", "above", 2, 1)
		Eventually(asked).WithContext(ctx).WithArguments(above).Should(ContainSubstring("created"), "Jobs of another priority may be there, too")
		Expect(world.Apply(ctx, inNamespace(above, namespace))).To(Succeed())
		Eventually(running).WithContext(ctx).Should(Equal(16))
	})
})
