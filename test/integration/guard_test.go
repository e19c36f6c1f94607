//go:build integration

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing/fstest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/signalbox-dev/signalbox/certs"
	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/webhook"
)

const guardedNamespace = "webhook-guarded"

// limits allow a job of the namespace four GPUs.
const limits = "signalbox: {gpu_limit: {namespaces: {" + guardedNamespace + ": 4}}}"

// guard starts a webhook with the checks and policies that run in a cluster, and a limit of GPUs.
func guard(address string) (w *webhook.Jobs, stop func()) {
	GinkgoHelper()
	ctx, cancel := context.WithCancel(context.Background())
	config := installed(ctx, &atomic.Int64{})
	client, err := kubernetes.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	objects, err := dynamic.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	set, err := check.NewSet(checks.All()...)
	Expect(err).NotTo(HaveOccurred())
	opa, err := policies.Load(policies.Library(), fstest.MapFS{"limits.yaml": {Data: []byte(limits)}})
	Expect(err).NotTo(HaveOccurred())
	jobs := webhook.NewJobs(objects, client.Discovery(), kinds.All(), GinkgoLogr)
	hook, err := webhook.New(ctx, webhook.Options{
		Reviewer: webhook.Stages(&preflight.Reviewer{Checks: set, Policies: opa}),
		View:     enforced{}, Jobs: jobs, Address: address, Log: GinkgoLogr,
		Certificates: certs.NewAuthority(certs.Options{
			Client: client, Namespace: "signalbox-system", Secret: "signalbox-webhook-cert",
			Configurations: []string{webhook.ConfigurationName}, Hosts: []string{"127.0.0.1"}, Log: GinkgoLogr,
		}),
	})
	Expect(err).NotTo(HaveOccurred())
	ended := make(chan error, 1)
	go func() { ended <- hook.Run(ctx) }()
	probe := sample("pytorchjob.yaml", "default", "probe")
	Eventually(func() map[string]string { return write(ctx, probe.DeepCopy(), metav1.DryRunAll).audit }).Should(HaveKey("decision"))
	return jobs, func() {
		cancel()
		Eventually(ended).Should(Receive(BeNil()))
	}
}

// enforced is a cluster of four nodes whose namespaces all enforce.
type enforced struct{ fixed }

func (enforced) Namespace(string) map[string]string {
	return map[string]string{preflight.ModeLabel: preflight.ModeEnforce}
}

// withGPUs is a PyTorchJob of one Worker with so many pods of one GPU.
func withGPUs(name string, pods int) *unstructured.Unstructured {
	text := fmt.Sprintf(`{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":%q,"namespace":%q},"spec":{"pytorchReplicaSpecs":{"Worker":{
		"replicas":%d,"restartPolicy":"Never","template":{"spec":{"containers":[{"name":"pytorch","image":"registry.example.com/t:1","resources":{"limits":{"nvidia.com/gpu":"1"}}}]}}}}}}`,
		name, guardedNamespace, pods)
	u := &unstructured.Unstructured{}
	Expect(json.Unmarshal([]byte(text), &u.Object)).To(Succeed())
	return u
}

var _ = Describe("A policy that enforces", Ordered, ContinueOnFailure, func() {
	var jobs *webhook.Jobs
	denied := MatchError(And(ContainSubstring("[max-gpus-per-job]"), ContainSubstring("denied the request")))

	BeforeAll(func(ctx SpecContext) {
		address := freeAddress()
		Expect(plane.Apply(ctx, rendered("local", "127.0.0.1:9443", address))).To(Succeed())
		Expect(plane.CreateNamespace(ctx, guardedNamespace, map[string]string{preflight.ModeLabel: preflight.ModeEnforce})).To(Succeed())
		var stop func()
		jobs, stop = guard(address)
		DeferCleanup(stop)
	})

	It("denies a job whose fit takes longer than the review may", func(ctx SpecContext) {
		text, err := os.ReadFile(filepath.Join("testdata", "slow-fit.json"))
		Expect(err).NotTo(HaveOccurred())
		job := &unstructured.Unstructured{}
		Expect(json.Unmarshal(text, &job.Object)).To(Succeed())
		job.SetNamespace(guardedNamespace)
		for range 3 {
			Expect(write(ctx, job.DeepCopy(), metav1.DryRunAll).err).To(denied)
		}
	})

	It("denies a job that is padded until nobody would read it", func(ctx SpecContext) {
		notes := map[string]string{}
		for i := range 50_010 {
			notes[fmt.Sprintf("%c%c%c%c", 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26, 'a'+i/17576%26)] = ""
		}
		job := withGPUs("padded", 50)
		job.SetAnnotations(notes)
		Expect(write(ctx, job, metav1.DryRunAll).err).To(denied)

		var env []any
		for i := range 25_000 {
			env = append(env, map[string]any{"name": fmt.Sprintf("E%d", i), "value": "x"})
		}
		job = withGPUs("padded", 50)
		containers, _, _ := unstructured.NestedSlice(job.Object, "spec", "pytorchReplicaSpecs", "Worker", "template", "spec", "containers")
		containers[0].(map[string]any)["env"] = env
		Expect(unstructured.SetNestedSlice(job.Object, containers, "spec", "pytorchReplicaSpecs", "Worker", "template", "spec", "containers")).To(Succeed())
		Expect(write(ctx, job, metav1.DryRunAll).err).To(denied)
	})

	It("denies a scale that an update would be denied for", func(ctx SpecContext) {
		Expect(write(ctx, withGPUs("scaled", 4)).err).NotTo(HaveOccurred())
		Eventually(func() any {
			return jobs.Job(schema.GroupKind{Group: "kubeflow.org", Kind: "PyTorchJob"}, guardedNamespace, "scaled")
		}).ShouldNot(BeNil())
		objects, err := dynamic.NewForConfig(plane.Config())
		Expect(err).NotTo(HaveOccurred())
		api := objects.Resource(schema.GroupVersionResource{Group: "kubeflow.org", Version: "v1", Resource: "pytorchjobs"}).Namespace(guardedNamespace)
		to := func(n int) error {
			_, err := api.Patch(ctx, "scaled", types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n), metav1.PatchOptions{}, "scale")
			return err
		}
		Expect(to(60)).To(denied)
		Expect(to(3)).To(Succeed())
	})

	It("denies what a CI account makes for an owner", func(ctx SpecContext) {
		job := withGPUs("forged", 40)
		job.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "kubeflow.org/v1", Kind: "PyTorchJob", Name: "scaled", UID: "00000000-0000-0000-0000-000000000001", Controller: new(true)}})
		config := rest.CopyConfig(plane.Config())
		config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:ci:bot", Groups: []string{"system:masters"}}
		objects, err := dynamic.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		_, err = objects.Resource(schema.GroupVersionResource{Group: "kubeflow.org", Version: "v1", Resource: "pytorchjobs"}).Namespace(guardedNamespace).
			Create(ctx, job, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		Expect(err).To(denied)
	})
})

var _ = Describe("The account of Signalbox", Ordered, func() {
	const namespace, elsewhere = "account-of-jobs", "another-place"
	var job *unstructured.Unstructured

	BeforeAll(func(ctx SpecContext) {
		Expect(plane.Apply(ctx, rendered("local", "127.0.0.1:9443", freeAddress()))).To(Succeed())
		Expect(plane.CreateNamespace(ctx, namespace, map[string]string{preflight.ModeLabel: preflight.ModeOff})).To(Succeed())
		Expect(plane.CreateNamespace(ctx, elsewhere, nil)).To(Succeed())
		job = sample("pytorchjob.yaml", namespace, "bound")
		objects, err := dynamic.NewForConfig(plane.Config())
		Expect(err).NotTo(HaveOccurred())
		_, err = objects.Resource(pytorchJobs).Namespace(namespace).Create(ctx, job, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(plane.Apply(ctx, `apiVersion: v1
kind: ServiceAccount
metadata: {name: diagnoser, namespace: `+elsewhere+`}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: another-diagnoser}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: signalbox-jobs}
subjects: [{kind: ServiceAccount, name: diagnoser, namespace: `+elsewhere+`}]
`)).To(Succeed())
	})

	for _, account := range []struct{ namespace, name string }{{"signalbox-system", "signalbox"}, {elsewhere, "diagnoser"}} {
		It("changes nothing of a job but its annotations, as "+account.namespace+"/"+account.name, func(ctx SpecContext) {
			config, err := plane.ConfigFor(ctx, account.namespace, account.name)
			Expect(err).NotTo(HaveOccurred())
			objects, err := dynamic.NewForConfig(config)
			Expect(err).NotTo(HaveOccurred())
			patch := func(text string) error {
				_, err := objects.Resource(pytorchJobs).Namespace(namespace).Patch(ctx, "bound", types.MergePatchType, []byte(text), metav1.PatchOptions{})
				return err
			}
			only := MatchError(ContainSubstring("Signalbox writes only its own annotations on jobs"))
			// The policy needs a moment after it was created.
			tries := 0
			Eventually(func() error {
				tries++
				return patch(fmt.Sprintf(`{"metadata":{"labels":{"tries":"%d"}}}`, tries))
			}).Should(only)
			Expect(patch(`{"spec":{"nprocPerNode":"7"}}`)).To(only)
			Expect(patch(`{"metadata":{"finalizers":["a.example/b"]}}`)).To(only)
			Expect(patch(`{"metadata":{"annotations":{"signalbox.dev/ignore":"all"}}}`)).To(only)
			Expect(patch(`{"metadata":{"annotations":{"signalbox.dev/healthy":"Yes"}}}`)).To(Succeed())
			Expect(patch(`{"metadata":{"annotations":{"signalbox.dev/healthy":null}}}`)).To(Succeed())
		})
	}

	It("leaves administrators alone", func(ctx SpecContext) {
		objects, err := dynamic.NewForConfig(plane.Config())
		Expect(err).NotTo(HaveOccurred())
		_, err = objects.Resource(pytorchJobs).Namespace(namespace).Patch(ctx, "bound", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
	})
})

// The kinds that can be scaled are those whose CRDs say so.
var _ = It("Scale is known of every kind that has it", func(ctx SpecContext) {
	objects, err := dynamic.NewForConfig(plane.Config())
	Expect(err).NotTo(HaveOccurred())
	list, err := objects.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}).List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	seen := 0
	for _, crd := range list.Items {
		group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
		plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
		versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		for _, k := range kinds.All() {
			if k.Resource != plural || k.GVKs[0].Group != group {
				continue
			}
			for _, v := range versions {
				at, _, _ := unstructured.NestedString(v.(map[string]any), "subresources", "scale", "specReplicasPath")
				Expect(strings.TrimPrefix(at, ".")).To(Equal(k.Scale), crd.GetName())
				seen++
			}
		}
	}
	Expect(seen).To(BeNumerically(">", 3))
})
