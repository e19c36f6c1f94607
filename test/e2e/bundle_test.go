//go:build integration

package e2e

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("the evidence of a failed job, saved", func() {
	It("says as a file and as a folder what the cluster said", func(ctx context.Context) {
		namespace := newNamespace(ctx)
		Expect(world.Apply(ctx, inNamespace(kubeflowJob("PyTorchJob", "pytorchReplicaSpecs", "Master", "pytorch"), namespace))).To(Succeed())
		Eventually(annotationsOf).WithContext(ctx).WithArguments(pytorchJobs, namespace, "broken").
			Should(HaveKeyWithValue("signalbox.dev/error", ContainSubstring("flash_attn")))

		dir := GinkgoT().TempDir()
		file := filepath.Join(dir, "broken.tgz")
		signalbox(ctx, "bundle", "pytorchjob/broken", "-n", namespace, "-o", file)
		Expect(exec.CommandContext(ctx, "tar", "xzf", file, "-C", dir).Run()).To(Succeed())
		Expect(filepath.Join(dir, "logs", "broken-master-0", "pytorch.log")).To(BeAnExistingFile())

		live := whatItSays(signalbox(ctx, "diagnose", "pytorchjob/broken", "-n", namespace, "-o", "json"))
		Expect(live.Error).To(ContainSubstring("flash_attn"))
		Expect(live.Analysis).NotTo(BeEmpty())
		Expect([]string{live.Verdict, live.Category}).To(Equal([]string{"diagnosed", "missing-module"}))
		for _, saved := range []string{file, dir} {
			Expect(whatItSays(signalbox(ctx, "diagnose", "--bundle", saved, "-o", "json"))).To(Equal(live), saved)
		}
	})
})

// said is the part of a diagnosis that does not depend on when it was made.
type said struct {
	Verdict, Error, Analysis, Category string
}

func whatItSays(text string) (s said) {
	GinkgoHelper()
	Expect(json.Unmarshal([]byte(text), &s)).To(Succeed())
	return s
}

// signalbox runs the program as a user of the cluster.
func signalbox(ctx context.Context, args ...string) string {
	GinkgoHelper()
	cmd := exec.CommandContext(ctx, filepath.Join(world.Root, "bin", "signalbox"), args...)
	cmd.Env = append(cmd.Environ(), "KUBECONFIG="+world.Kubeconfig())
	cmd.Stderr = GinkgoWriter
	out, err := cmd.Output()
	Expect(err).NotTo(HaveOccurred(), "signalbox %v", args)
	return string(out)
}
