//go:build integration

package integration

import (
	"context"
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/signalbox-dev/signalbox/certs"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/webhook"
)

// labelled are the namespaces of a spec by their labels, in a cluster of four nodes.
type labelled struct {
	fixed
	namespaces map[string]map[string]string
}

func (l labelled) Namespace(name string) map[string]string { return l.namespaces[name] }

// A team may choose that its jobs are refused rather than admitted unseen. Everybody else's are admitted all the same.
var _ = Describe("A namespace that is closed on failure", Ordered, func() {
	const chosen, enforces, warns = "closed-chosen", "closed-enforces", "closed-warns"
	namespaces := map[string]map[string]string{
		chosen:    {preflight.ModeLabel: preflight.ModeEnforce, webhook.ClosedLabel: webhook.ClosedValue},
		enforces:  {preflight.ModeLabel: preflight.ModeEnforce},
		warns:     {webhook.ClosedLabel: webhook.ClosedValue},
		"default": {},
	}
	var address string
	var objects dynamic.Interface
	job := func(namespace, name string) *unstructured.Unstructured {
		u := withGPUs(name, 1)
		u.SetNamespace(namespace)
		return u
	}
	configurations := func() interface {
		Delete(context.Context, string, metav1.DeleteOptions) error
		Create(context.Context, *admissionregistrationv1.ValidatingWebhookConfiguration, metav1.CreateOptions) (*admissionregistrationv1.ValidatingWebhookConfiguration, error)
	} {
		return plane.Clientset().AdmissionregistrationV1().ValidatingWebhookConfigurations()
	}
	start := func() served {
		return serve(address, labelled{namespaces: namespaces}, func(o *certs.Options) {
			o.Configurations = append(o.Configurations, webhook.ClosedConfigurationName)
		})
	}

	BeforeAll(func(ctx SpecContext) {
		address = freeAddress()
		Expect(plane.Apply(ctx, rendered("local", "127.0.0.1:9443", address))).To(Succeed())
		role, err := os.ReadFile(filepath.Join("..", "..", "config", "components", "closed", "rbac.yaml"))
		Expect(err).NotTo(HaveOccurred())
		Expect(plane.Apply(ctx, string(role))).To(Succeed())
		objects, err = dynamic.NewForConfig(plane.Config())
		Expect(err).NotTo(HaveOccurred())
		for name, labels := range namespaces {
			if name != "default" {
				Expect(plane.CreateNamespace(ctx, name, labels)).To(Succeed())
			}
		}
		closed := webhook.ClosedConfiguration(kinds.All())
		closed.Webhooks[0].ClientConfig.Service, closed.Webhooks[0].ClientConfig.URL = nil, new("https://"+address+webhook.ClosedPath)
		_, err = configurations().Create(ctx, closed, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) { _ = configurations().Delete(ctx, closed.Name, metav1.DeleteOptions{}) })
	})

	It("admits jobs while somebody answers, and denies what a policy could not say", func(ctx SpecContext) {
		s := start()
		defer s.stop()
		Eventually(func() error { return write(ctx, job(chosen, "probe"), metav1.DryRunAll).err }).Should(Succeed())
		held := job(chosen, "held")
		held.SetFinalizers([]string{"example.com/held"})
		held.SetAnnotations(map[string]string{"cost-center": "1"})
		got := write(ctx, held)
		Expect(got.err).NotTo(HaveOccurred())
		Expect(got.open).To(BeFalse())

		maps := plane.Clientset().CoreV1().ConfigMaps("signalbox-system")
		_, err := maps.Create(ctx, policyMap("closed-fails", map[string]string{"fails.rego": `# METADATA
# title: a policy that reads a number where there is none
# description: It cannot be evaluated.
# custom:
#   failure: closed
#   remedy: Do nothing.
package signalbox.fails

deny contains "never" if to_number(input.job.name) > 3
`}), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) { _ = maps.Delete(ctx, "closed-fails", metav1.DeleteOptions{}) })
		Eventually(func() error { return write(ctx, job(chosen, "undecided"), metav1.DryRunAll).err }).Should(
			MatchError(And(ContainSubstring("denied the request"), ContainSubstring("[fails] could not be evaluated, and is closed on failure"))))
		Expect(maps.Delete(ctx, "closed-fails", metav1.DeleteOptions{})).To(Succeed())
		Eventually(func() error { return write(ctx, job(chosen, "decided"), metav1.DryRunAll).err }).Should(Succeed())
	})

	It("refuses jobs while nobody answers; others are admitted, and nothing is held up", func(ctx SpecContext) {
		got := write(ctx, job(chosen, "refused"))
		Expect(got.err).To(MatchError(ContainSubstring(`failed calling webhook "closed.signalbox.dev"`)))
		for _, elsewhere := range []string{enforces, warns, "default"} {
			got := write(ctx, job(elsewhere, "admitted"), metav1.DryRunAll)
			Expect(got.err).NotTo(HaveOccurred(), elsewhere)
			Expect(got.open).To(BeTrue(), elsewhere)
		}
		By("writing status and annotations, and letting a job go that is deleted")
		api := objects.Resource(pytorchJobs).Namespace(chosen)
		patch := func(text string) error {
			_, err := api.Patch(ctx, "held", types.MergePatchType, []byte(text), metav1.PatchOptions{})
			return err
		}
		Expect(patch(`{"metadata":{"annotations":{"signalbox.dev/healthy":"Yes"}}}`)).To(Succeed())
		Expect(patch(`{"metadata":{"annotations":{"signalbox.dev/healthy":null}}}`)).To(Succeed())
		Expect(patch(`{"metadata":{"annotations":{"signalbox.dev/ignore":"all"}}}`)).To(MatchError(ContainSubstring("failed calling webhook")))
		Expect(patch(`{"metadata":{"annotations":{"cost-center":"2"}}}`)).To(MatchError(ContainSubstring("failed calling webhook")))
		Expect(patch(`{"metadata":{"annotations":{"cost-center":null}}}`)).To(MatchError(ContainSubstring("failed calling webhook")))
		Expect(patch(`{"metadata":{"annotations":null}}`)).To(MatchError(ContainSubstring("failed calling webhook")))
		Expect(patch(`{"metadata":{"labels":{"team":"another"}}}`)).To(MatchError(ContainSubstring("failed calling webhook")))
		Expect(patch(`{"spec":{"pytorchReplicaSpecs":{"Worker":{"replicas":2}}}}`)).To(MatchError(ContainSubstring("failed calling webhook")))
		_, err := plane.Kubectl(ctx, "scale", "pytorchjob", "held", "-n", chosen, "--replicas=3")
		Expect(err).To(MatchError(ContainSubstring("failed calling webhook")))
		Expect(api.Delete(ctx, "held", metav1.DeleteOptions{})).To(Succeed())
		Expect(patch(`{"metadata":{"finalizers":null}}`)).To(Succeed())
	})

	It("is switched off within five seconds, aloud", func(ctx SpecContext) {
		registry := prometheus.NewRegistry()
		metrics, err := webhook.NewMetrics(registry)
		Expect(err).NotTo(HaveOccurred())
		following, stop := context.WithCancel(context.Background())
		DeferCleanup(stop)
		account, err := plane.ConfigFor(ctx, "signalbox-system", "signalbox")
		Expect(err).NotTo(HaveOccurred())
		client, err := kubernetes.NewForConfig(account)
		Expect(err).NotTo(HaveOccurred())
		s := webhook.NewSwitch(webhook.SwitchOptions{Client: client, Namespace: "signalbox-system", Metrics: metrics, Log: GinkgoLogr})
		go func() { _ = s.Start(following) }()
		on := func() float64 {
			families, err := registry.Gather()
			Expect(err).NotTo(HaveOccurred())
			for _, f := range families {
				if f.GetName() == "signalbox_closed_on" {
					return f.GetMetric()[0].GetGauge().GetValue()
				}
			}
			return -1
		}
		Eventually(on).Should(Equal(1.0))

		begun := time.Now()
		_, err = plane.Kubectl(ctx, "delete", "validatingwebhookconfiguration", webhook.ClosedConfigurationName)
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() error { return write(ctx, job(chosen, "admitted-then"), metav1.DryRunAll).err }).WithTimeout(5 * time.Second).Should(Succeed())
		AddReportEntry("from the deletion to the first job", time.Since(begun).Round(time.Millisecond).String())
		Eventually(on).WithTimeout(5 * time.Second).Should(Equal(0.0))
		Eventually(func(g Gomega) {
			events, err := plane.Clientset().EventsV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{FieldSelector: "reason=" + webhook.ClosedOff})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(events.Items).To(HaveLen(1))
			g.Expect(events.Items[0].Regarding.Name).To(Equal(webhook.ClosedConfigurationName))
		}).WithTimeout(5 * time.Second).Should(Succeed())
	})
})
