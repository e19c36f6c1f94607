//go:build integration

package integration

import (
	"context"
	"encoding/json"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
)

var aegisDiagnosises = schema.GroupVersionResource{Group: "aegis.io", Version: "v1alpha1", Resource: "aegisdiagnosises"}

// AegisDiagnosis objects as users of Aegis write them, on the API server with the CRD of config/aegis, under
// the account and the rights of the manifests.
var _ = Describe("the answers to AegisDiagnosis objects", Ordered, func() {
	var objects dynamic.Interface

	BeforeAll(func(ctx SpecContext) {
		Expect(plane.Apply(ctx, "apiVersion: v1\nkind: Namespace\nmetadata: {name: signalbox-system}")).To(Succeed())
		Expect(plane.Apply(ctx, rendered("rbac"))).To(Succeed())
		for _, name := range []string{diagnosing, "monitoring"} {
			Expect(plane.Apply(ctx, "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+name+"}\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: default, namespace: "+name+"}")).To(Succeed())
		}
		var err error
		objects, err = dynamic.NewForConfig(plane.Config())
		Expect(err).NotTo(HaveOccurred())
		startController(context.Background(), "", func(o *controller.Options) { o.Aegis = true })
		// The CRD comes after the controller, as where the two are installed one after the other.
		Expect(plane.Apply(ctx, rendered("aegis"))).To(Succeed())
		Eventually(func() error {
			_, err := objects.Resource(aegisDiagnosises).List(ctx, metav1.ListOptions{})
			return err
		}).Should(Succeed())
	})

	// Whoever diagnoses after this looks at all jobs that there are.
	AfterAll(func(ctx SpecContext) {
		Expect(objects.Resource(pytorchJobs).Namespace(diagnosing).Delete(ctx, "aegis-oom", metav1.DeleteOptions{})).To(Succeed())
	})

	// create is one object with a spec.
	create := func(ctx context.Context, namespace, name, spec string) {
		GinkgoHelper()
		u := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "aegis.io/v1alpha1", "kind": "AegisDiagnosis", "metadata": map[string]any{"namespace": namespace, "name": name},
			// Forged: the API server drops it, because status is a subresource.
			"status": map[string]any{"phase": "Completed", "explain": "Healthy: Yes"},
		}}
		var s map[string]any
		Expect(json.Unmarshal([]byte(spec), &s)).To(Succeed())
		u.Object["spec"] = s
		_, err := objects.Resource(aegisDiagnosises).Namespace(namespace).Create(ctx, u, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
	status := func(ctx context.Context, namespace, name string) func() map[string]any {
		return func() map[string]any {
			u, err := objects.Resource(aegisDiagnosises).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return nil
			}
			s, _, _ := unstructured.NestedMap(u.Object, "status")
			return s
		}
	}

	It("are those of the rules, in Aegis' fields", func(ctx SpecContext) {
		failedJob(ctx, objects, "aegis-oom")
		create(ctx, diagnosing, "request", `{"object": {"kind": "PytorchJob", "name": "aegis-oom", "namespace": "diagnosing"}}`)
		Eventually(status(ctx, diagnosing, "request")).Should(And(
			HaveKeyWithValue("phase", "Completed"), HaveKey("startTime"), HaveKey("completionTime"), Not(HaveKey("errorResult")),
			HaveKeyWithValue("explain", MatchRegexp(`^Healthy: No\nError: .*went over its memory limit.*\nAnalysis: .+\nSolution: 1\. .+\n$`)),
			HaveKeyWithValue("result", And(
				HaveKeyWithValue("status", "UnHealthy"), HaveKeyWithValue("failures", ContainElement(ContainSubstring("went over its memory limit"))),
				HaveKeyWithValue("infos", ContainElement(HavePrefix("pods: 2 expected, 1 seen"))),
			)),
		))
		Eventually(func() []string { return eventsOn(ctx, "request") }).Should(Equal([]string{"Normal Succeeded"}))
		columns, err := plane.Kubectl(ctx, "get", "aegisdiagnosis", "request", "-n", diagnosing)
		Expect(err).NotTo(HaveOccurred())
		Expect(columns).To(MatchRegexp(`(?m)^NAME +PHASE +AGE\nrequest +Completed +\d+s$`))
	})

	DescribeTable("say why there is none", func(ctx SpecContext, name, namespace, spec, why string) {
		create(ctx, namespace, name, spec)
		Eventually(status(ctx, namespace, name)).Should(And(
			HaveKeyWithValue("phase", "Failed"), HaveKeyWithValue("errorResult", ContainSubstring(why)), Not(HaveKey("explain")), Not(HaveKey("result"))))
		Eventually(func() []string { return eventsIn(ctx, namespace, name) }).Should(Equal([]string{"Warning Failed"}))
	},
		Entry("of another namespace", "elsewhere", "monitoring", `{"object": {"kind": "PytorchJob", "name": "aegis-oom", "namespace": "diagnosing"}}`,
			`an AegisDiagnosis is answered about jobs of its own namespace, "monitoring"`),
		Entry("of a node", "node", "monitoring", `{"object": {"kind": "Node", "name": "gpu-1"}}`, `spec.object.kind is "Node"`),
		Entry("without a name", "nameless", "monitoring", `{"object": {"kind": "PytorchJob"}}`, "spec.object.name is empty"),
		Entry("of a job that is not there", "nobody", "monitoring", `{"object": {"kind": "PytorchJob", "name": "nobody"}}`, "PyTorchJob monitoring/nobody does not exist"),
		Entry("within no time", "never", "monitoring", `{"object": {"kind": "PytorchJob", "name": "nobody"}, "timeout": "soon"}`, `spec.timeout "soon" is no duration`),
		Entry("within too short a time", "at-once", diagnosing, `{"object": {"kind": "PytorchJob", "name": "aegis-oom"}, "timeout": "1ns"}`, "the diagnosis took longer than 1ns"),
	)

	It("are given again where somebody else wrote one", func(ctx SpecContext) {
		create(ctx, diagnosing, "forged", `{"object": {"kind": "PyTorchJob", "name": "aegis-oom"}}`)
		Eventually(status(ctx, diagnosing, "forged")).Should(HaveKeyWithValue("phase", "Completed"))
		api := objects.Resource(aegisDiagnosises).Namespace(diagnosing)
		By("not taking what whoever may write the object writes")
		_, err := api.Patch(ctx, "forged", types.MergePatchType, []byte(`{"status": {"explain": "Healthy: Yes"}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(status(ctx, diagnosing, "forged")()).To(HaveKeyWithValue("explain", HavePrefix("Healthy: No")))
		By("not believing what somebody with a right to the status writes")
		forged := `{"status": {"explain": "Healthy: Yes", "errorResult": "none", "result": {"failures": [], "infos": ["all is well"]}}}`
		_, err = api.Patch(ctx, "forged", types.MergePatchType, []byte(forged), metav1.PatchOptions{FieldManager: "somebody"}, "status")
		Expect(err).NotTo(HaveOccurred())
		Eventually(status(ctx, diagnosing, "forged")).Should(And(
			HaveKeyWithValue("phase", "Completed"), HaveKeyWithValue("explain", HavePrefix("Healthy: No")), Not(HaveKey("errorResult"))))
		By("resting then")
		version := func() string {
			u, err := api.Get(ctx, "forged", metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			return u.GetResourceVersion()
		}
		now := version()
		Consistently(version).WithTimeout(2 * time.Second).Should(Equal(now))
	})

	It("live as long as the object says, from when they were given", func(ctx SpecContext) {
		create(ctx, diagnosing, "short", `{"object": {"kind": "PytorchJob", "name": "aegis-oom"}, "ttlStrategy": {"secondsAfterSuccess": 2, "secondsAfterFailure": 3600}}`)
		create(ctx, "monitoring", "long", `{"object": {"kind": "Node", "name": "gpu-1"}, "ttlStrategy": {"secondsAfterSuccess": 2, "secondsAfterFailure": 3600}}`)
		Eventually(status(ctx, diagnosing, "short")).Should(HaveKeyWithValue("phase", "Completed"))
		Eventually(func() bool {
			_, err := objects.Resource(aegisDiagnosises).Namespace(diagnosing).Get(ctx, "short", metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		}).WithTimeout(10 * time.Second).Should(BeTrue())
		Expect(status(ctx, "monitoring", "long")()).To(HaveKeyWithValue("phase", "Failed"))
	})
})
