//go:build integration

package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
)

// What a platform team leaves behind, and what somebody does all the time.
var _ = Describe("A platform that is kept carelessly", Ordered, ContinueOnFailure, func() {
	const namespace, canary = "careless", "canary-7f3b91c2d4"
	var p *process
	var jobs dynamic.ResourceInterface
	failed := func(ctx context.Context, name string) *unstructured.Unstructured {
		GinkgoHelper()
		u := withGPUs(name, 1)
		u.SetNamespace(namespace)
		u.SetAnnotations(map[string]string{"team.example/token": canary})
		Expect(unstructured.SetNestedSlice(u.Object, []any{map[string]any{
			"name": "pytorch", "image": "registry.example.com/t:1", "command": []any{"train", "--token=" + canary}, "env": []any{map[string]any{"name": "HF_TOKEN", "value": canary}},
		}}, "spec", "pytorchReplicaSpecs", "Worker", "template", "spec", "containers")).To(Succeed())
		u, err := jobs.Create(ctx, u, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		conditionIn(ctx, jobs, name, "Failed", "PyTorchJobFailed")
		Eventually(annotationsIn(ctx, jobs, name)).WithTimeout(time.Minute).Should(HaveKey(controller.Healthy))
		return u
	}

	BeforeAll(func(ctx SpecContext) {
		program, err := gexec.Build("github.com/signalbox-dev/signalbox/cmd/signalbox")
		Expect(err).NotTo(HaveOccurred())
		address := freeAddress()
		Expect(plane.Apply(ctx, rendered("local", "127.0.0.1:9443", address))).To(Succeed())
		Expect(plane.CreateNamespace(ctx, namespace, map[string]string{"signalbox.dev/llm": "enabled"})).To(Succeed())
		By("an APIService of a group of jobs, for which nobody answers")
		const left, group = "v1beta1.batch.tensorstack.dev", "batch.tensorstack.dev/v1beta1"
		// Where the CRDs of the group are in the cluster already, the API server keeps this APIService itself, and undoes what is
		// written over it unless its label says that it is somebody's own (autoregister_controller.go of kube-aggregator).
		const managed = "kube-aggregator.kubernetes.io/automanaged"
		answer := func() string {
			_, err := plane.Clientset().Discovery().ServerResourcesForGroupVersion(group)
			return fmt.Sprint(err)
		}
		Expect(plane.Apply(ctx, `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: `+left+`, labels: {`+managed+`: "false"}}
spec: {group: batch.tensorstack.dev, version: v1beta1, groupPriorityMinimum: 1000, versionPriority: 10, insecureSkipTLSVerify: true, service: {namespace: default, name: gone}}
`)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			_, err := plane.Kubectl(ctx, "label", "--overwrite", "apiservice", left, managed+"=true")
			Expect(err).NotTo(HaveOccurred())
			Eventually(answer).ShouldNot(ContainSubstring("unable to handle the request"))
		})
		Eventually(answer).Should(ContainSubstring("unable to handle the request"))
		secret := filepath.Join(GinkgoT().TempDir(), "secret")
		Expect(os.WriteFile(secret, []byte(canary), 0o600)).To(Succeed())
		hook := filepath.Join(GinkgoT().TempDir(), "hook")
		Expect(os.WriteFile(hook, []byte("http://127.0.0.1:1/services/"+canary), 0o600)).To(Succeed())
		p = start(ctx, program, address, fmt.Sprintf(`
log: {level: debug}
llm: {provider: openai, baseURL: "http://127.0.0.1:1/v1", model: m, apiKeyFile: %[1]q, headers: {X-Api-Key: %[2]q}}
tracing: {endpoint: "http://127.0.0.1:1/v1/traces", sample: 1, tokenFile: %[1]q}
notifications: {receivers: [{name: slack, form: slack, urlFile: %[3]q, tokenFile: %[1]q}]}
diagnosis: {running: {every: 1s, prometheus: {url: "http://ada:%[2]s@127.0.0.1:1", tokenFile: %[1]q, idleFor: 1m}}}`, secret, canary, hook))
		objects, err := dynamic.NewForConfig(plane.Config())
		Expect(err).NotTo(HaveOccurred())
		jobs = objects.Resource(pytorchJobs).Namespace(namespace)
	})

	It("is ready, and diagnoses jobs of other groups", func(ctx SpecContext) { failed(ctx, "beside-it") })

	It("has a job written less and less often that somebody else writes all the time, and its failure told once", func(ctx SpecContext) {
		u := failed(ctx, "fought-over")
		told := func() (n int) {
			for _, e := range eventsIn(ctx, namespace, "fought-over") {
				if e == "Warning "+controller.DiagnosisChanged {
					n++
				}
			}
			return n
		}
		Eventually(told).Should(Equal(1))
		before := patches(u)
		theirs := 0
		for until := time.Now().Add(15 * time.Second); time.Now().Before(until); theirs++ {
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"{}",%q:"%d"}}}`, controller.Diagnosis, controller.Error, theirs)
			_, err := jobs.Patch(ctx, "fought-over", types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "gitops"})
			Expect(err).NotTo(HaveOccurred())
		}
		ours := patches(u) - before
		AddReportEntry("written by others, by us", fmt.Sprint(theirs, " ", ours))
		Expect(ours).To(BeNumerically("<=", 8))
		Expect(told()).To(Equal(1))
	})

	It("finds none of its secrets, nor those of jobs, in the log at its highest level", func() {
		log := string(p.session.Err.Contents()) + string(p.session.Out.Contents())
		Expect(log).To(ContainSubstring("DEBUG"))
		Expect(log).To(ContainSubstring("a notification is not delivered"))
		Expect(log).NotTo(ContainSubstring(canary))
	})
})
