//go:build integration

package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Signatures of the operator's own are ConfigMaps, followed under the account of the manifests.
var _ = Describe("signatures in ConfigMaps", Ordered, func() {
	const system = "signalbox-system"
	var live *signature.Live

	apply := func(ctx context.Context, name, id, role, words string) {
		GinkgoHelper()
		Expect(plane.Apply(ctx, `
apiVersion: v1
kind: ConfigMap
metadata: {name: `+name+`, namespace: `+system+`, labels: {signalbox.dev/signature: "true"}}
data:
  `+id+`.yaml: |
    id: `+id+`
    title: the vault of the team said no
    since: "1"
    category: permission-denied
    role: `+role+`
    kinds: [log]
    pattern: `+words+`
    domain: platform
    retry: useless
    proves: The vault refused.
    doesNotProve: Why.
    remedy: Ask the team.
`)).To(Succeed())
	}
	inForce := func(id string) func() *signature.Signature {
		return func() *signature.Signature { return live.Catalog().ByID(id) }
	}
	errorOn := func(ctx context.Context, name string) func() (string, error) {
		return func() (string, error) {
			m, err := plane.Clientset().CoreV1().ConfigMaps(system).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return "", err
			}
			return m.Annotations[controller.SignatureErrorAnnotation], nil
		}
	}

	BeforeAll(func(ctx SpecContext) {
		Expect(plane.Apply(ctx, "apiVersion: v1\nkind: Namespace\nmetadata: {name: signalbox-system}")).To(Succeed())
		Expect(plane.Apply(ctx, rendered("rbac"))).To(Succeed())
		apply(ctx, "team-vault", "vault-refused", "root", "vault says no")
		account, err := plane.ConfigFor(ctx, system, "signalbox")
		Expect(err).NotTo(HaveOccurred())
		kube, err := kubernetes.NewForConfig(account)
		Expect(err).NotTo(HaveOccurred())
		base, err := signature.Builtin()
		Expect(err).NotTo(HaveOccurred())
		live = signature.NewLive(base)
		maps, err := controller.NewSignatureMaps(kube, system, base, live, nil, GinkgoLogr)
		Expect(err).NotTo(HaveOccurred())
		following, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- maps.Start(following) }()
		DeferCleanup(func() {
			stop()
			Eventually(ended).Should(Receive(BeNil()))
		})
	})

	It("are in force as soon as they are there", func() {
		Eventually(inForce("vault-refused")).ShouldNot(BeNil())
		Expect(live.Catalog().Match("12:00 the vault says no to team a")).To(HaveLen(1))
	})

	It("that are broken are left out, and say so", func(ctx SpecContext) {
		apply(ctx, "team-broken", "lock-lost", "boss", "lock is lost")
		apply(ctx, "team-later", "ring-broken", "root", "ring is broken")
		Eventually(errorOn(ctx, "team-broken")).Should(ContainSubstring(`team-broken/lock-lost.yaml`))
		Expect(errorOn(ctx, "team-broken")()).To(ContainSubstring(`"boss"`))
		Eventually(inForce("ring-broken")).ShouldNot(BeNil())
		Expect(inForce("vault-refused")()).NotTo(BeNil())
		Expect(inForce("lock-lost")()).To(BeNil())
		Expect(errorOn(ctx, "team-vault")()).To(BeEmpty(), "it is not to blame")
		Eventually(func() ([]string, error) {
			list, err := plane.Clientset().CoreV1().Events(system).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=team-broken"})
			var out []string
			for i := range list.Items {
				out = append(out, list.Items[i].Type+" "+list.Items[i].Reason+": "+list.Items[i].Message)
			}
			return out, err
		}).Should(ContainElement(HavePrefix("Warning SignatureBroken: the signatures do not load, what is broken is left out and the rest is in force: read signature team-broken/lock-lost.yaml")))
	})

	It("that were good stay as they were", func(ctx SpecContext) {
		apply(ctx, "team-vault", "vault-refused", "boss", "vault says maybe")
		Eventually(errorOn(ctx, "team-vault")).Should(ContainSubstring("team-vault/vault-refused.yaml"))
		Expect(inForce("vault-refused")().Pattern).To(Equal("vault says no"))
	})

	It("that are repaired or gone leave no trace", func(ctx SpecContext) {
		apply(ctx, "team-broken", "lock-lost", "root", "lock is lost")
		apply(ctx, "team-vault", "vault-refused", "root", "vault says maybe")
		Eventually(inForce("lock-lost")).ShouldNot(BeNil())
		Eventually(errorOn(ctx, "team-broken")).Should(BeEmpty())
		Eventually(errorOn(ctx, "team-vault")).Should(BeEmpty())
		Expect(inForce("vault-refused")().Pattern).To(Equal("vault says maybe"))
		Expect(plane.Clientset().CoreV1().ConfigMaps(system).Delete(ctx, "team-vault", metav1.DeleteOptions{})).To(Succeed())
		Eventually(inForce("vault-refused")).Should(BeNil())
	})
})
