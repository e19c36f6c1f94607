//go:build integration

package integration

import (
	"context"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
	"github.com/signalbox-dev/signalbox/test/cluster"
)

// colossal is served in a version that it is not stored in, so that every list of it is converted.
const colossal = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: colossalaijobs.batch.tensorstack.dev}
spec:
  group: batch.tensorstack.dev
  scope: Namespaced
  names: {kind: ColossalAIJob, plural: colossalaijobs, singular: colossalaijob, listKind: ColossalAIJobList}
  versions:
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  - {name: v9, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

var (
	colossalJobs = schema.GroupVersionResource{Group: "batch.tensorstack.dev", Version: "v1beta1", Resource: "colossalaijobs"}
	definitions  = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// One operator's conversion webhook is down: nothing of its kind can be read, for as long as that lasts.
var _ = Describe("a kind that cannot be listed", Ordered, func() {
	const namespace = "beside"
	var objects dynamic.Interface

	convert := func(ctx context.Context, conversion string) {
		GinkgoHelper()
		_, err := objects.Resource(definitions).Patch(ctx, "colossalaijobs.batch.tensorstack.dev", types.MergePatchType, []byte(`{"spec":{"conversion":`+conversion+`}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
	}

	BeforeAll(func(ctx SpecContext) {
		Expect(plane.Apply(ctx, "apiVersion: v1\nkind: Namespace\nmetadata: {name: signalbox-system}")).To(Succeed())
		Expect(plane.Apply(ctx, rendered("rbac"))).To(Succeed())
		Expect(plane.CreateNamespace(ctx, namespace, nil)).To(Succeed())
		var err error
		objects, err = dynamic.NewForConfig(plane.Config())
		Expect(err).NotTo(HaveOccurred())
		Expect(plane.Apply(ctx, colossal)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) error {
			convert(ctx, `{"strategy":"None","webhook":null}`) // or it does not go
			return objects.Resource(definitions).Delete(ctx, "colossalaijobs.batch.tensorstack.dev", metav1.DeleteOptions{})
		})
	})

	It("holds up no other, and is looked at as soon as it can be", func(ctx SpecContext) {
		broken, err := createIn(ctx, objects, colossalJobs, sample("colossalaijob.yaml", namespace, "broken"))
		Expect(err).NotTo(HaveOccurred())
		convert(ctx, `{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://127.0.0.1:1/convert"}}}`)
		Eventually(func() error {
			_, err := objects.Resource(colossalJobs).List(ctx, metav1.ListOptions{})
			return err
		}).ShouldNot(Succeed())

		startController(context.Background(), "")
		created, err := createIn(ctx, objects, pytorchJobs, sample("pytorchjob.yaml", namespace, "well"))
		Expect(err).NotTo(HaveOccurred())
		well := objects.Resource(pytorchJobs).Namespace(namespace)
		conditionIn(ctx, well, "well", "Running", "PyTorchJobRunning")
		runs := func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }
		pod := createPod(ctx, created, "master", runs)
		createPod(ctx, created, "worker", runs)
		touchIn(ctx, well, "well", controller.Ask, "now") // whoever is answered knows that the kind is watched
		Eventually(annotationsIn(ctx, well, "well")).Should(HaveKey(controller.Diagnosis))

		By("pods of the broken kind, and then one of the other that fails")
		for _, role := range []string{"master", "worker", "launcher", "more", "most"} {
			createPod(ctx, broken, role, killed)
		}
		// The answer to whoever asked is looked at once more after two seconds, whatever happens.
		Consistently(annotationsIn(ctx, well, "well")).WithTimeout(4 * time.Second).ShouldNot(HaveKeyWithValue(controller.Healthy, "No"))
		setStatus(ctx, pod, killed)
		Eventually(annotationsIn(ctx, well, "well")).WithTimeout(15 * time.Second).Should(HaveKeyWithValue(controller.Healthy, "No"))

		By("the webhook coming back")
		convert(ctx, `{"strategy":"None","webhook":null}`)
		touchIn(ctx, objects.Resource(colossalJobs).Namespace(namespace), "broken", controller.Ask, "now")
		Eventually(annotationsIn(ctx, objects.Resource(colossalJobs).Namespace(namespace), "broken")).WithTimeout(90 * time.Second).Should(HaveKey(controller.Diagnosis))
	})
})

// Webhook and controller of one process look at jobs together, each kind by itself.
var _ = Describe("a process with webhook and controller", Ordered, func() {
	const namespace = "together-both"
	var objects dynamic.Interface
	var address, program string

	// watches are those of PyTorchJobs that the API server has open.
	watches := func(ctx context.Context) (n int) {
		GinkgoHelper()
		text, err := plane.Clientset().Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
		Expect(err).NotTo(HaveOccurred())
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "apiserver_longrunning_requests{") && strings.Contains(line, `resource="pytorchjobs"`) && strings.Contains(line, `verb="WATCH"`) {
				of, err := strconv.Atoi(strings.TrimSpace(line[strings.LastIndexByte(line, ' '):]))
				Expect(err).NotTo(HaveOccurred())
				n += of
			}
		}
		return n
	}
	fails := func(ctx context.Context, name string) {
		GinkgoHelper()
		job, err := createIn(ctx, objects, pytorchJobs, sample("pytorchjob.yaml", namespace, name))
		Expect(err).NotTo(HaveOccurred())
		createPod(ctx, job, "master", killed)
		Eventually(annotationsIn(ctx, objects.Resource(pytorchJobs).Namespace(namespace), name)).WithTimeout(45 * time.Second).Should(HaveKeyWithValue(controller.Healthy, "No"))
	}

	BeforeAll(func(ctx SpecContext) {
		var err error
		program, err = gexec.Build("github.com/signalbox-dev/signalbox/cmd/signalbox")
		Expect(err).NotTo(HaveOccurred())
		address = freeAddress()
		Expect(plane.Apply(ctx, rendered("local", "127.0.0.1:9443", address))).To(Succeed())
		Expect(plane.CreateNamespace(ctx, namespace, nil)).To(Succeed())
		objects, err = dynamic.NewForConfig(plane.Config())
		Expect(err).NotTo(HaveOccurred())
	})

	It("watches each kind once, and one that cannot be listed or comes later holds up no other", func(ctx SpecContext) {
		before := watches(ctx)
		first := start(ctx, program, address)
		fails(ctx, "first")
		Expect(watches(ctx)).To(Equal(before + 1))

		By("a kind that comes later, and cannot be listed")
		Expect(plane.Apply(ctx, colossal)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) error {
			return objects.Resource(definitions).Delete(ctx, "colossalaijobs.batch.tensorstack.dev", metav1.DeleteOptions{})
		})
		_, err := createIn(ctx, objects, colossalJobs, sample("colossalaijob.yaml", namespace, "broken"))
		Expect(err).NotTo(HaveOccurred())
		convert := func(conversion string) {
			GinkgoHelper()
			_, err := objects.Resource(definitions).Patch(ctx, "colossalaijobs.batch.tensorstack.dev", types.MergePatchType, []byte(`{"spec":{"conversion":`+conversion+`}}`), metav1.PatchOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
		convert(`{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://127.0.0.1:1/convert"}}}`)
		Consistently(func() error { return cluster.Answers(ctx, "http://"+first.health+"/readyz") }).WithTimeout(5 * time.Second).Should(Succeed())
		fails(ctx, "second")
		convert(`{"strategy":"None","webhook":null}`)
		broken := objects.Resource(colossalJobs).Namespace(namespace)
		touchIn(ctx, broken, "broken", controller.Ask, "now")
		Eventually(annotationsIn(ctx, broken, "broken")).WithTimeout(2 * time.Minute).Should(HaveKey(controller.Diagnosis))

		By("another replica, which leads when the first one has gone")
		second := start(ctx, program, freeAddress())
		Eventually(func() int { return watches(ctx) }).WithTimeout(30 * time.Second).Should(Equal(before + 2))
		first.session.Terminate()
		Eventually(first.session).WithTimeout(30 * time.Second).Should(gexec.Exit(0))
		fails(ctx, "third")
		Expect(watches(ctx)).To(Equal(before + 1))
		Expect(cluster.Answers(ctx, "http://"+second.health+"/readyz")).To(Succeed())
	})
})

// killed is a pod whose container the kernel ended for memory.
func killed(p *corev1.Pod) {
	p.Status = corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "pytorch", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled", FinishedAt: metav1.Now()}},
	}}}
}

// createIn waits until the API server serves the kind.
func createIn(ctx context.Context, objects dynamic.Interface, of schema.GroupVersionResource, u *unstructured.Unstructured) (created *unstructured.Unstructured, err error) {
	GinkgoHelper()
	Eventually(func() error {
		created, err = objects.Resource(of).Namespace(u.GetNamespace()).Create(ctx, u, metav1.CreateOptions{})
		return err
	}).Should(Succeed())
	return created, err
}

// touchIn writes one annotation as somebody else.
func touchIn(ctx context.Context, of dynamic.ResourceInterface, name, key, value string) {
	GinkgoHelper()
	Eventually(func() error {
		_, err := of.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+key+`":"`+value+`"}}}`), metav1.PatchOptions{FieldManager: "somebody"})
		return err
	}).Should(Succeed())
}
