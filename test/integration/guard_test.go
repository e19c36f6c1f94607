//go:build integration

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing/fstest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/signalbox-dev/signalbox/certs"
	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/policies/oci"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/keep"
	"github.com/signalbox-dev/signalbox/webhook"
)

const guardedNamespace = "webhook-guarded"

// limits allow a job of the namespace four GPUs.
const limits = "signalbox: {gpu_limit: {namespaces: {" + guardedNamespace + ": 4}}}"

// guard starts a webhook with the checks and policies that run in a cluster, a limit of GPUs, and more policies.
func guard(address string, more ...fs.FS) (w *webhook.Jobs, stop func()) {
	GinkgoHelper()
	ctx, cancel := context.WithCancel(context.Background())
	config := installed(ctx, &atomic.Int64{})
	client, err := kubernetes.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	objects, err := dynamic.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	set, err := check.NewSet(checks.All()...)
	Expect(err).NotTo(HaveOccurred())
	opa, err := policies.Load(append(more, policies.Library(), fstest.MapFS{"limits.yaml": {Data: []byte(limits)}})...)
	Expect(err).NotTo(HaveOccurred())
	jobs := webhook.NewJobs(live.Clients{Kube: client, Dynamic: objects, Discovery: client.Discovery()}, kinds.All(), webhook.Others{}, GinkgoLogr)
	hook, err := webhook.New(ctx, webhook.Options{
		Reviewer: webhook.Stages(&preflight.Reviewer{Checks: set, Policies: opa}),
		View:     enforced{}, Jobs: jobs, Address: address, Log: GinkgoLogr,
		Operators: []string{"system:serviceaccount:mpi-operator:mpi-operator", "system:serviceaccount:jobset-system:jobset-controller-manager"}, MayWriteStatus: webhook.MayWriteStatus(client),
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

var _ = Describe("The account of Signalbox", Ordered, ContinueOnFailure, func() {
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

	It("changes no job by another way", func(ctx SpecContext) {
		Expect(plane.Apply(ctx, crd("batch.tensorstack.dev", "v1beta1", "deepspeedjobs", "DeepSpeedJob", "Namespaced"))).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			_, err := plane.Kubectl(ctx, "delete", "crd", "deepspeedjobs.batch.tensorstack.dev")
			Expect(err).NotTo(HaveOccurred())
		})
		all, err := dynamic.NewForConfig(plane.Config())
		Expect(err).NotTo(HaveOccurred())
		withoutStatus := sample("deepspeedjob.yaml", namespace, "bound")
		speeds := withoutStatus.GroupVersionKind().GroupVersion().WithResource("deepspeedjobs")
		Eventually(func() error {
			_, err := all.Resource(speeds).Namespace(namespace).Create(ctx, withoutStatus, metav1.CreateOptions{})
			return err
		}).Should(Succeed())
		config, err := plane.ConfigFor(ctx, "signalbox-system", "signalbox")
		Expect(err).NotTo(HaveOccurred())
		mine, err := dynamic.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		jobs := mine.Resource(pytorchJobs).Namespace(namespace)
		merge := func(at dynamic.ResourceInterface, text string, sub ...string) error {
			_, err := at.Patch(ctx, "bound", types.MergePatchType, []byte(text), metav1.PatchOptions{}, sub...)
			return err
		}
		apply := func(name, fields string) error {
			_, err := jobs.Patch(ctx, name, types.ApplyPatchType, fmt.Appendf(nil, `{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":%q%s`, name, fields), metav1.PatchOptions{FieldManager: "thief", Force: new(true)})
			return err
		}
		forbidden := MatchError(ContainSubstring("is forbidden"))
		for _, key := range []string{"signalbox.devil/healthy", "x.signalbox.dev/healthy", "signalbox.dev/ask", "signalbox.dev/ignore-reason", "signalbox.dev/Healthy", "healthy", "kueue.x-k8s.io/queue-name"} {
			Expect(merge(jobs, fmt.Sprintf(`{"metadata":{"annotations":{%q:"x"}}}`, key))).To(forbidden, key)
			Expect(apply("bound", fmt.Sprintf(`,"annotations":{%q:"x"}}}`, key))).To(forbidden, key)
		}
		Expect(apply("bound", `,"labels":{"a":"c"}}}`)).To(forbidden)
		Expect(apply("bound", `,"finalizers":["a.example/b"]}}`)).To(forbidden)
		Expect(apply("bound", `,"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"x","uid":"u"}]}}`)).To(forbidden)
		Expect(apply("bound", `},"spec":{"runPolicy":{"suspend":true}}}`)).To(forbidden)
		Expect(apply("another", `}}`)).To(forbidden)
		Expect(merge(jobs, `{"status":{"conditions":[]}}`, "status")).To(forbidden)
		Expect(merge(jobs, `{"spec":{"replicas":0}}`, "scale")).To(forbidden)
		Expect(jobs.Delete(ctx, "bound", metav1.DeleteOptions{})).To(forbidden)
		Expect(jobs.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})).To(forbidden)
		_, err = jobs.Create(ctx, sample("pytorchjob.yaml", namespace, "made"), metav1.CreateOptions{})
		Expect(err).To(forbidden)
		By("the status of a kind whose CRD keeps it beside the spec")
		Expect(merge(mine.Resource(speeds).Namespace(namespace), `{"status":{"phase":"Succeeded"}}`)).To(forbidden)
		Expect(merge(mine.Resource(speeds).Namespace(namespace), `{"metadata":{"annotations":{"signalbox.dev/healthy":"Yes"}}}`)).To(Succeed())
	})

	It("writes no ConfigMap by which somebody else is obeyed", func(ctx SpecContext) {
		const system = "signalbox-system"
		make := func(namespace, name string, labels map[string]string) {
			GinkgoHelper()
			_, err := plane.Clientset().CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Data: map[string]string{"key": "value"},
			}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(func(ctx SpecContext) {
				Expect(plane.Clientset().CoreV1().ConfigMaps(namespace).Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
			})
		}
		policy, evidence := map[string]string{webhook.PolicyLabel: "true"}, map[string]string{keep.Label: "true"}
		make(system, "rules-of-operators", policy)
		make(system, "words-of-operators", nil)
		make(namespace, "of-somebody", nil)
		make(namespace, keep.Prefix+"of-somebody", nil)
		config, err := plane.ConfigFor(ctx, system, "signalbox")
		Expect(err).NotTo(HaveOccurred())
		mine, err := kubernetes.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		write := func(namespace, name string, labels map[string]string) error {
			_, err := mine.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		}
		patch := func(namespace, name, text string) error {
			_, err := mine.CoreV1().ConfigMaps(namespace).Patch(ctx, name, types.MergePatchType, []byte(text), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		}
		forbidden := MatchError(ContainSubstring("is forbidden"))
		labelled := func(key string) string { return fmt.Sprintf(`{"metadata":{"labels":{%q:"true"}}}`, key) }
		By("beside jobs")
		Eventually(func() error { return write(namespace, "anything", evidence) }).Should(forbidden) // the policy needs a moment
		Expect(write("kube-system", "anything", evidence)).To(forbidden)
		Expect(write(namespace, keep.Prefix+"x", nil)).To(forbidden)
		Expect(write(namespace, keep.Prefix+"x", evidence)).To(Succeed())
		for _, text := range []string{labelled(keep.Label), `{"data":{"key":"forged"}}`, `{"binaryData":{"k":"eA=="}}`, `{"immutable":true}`} {
			Expect(patch(namespace, "of-somebody", text)).To(forbidden, text)
			Expect(patch(namespace, keep.Prefix+"of-somebody", text)).To(forbidden, text)
		}
		Expect(mine.CoreV1().ConfigMaps(namespace).Delete(ctx, "of-somebody", metav1.DeleteOptions{})).To(forbidden)
		By("where operators keep what it obeys")
		for _, key := range []string{webhook.PolicyLabel, controller.SignatureLabel} {
			Expect(write(system, "forged", map[string]string{key: "true"})).To(forbidden, key)
			Expect(write(system, webhook.ReviewedName, map[string]string{key: "true"})).To(forbidden, key)
			Expect(write(system, keep.Prefix+"x", map[string]string{key: "true", keep.Label: "true"})).To(forbidden, key)
			Expect(patch(system, "words-of-operators", labelled(key))).To(forbidden, key)
		}
		Expect(write(system, "forged", nil)).To(forbidden)
		for _, text := range []string{
			`{"data":{"key":"forged"}}`, `{"data":null}`, `{"binaryData":{"k":"eA=="}}`, `{"immutable":true}`, `{"metadata":{"labels":null}}`,
			`{"metadata":{"annotations":{"other":"x"}}}`, `{"metadata":{"finalizers":["a.example/b"]}}`, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"x","uid":"u"}]}}`,
		} {
			if !strings.Contains(text, "labels") {
				Expect(patch(system, "words-of-operators", text)).To(forbidden, text)
			}
			Expect(patch(system, "rules-of-operators", text)).To(forbidden, text)
		}
		Expect(mine.CoreV1().ConfigMaps(system).Delete(ctx, "words-of-operators", metav1.DeleteOptions{})).To(forbidden)
		By("what is its own to write")
		for _, name := range []string{webhook.ReviewedName, "signalbox-model", oci.StatusName} {
			Expect(write(system, name, map[string]string{webhook.PolicyLabel: oci.StatusMark})).To(Or(Succeed(), MatchError(apierrors.IsAlreadyExists, "it is there")), name)
		}
		Expect(patch(system, "rules-of-operators", fmt.Sprintf(`{"metadata":{"annotations":{%q:"x"}}}`, webhook.PolicyErrorAnnotation))).To(Succeed())
		Expect(write(system, keep.Prefix+"x", evidence)).To(Succeed())
	})

	It("touches nothing else of others", func(ctx SpecContext) {
		config, err := plane.ConfigFor(ctx, "signalbox-system", "signalbox")
		Expect(err).NotTo(HaveOccurred())
		mine, err := kubernetes.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		forbidden := MatchError(ContainSubstring("is forbidden"))
		dry := metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "kube-scheduler"}}
		for _, place := range []string{"kube-system", "kube-node-lease", namespace} {
			_, err = mine.CoordinationV1().Leases(place).Create(ctx, lease, metav1.CreateOptions{})
			Expect(err).To(forbidden, place)
		}
		_, err = mine.CoordinationV1().Leases("signalbox-system").Patch(ctx, "other", types.MergePatchType, []byte(`{}`), dry)
		Expect(err).To(forbidden)
		for _, place := range []string{"kube-system", namespace} {
			_, err = mine.CoreV1().Events(place).Create(ctx, &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{})
			Expect(err).To(forbidden, place)
			_, err = mine.EventsV1().Events(place).Patch(ctx, "x", types.MergePatchType, []byte(`{}`), dry)
			Expect(err).To(forbidden, place)
			_, err = mine.CoreV1().Secrets(place).List(ctx, metav1.ListOptions{})
			Expect(err).To(forbidden, place)
			_, err = mine.CoreV1().ConfigMaps(place).List(ctx, metav1.ListOptions{})
			Expect(err).To(forbidden, place)
		}
		_, err = mine.AdmissionregistrationV1().ValidatingWebhookConfigurations().Patch(ctx, "cert-manager-webhook", types.MergePatchType, []byte(`{"webhooks":null}`), dry)
		Expect(err).To(forbidden)
		_, err = mine.AdmissionregistrationV1().ValidatingAdmissionPolicies().Patch(ctx, "signalbox-jobs", types.MergePatchType, []byte(`{}`), dry)
		Expect(err).To(forbidden)
		_, err = mine.CoreV1().Secrets("signalbox-system").Get(ctx, "of-somebody", metav1.GetOptions{})
		Expect(err).To(forbidden)
		_, err = mine.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{})
		Expect(err).To(forbidden)
		_, err = mine.CoreV1().ServiceAccounts("signalbox-system").CreateToken(ctx, "signalbox", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		Expect(err).To(forbidden)
	})

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
