//go:build integration

package integration

import (
	"encoding/json"
	"os"
	"os/exec"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The doctor looks at the program as it is installed, but for its pods, which no test runs.
var _ = Describe("signalbox doctor", Ordered, func() {
	var program, address string
	examine := func(ctx SpecContext) map[string]string {
		GinkgoHelper()
		cmd := exec.CommandContext(ctx, program, "doctor", "-o", "json")
		cmd.Env = append(os.Environ(), "KUBECONFIG="+plane.Kubeconfig())
		text, _ := cmd.Output() // the exit code is among what is answered
		var found struct {
			Parts []struct{ Part, State, Says string }
		}
		Expect(json.Unmarshal(text, &found)).To(Succeed(), string(text))
		out := map[string]string{}
		for _, p := range found.Parts {
			out[p.Part] = p.State + ": " + p.Says
		}
		out["exit code"] = strconv.Itoa(cmd.ProcessState.ExitCode())
		return out
	}

	BeforeAll(func(ctx SpecContext) {
		var err error
		program, err = gexec.Build("github.com/signalbox-dev/signalbox/cmd/signalbox")
		Expect(err).NotTo(HaveOccurred())
		address = freeAddress()
		Expect(plane.Apply(ctx, rendered("local", "127.0.0.1:9443", address))).To(Succeed())
		// Specs that ran before may have installed all of it.
		Expect(client.IgnoreNotFound(plane.Clientset().AppsV1().Deployments("signalbox-system").Delete(ctx, "signalbox", metav1.DeleteOptions{}))).To(Succeed())
	})

	It("says that nobody answers, and then that somebody does", func(ctx SpecContext) {
		before := examine(ctx)
		Expect(before).To(And(
			HaveKeyWithValue("webhook is reached", HavePrefix("wrong: it did not answer a dry run in namespace default")), HaveKeyWithValue("exit code", "1"),
		))
		start(ctx, program, address)
		Eventually(func() map[string]string { return examine(ctx) }).Should(And(
			HaveKeyWithValue("webhook is reached", HavePrefix("ok: ")),
			HaveKeyWithValue("leader", HavePrefix("ok: ")),
		))
		after := examine(ctx)
		for _, part := range []string{"API server", "webhook configuration", "certificate", "policies", "signatures", "bounds of the account", "rights of the account", "modes of namespaces", "kinds", "clocks"} {
			Expect(after).To(HaveKeyWithValue(part, HavePrefix("ok: ")))
		}
		Expect(after).To(HaveKeyWithValue("pods", HavePrefix("ok: none: the server runs outside of the cluster")))
		Expect(after).NotTo(HaveKeyWithValue("exit code", "1"), "nothing of it is wrong: %v", after)
	})

	It("says which right the account lacks", func(ctx SpecContext) {
		DeferCleanup(func(ctx SpecContext) {
			Expect(plane.Apply(ctx, rendered("local", "127.0.0.1:9443", address))).To(Succeed())
		})
		_, err := plane.Kubectl(ctx, "delete", "clusterrolebinding", "signalbox-events")
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() map[string]string { return examine(ctx) }).Should(HaveKeyWithValue("rights of the account",
			"wrong: system:serviceaccount:signalbox-system:signalbox may not create events.events.k8s.io"))
	})
})
