//go:build integration

package e2e

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Somebody who watches a job in a shell reads a new finding when it changes, and is let go when it has ended.
var _ = Describe("diagnose --watch", func() {
	It("prints again what has changed until the job has ended", func(ctx context.Context) {
		namespace := newNamespace(ctx)
		job := strings.Replace(inNamespace(kubeflowJob("PyTorchJob", "pytorchReplicaSpecs", "Master", "pytorch"), namespace), "spec:\n", "spec:\n  runPolicy: {suspend: true}\n", 1)
		Expect(world.Apply(ctx, job)).To(Succeed())

		cmd := exec.CommandContext(ctx, filepath.Join(world.Root, "bin", "signalbox"), "diagnose", "pytorchjob/broken", "-n", namespace, "--watch")
		cmd.Env = append(cmd.Environ(), "KUBECONFIG="+world.Kubeconfig())
		watched, err := gexec.Start(cmd, GinkgoWriter, GinkgoWriter)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { watched.Kill().Wait() })
		Eventually(watched.Out).WithContext(ctx).Should(gbytes.Say("suspended; nothing of it runs"))

		_, err = objects.Resource(pytorchJobs).Namespace(namespace).Patch(ctx, "broken", types.MergePatchType, []byte(`{"spec":{"runPolicy":{"suspend":false}}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(watched.Out).WithContext(ctx).Should(gbytes.Say(`not healthy \(missing-module: `))
		Eventually(watched).WithContext(ctx).Should(gexec.Exit())
	})
})
