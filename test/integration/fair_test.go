//go:build integration

package integration

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
)

var _ = Describe("Jobs of one namespace that failed together", Ordered, func() {
	const jobs = 60

	// Diagnoses are made anew after a leader was away: those of all jobs that failed meanwhile wait at once.
	It("do not have a job of another wait for all of them", func(ctx SpecContext) {
		Expect(plane.Apply(ctx, "apiVersion: v1\nkind: Namespace\nmetadata: {name: signalbox-system}")).To(Succeed())
		Expect(plane.Apply(ctx, rendered("rbac"))).To(Succeed())
		config := plane.Config()
		config.QPS = -1
		objects, err := dynamic.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		in := func(namespace string) dynamic.ResourceInterface {
			return objects.Resource(pytorchJobs).Namespace(namespace)
		}
		fails := func(namespace, name string) {
			GinkgoHelper()
			u := withGPUs(name, 1)
			u.SetNamespace(namespace)
			_, err := in(namespace).Create(ctx, u, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			conditionIn(ctx, in(namespace), name, "Failed", "PyTorchJobFailed")
		}
		for _, namespace := range []string{"fair-many", "fair-one"} {
			Expect(plane.CreateNamespace(ctx, namespace, nil)).To(Succeed())
			DeferCleanup(func(ctx SpecContext) error {
				return in(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
			})
		}
		for i := range jobs {
			fails("fair-many", fmt.Sprint("of-many-", i))
		}
		fails("fair-one", "one")

		running, stop := context.WithCancel(ctx)
		defer stop()
		startController(running, "")
		Eventually(annotationsIn(ctx, in("fair-one"), "one")).WithTimeout(time.Minute).Should(HaveKey(controller.Healthy))
		all, err := in("fair-many").List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		said := 0
		for _, u := range all.Items {
			if u.GetAnnotations()[controller.Healthy] != "" {
				said++
			}
		}
		AddReportEntry("of the others had their diagnosis before", said)
		Expect(said).To(BeNumerically("<=", 12)) // one each, and what is written in the same moment
	})
})
