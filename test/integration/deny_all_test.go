//go:build integration

package integration

import (
	"testing/fstest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/signalbox-dev/signalbox/preflight"
)

// denyAll refuses every job everywhere, and what it cannot be asked about as well.
const denyAll = `# METADATA
# title: nothing runs
# description: The worst set that a team can load.
# custom: {remedy: None., mode: always, failure: closed}
package signalbox.deny_all

deny contains {"path": "", "msg": "nothing runs"}
`

var _ = Describe("A set that denies everything", Ordered, ContinueOnFailure, func() {
	const closed = "webhook-closed"
	var client kubernetes.Interface
	job := func(namespace string) *unstructured.Unstructured { return sample("job.yaml", namespace, "any") }

	BeforeAll(func(ctx SpecContext) {
		address := freeAddress()
		Expect(plane.Apply(ctx, rendered("local", "127.0.0.1:9443", address))).To(Succeed())
		Expect(plane.CreateNamespace(ctx, closed, nil)).To(Succeed())
		var err error
		client, err = kubernetes.NewForConfig(plane.Config())
		Expect(err).NotTo(HaveOccurred())
		Expect(write(ctx, job(closed)).err).NotTo(HaveOccurred()) // from before
		_, stop := guard(address, fstest.MapFS{"deny_all.rego": {Data: []byte(denyAll)}})
		DeferCleanup(stop)
		Expect(write(ctx, sample("job.yaml", closed, "other"), metav1.DryRunAll).err).To(MatchError(ContainSubstring("[deny-all]")))
	})

	It("takes jobs of the system and of Signalbox", func(ctx SpecContext) {
		for _, namespace := range []string{"kube-system", "signalbox-system"} {
			Expect(write(ctx, job(namespace), metav1.DryRunAll).err).NotTo(HaveOccurred())
		}
	})

	It("lets the policies be taken away", func(ctx SpecContext) {
		maps := client.CoreV1().ConfigMaps("signalbox-system")
		_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "deny-all"}, Data: map[string]string{"a": "b"}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(maps.Delete(ctx, "deny-all", metav1.DeleteOptions{})).To(Succeed())
	})

	It("lets pods run that no job is asked about, and jobs end", func(ctx SpecContext) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "repair"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}}}
		_, err := client.CoreV1().Pods(closed).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		Expect(err).NotTo(HaveOccurred())
		objects, err := dynamic.NewForConfig(plane.Config())
		Expect(err).NotTo(HaveOccurred())
		api := objects.Resource(schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}).Namespace(closed)
		_, err = api.Patch(ctx, "any", types.MergePatchType, []byte(`{"metadata": {"annotations": {"note": "repaired"}}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(api.Delete(ctx, "any", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})).To(Succeed())
	})

	It("ends where a namespace is switched off", func(ctx SpecContext) {
		label := []byte(`{"metadata": {"labels": {"` + preflight.ModeLabel + `": "off"}}}`)
		_, err := client.CoreV1().Namespaces().Patch(ctx, closed, types.MergePatchType, label, metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() error { return write(ctx, sample("job.yaml", closed, "other"), metav1.DryRunAll).err }).Should(Succeed())
	})
})
