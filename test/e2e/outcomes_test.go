//go:build integration

package e2e

import (
	"context"
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// What admission warned of is remembered on the job and settled at its end.
var _ = Describe("a job that was warned of", func() {
	It("says how it ended", func(ctx context.Context) {
		namespace := newNamespace(ctx)
		failing := inNamespace(strings.NewReplacer(
			"missing-module.log", "small-shm.log", "memory: 1Gi", "memory: 16Gi, nvidia.com/gpu: 2",
		).Replace(kubeflowJob("PyTorchJob", "pytorchReplicaSpecs", "Master", "pytorch")), namespace)
		other := strings.NewReplacer("name: broken", "name: other", "small-shm.log", "missing-module.log").Replace(failing)
		well := strings.NewReplacer("name: broken", "name: well", "state: exit-code", "state: succeeded", "small-shm.log", "finished.log").Replace(failing)
		Expect(world.Apply(ctx, strings.Join([]string{failing, well, other}, "\n---\n"))).To(Succeed())

		Eventually(annotationsOf).WithContext(ctx).WithArguments(pytorchJobs, namespace, "broken").Should(SatisfyAll(
			HaveKeyWithValue("signalbox.dev/healthy", "No"),
			HaveKeyWithValue("signalbox.dev/warned", ContainSubstring(`"check":"shm-missing"`)),
			HaveKeyWithValue("signalbox.dev/warned", ContainSubstring(`"outcome":"came-true"`)),
			HaveKeyWithValue("signalbox.dev/analysis", MatchRegexp(`[Ww]arned`)),
		))
		Eventually(annotationsOf).WithContext(ctx).WithArguments(pytorchJobs, namespace, "well").Should(SatisfyAll(
			HaveKeyWithValue("signalbox.dev/healthy", "Yes"),
			HaveKeyWithValue("signalbox.dev/warned", ContainSubstring(`"outcome":"ran"`)),
		))

		Eventually(annotationsOf).WithContext(ctx).WithArguments(pytorchJobs, namespace, "other").Should(SatisfyAll(
			HaveKeyWithValue("signalbox.dev/healthy", "No"),
			HaveKeyWithValue("signalbox.dev/warned", ContainSubstring(`"outcome":"other"`)),
		))

		type tally struct {
			Check                       string
			Fired, CameTrue, Other, Ran int
		}
		var checks []tally
		text := signalbox(ctx, "list", "checks", "--outcomes", "-o", "json")
		Expect(json.Unmarshal([]byte(text), &checks)).To(Succeed(), text)
		Expect(checks).To(ContainElement(tally{Check: "shm-missing", Fired: 3, CameTrue: 1, Other: 1, Ran: 1}))
		Expect(signalbox(ctx, "list", "checks", "--outcomes")).To(MatchRegexp(`shm-missing +3 +1 +1 +1`))
	})
})
