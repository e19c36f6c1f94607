//go:build integration

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	sigyaml "sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight"
	operators "github.com/signalbox-dev/signalbox/test/cluster"
	"github.com/signalbox-dev/signalbox/webhook"
)

// What authors may try against a limit of four GPUs; testdata/attacks.yaml says of each what has to come of it.
var _ = Describe("An author who wants more GPUs than a job may have", Ordered, ContinueOnFailure, func() {
	const expect = "example.com/expect"
	var jobs *webhook.Jobs
	var attacks []*unstructured.Unstructured
	denied := MatchError(And(ContainSubstring("[max-gpus-per-job]"), ContainSubstring("denied the request")))

	replaced := map[string]string{
		"PAD":  "[" + strings.Repeat(`"",`, 60_000) + `""]`,
		"DEEP": strings.Repeat("{a: ", 150) + "1" + strings.Repeat("}", 150),
		"KEYS": "{" + func() string {
			var b strings.Builder
			for i := range 30_000 {
				fmt.Fprintf(&b, "a%d: b, ", i)
			}
			return b.String()
		}() + "z: z}",
	}
	text, err := os.ReadFile(filepath.Join("testdata", "attacks.yaml"))
	if err != nil {
		panic(err)
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		for word, by := range replaced {
			document = strings.ReplaceAll(document, ": "+word, ": "+by)
		}
		u := &unstructured.Unstructured{}
		if err := sigyaml.Unmarshal([]byte(document), &u.Object); err != nil {
			panic(err)
		}
		u.SetNamespace(guardedNamespace)
		attacks = append(attacks, u)
	}

	BeforeAll(func(ctx SpecContext) {
		Expect(plane.InstallCRDs(ctx, operators.KubeRay|operators.LeaderWorkerSet, filepath.Join("..", "cluster", "crds", "frameworks.frameworkcontroller.microsoft.com.yaml"))).To(Succeed())
		address := freeAddress()
		Expect(plane.Apply(ctx, rendered("local", "127.0.0.1:9443", address))).To(Succeed())
		_ = plane.CreateNamespace(ctx, guardedNamespace, map[string]string{preflight.ModeLabel: preflight.ModeEnforce}) // another spec may have made it
		var stop func()
		jobs, stop = guard(address)
		DeferCleanup(stop)
	})

	for _, u := range attacks {
		It("is "+u.GetAnnotations()[expect]+" "+u.GetName(), func(ctx SpecContext) {
			got := write(ctx, u.DeepCopy(), metav1.DryRunAll)
			switch u.GetAnnotations()[expect] {
			case "denied":
				Expect(got.err).To(denied, strings.Join(got.warnings, "\n"))
			case "undecided":
				Expect(got.err).NotTo(HaveOccurred())
				Expect(got.audit["not-checked"]).To(ContainSubstring("max-gpus-per-job"))
			default:
				Expect(got.err).NotTo(HaveOccurred())
				Expect(got.audit).NotTo(HaveKey("not-checked"))
			}
		})
	}

	// 2.8 MB: of a processor that has no time it is admitted undecided, which is said each time.
	It("is never admitted in silence with as many terms of affinity as a request holds", func(ctx SpecContext) {
		var terms []any
		for i := range 20_000 {
			terms = append(terms, map[string]any{"topologyKey": "kubernetes.io/hostname", "labelSelector": map[string]any{"matchExpressions": []any{
				map[string]any{"key": fmt.Sprint("k", i), "operator": "In", "values": []any{fmt.Sprint("v", i), fmt.Sprint("w", i)}},
			}}})
		}
		u := withGPUs("many-terms", 60)
		Expect(unstructured.SetNestedSlice(u.Object, terms, "spec", "pytorchReplicaSpecs", "Worker", "template", "spec",
			"affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution")).To(Succeed())
		undecided := 0
		Eventually(func() error {
			got := write(ctx, u.DeepCopy(), metav1.DryRunAll)
			if got.err == nil && !got.open {
				Expect(got.audit["not-checked"]).To(ContainSubstring("max-gpus-per-job"))
				undecided++
			}
			return got.err
		}).WithTimeout(time.Minute).Should(denied)
		AddReportEntry("admitted undecided before", undecided)
	})

	It("is denied each way to another number of pods", func(ctx SpecContext) {
		heard := &warnings{}
		config := rest.CopyConfig(plane.Config())
		config.WarningHandler = heard
		objects, err := dynamic.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		for _, u := range []*unstructured.Unstructured{named(attacks, "groups-of-a-size"), withGPUs("other-doors", 1)} {
			u = u.DeepCopy()
			at := strings.Split(map[string]string{"LeaderWorkerSet": "spec.replicas"}[u.GetKind()], ".")
			if at[0] == "" {
				at = strings.Split("spec.pytorchReplicaSpecs.Worker.replicas", ".")
			}
			Expect(unstructured.SetNestedField(u.Object, int64(1), at...)).To(Succeed())
			Expect(write(ctx, u).err).NotTo(HaveOccurred())
			gvk := u.GroupVersionKind()
			api := objects.Resource(gvk.GroupVersion().WithResource(strings.ToLower(gvk.Kind) + "s")).Namespace(guardedNamespace)
			Eventually(func() any {
				return jobs.Job(schema.GroupKind{Group: gvk.Group, Kind: gvk.Kind}, guardedNamespace, u.GetName())
			}).ShouldNot(BeNil())
			path := "/" + strings.Join(at, "/")
			patch := func(of types.PatchType, text, sub string) error {
				var subs []string
				if sub != "" {
					subs = append(subs, sub)
				}
				_, err := api.Patch(ctx, u.GetName(), of, []byte(text), metav1.PatchOptions{}, subs...)
				return err
			}
			By(gvk.Kind + ": a scale as kubectl, as an autoscaler and as a script writes it")
			Expect(patch(types.MergePatchType, `{"spec":{"replicas":60}}`, "scale")).To(denied)
			Expect(patch(types.JSONPatchType, `[{"op":"replace","path":"/spec/replicas","value":60}]`, "scale")).To(denied)
			scale, err := api.Get(ctx, u.GetName(), metav1.GetOptions{}, "scale")
			Expect(err).NotTo(HaveOccurred())
			Expect(unstructured.SetNestedField(scale.Object, int64(60), "spec", "replicas")).To(Succeed())
			_, err = api.Update(ctx, scale, metav1.UpdateOptions{}, "scale")
			Expect(err).To(denied)
			By(gvk.Kind + ": to a number that is allowed, of the job as it was seen")
			heard.text = nil
			Expect(patch(types.MergePatchType, `{"spec":{"replicas":0}}`, "scale")).To(Succeed())
			Expect(heard.text).NotTo(ContainElement(ContainSubstring("not checked")))
			By(gvk.Kind + ": an update of its own, beside a status and an annotation that say that all is over")
			Expect(patch(types.JSONPatchType, `[{"op":"replace","path":"`+path+`","value":60},{"op":"add","path":"/metadata/annotations","value":{"signalbox.dev/ignore":"all","signalbox.dev/ignore-reason":"x"}},`+
				`{"op":"add","path":"/status","value":{"conditions":[]}}]`, "")).To(denied)
			By(gvk.Kind + ": while it is being deleted, and held by a finalizer")
			Expect(patch(types.MergePatchType, `{"metadata":{"finalizers":["a.example/b"]}}`, "")).To(Succeed())
			Expect(api.Delete(ctx, u.GetName(), metav1.DeleteOptions{})).To(Succeed())
			_ = patch(types.MergePatchType, `{"spec":{"replicas":60}}`, "scale") // no operator makes pods for it any more
			Expect(patch(types.MergePatchType, `{"metadata":{"finalizers":null}}`, "")).To(Succeed())
		}
	})

	It("is never admitted in silence by a version or a scale that no reader understands", func(ctx SpecContext) {
		const other = "{name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}"
		const scales = "subresources: {scale: {specReplicasPath: .spec.worker.replicas, statusReplicasPath: .status.replicas}}"
		Expect(plane.Apply(ctx, strings.NewReplacer("versions: [", "versions: ["+other+", ", "storage: true,", "storage: true, "+scales+",").Replace(
			crd("batch.tensorstack.dev", "v1beta1", "deepspeedjobs", "DeepSpeedJob", "Namespaced")))).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			_, err := plane.Kubectl(ctx, "delete", "crd", "deepspeedjobs.batch.tensorstack.dev")
			Expect(err).NotTo(HaveOccurred())
		})
		u := sample("deepspeedjob.yaml", guardedNamespace, "another-version")
		replicas := func(n int64) {
			Expect(unstructured.SetNestedField(u.Object, n, "spec", "worker", "replicas")).To(Succeed())
		}
		heard := &warnings{}
		config := rest.CopyConfig(plane.Config())
		config.WarningHandler = heard
		objects, err := dynamic.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		of := func(version string) dynamic.ResourceInterface {
			heard.text = nil
			u.SetAPIVersion("batch.tensorstack.dev/" + version)
			return objects.Resource(u.GroupVersionKind().GroupVersion().WithResource("deepspeedjobs")).Namespace(guardedNamespace)
		}
		replicas(60)
		Eventually(func() error {
			_, err := of("v1beta1").Create(ctx, u, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		}).Should(denied)
		_, err = of("v1").Create(ctx, u, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		Expect(err).NotTo(HaveOccurred())
		Expect(heard.text).To(ContainElement(And(ContainSubstring("no reader for batch.tensorstack.dev/v1 DeepSpeedJob"), ContainSubstring("max-gpus-per-job"))))
		replicas(0)
		_, err = of("v1beta1").Create(ctx, u, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		_, err = of("v1beta1").Patch(ctx, u.GetName(), types.MergePatchType, []byte(`{"spec":{"replicas":60}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}, "scale")
		Expect(err).NotTo(HaveOccurred())
		Expect(heard.text).To(ContainElement(And(ContainSubstring("it is not known where"), ContainSubstring("max-gpus-per-job"))))
	})

	It("is never admitted in silence by a scale of another number than the operator's CRD says", func(ctx SpecContext) {
		at := func(ctx SpecContext, path string) {
			_, err := plane.Kubectl(ctx, "patch", "crd", "jaxjobs.kubeflow.org", "--type=json",
				`-p=[{"op":"replace","path":"/spec/versions/0/subresources/scale/specReplicasPath","value":"`+path+`"}]`)
			Expect(err).NotTo(HaveOccurred())
		}
		at(ctx, ".spec.jaxReplicaSpecs.Other.replicas")
		DeferCleanup(func(ctx SpecContext) { at(ctx, ".spec.jaxReplicaSpecs.Worker.replicas") })
		u := withGPUs("scaled-elsewhere", 1)
		u.SetKind("JAXJob")
		worker, _, _ := unstructured.NestedMap(u.Object, "spec", "pytorchReplicaSpecs", "Worker")
		other := runtime.DeepCopyJSON(worker)
		other["replicas"] = int64(2)
		containers, _, _ := unstructured.NestedSlice(worker, "template", "spec", "containers")
		delete(containers[0].(map[string]any), "resources")
		Expect(unstructured.SetNestedSlice(worker, containers, "template", "spec", "containers")).To(Succeed())
		u.Object["spec"] = map[string]any{"jaxReplicaSpecs": map[string]any{"Worker": worker, "Other": other}}
		Expect(write(ctx, u).err).NotTo(HaveOccurred())
		Eventually(func() any {
			return jobs.Job(schema.GroupKind{Group: "kubeflow.org", Kind: "JAXJob"}, guardedNamespace, u.GetName())
		}).ShouldNot(BeNil())
		heard := &warnings{}
		config := rest.CopyConfig(plane.Config())
		config.WarningHandler = heard
		objects, err := dynamic.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		Eventually(func(g Gomega) { // an API server takes a moment to serve another definition
			_, err = objects.Resource(u.GroupVersionKind().GroupVersion().WithResource("jaxjobs")).Namespace(guardedNamespace).
				Patch(ctx, u.GetName(), types.MergePatchType, []byte(`{"spec":{"replicas":60}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}, "scale")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(heard.text).To(ContainElement(And(ContainSubstring("it is not known which number is scaled: it was 2"), ContainSubstring("max-gpus-per-job"))))
		}).Should(Succeed())
	})

	It("is denied when what began small grows", func(ctx SpecContext) {
		u := named(attacks, "grows-later")
		Expect(write(ctx, u).err).NotTo(HaveOccurred())
		config := rest.CopyConfig(plane.Config())
		config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + guardedNamespace + ":grows-later", Groups: []string{"system:masters"}}
		objects, err := dynamic.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		clusters := objects.Resource(u.GroupVersionKind().GroupVersion().WithResource("rayclusters")).Namespace(guardedNamespace)
		grow := func(n int) error { // as the autoscaler of Ray does
			_, err := clusters.Patch(ctx, u.GetName(), types.JSONPatchType, fmt.Appendf(nil, `[{"op":"replace","path":"/spec/workerGroupSpecs/0/replicas","value":%d}]`, n), metav1.PatchOptions{})
			return err
		}
		Expect(grow(4)).To(Succeed())
		Expect(grow(5)).To(denied)
	})

	It("is denied as an account that is only called like an operator's", func(ctx SpecContext) {
		front := withGPUs("front", 1)
		Expect(write(ctx, front).err).NotTo(HaveOccurred())
		kind := schema.GroupKind{Group: "kubeflow.org", Kind: "PyTorchJob"}
		Eventually(func() types.UID { return jobs.UID(kind, guardedNamespace, "front") }).Should(Equal(front.GetUID()))
		Expect(plane.Apply(ctx, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: who-makes-jobs}
rules: [{apiGroups: [kubeflow.org], resources: [pytorchjobs], verbs: [create]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: who-makes-jobs, namespace: `+guardedNamespace+`}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: who-makes-jobs}
subjects: [{kind: ServiceAccount, namespace: mpi-operator, name: mpi-operator}, {kind: ServiceAccount, namespace: jobset-system, name: jobset-controller-manager}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: who-operates}
rules: [{apiGroups: [kubeflow.org], resources: [pytorchjobs/status], verbs: [get, patch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: who-operates}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: who-operates}
subjects: [{kind: ServiceAccount, namespace: jobset-system, name: jobset-controller-manager}]
`)).To(Succeed())
		for account, refused := range map[string]bool{"mpi-operator:mpi-operator": true, "jobset-system:jobset-controller-manager": false} {
			config := rest.CopyConfig(plane.Config())
			config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + account}
			objects, err := dynamic.NewForConfig(config)
			Expect(err).NotTo(HaveOccurred())
			u := withGPUs("behind-it", 60)
			u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "kubeflow.org/v1", Kind: "PyTorchJob", Name: "front", UID: front.GetUID(), Controller: new(true)}})
			create := func() error {
				_, err := objects.Resource(pytorchJobs).Namespace(guardedNamespace).Create(ctx, u, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
				return err
			}
			Eventually(func() bool { err := create(); return err != nil && strings.Contains(err.Error(), "forbidden: User") }).Should(BeFalse()) // its rights are there
			if refused {
				Expect(create()).To(denied)
			} else {
				Eventually(create).WithTimeout(90 * time.Second).Should(Succeed())
			}
		}
	})

	It("is denied as whoever makes jobs for others", func(ctx SpecContext) {
		config := rest.CopyConfig(plane.Config())
		for _, user := range []string{"system:serviceaccount:kube-system:cronjob-controller", "system:serviceaccount:argocd:argocd-application-controller", "system:serviceaccount:ray-system:kuberay-operator"} {
			config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:masters"}}
			objects, err := dynamic.NewForConfig(config)
			Expect(err).NotTo(HaveOccurred())
			for _, owner := range []metav1.OwnerReference{
				{APIVersion: "batch/v1", Kind: "CronJob", Name: "nightly", UID: "00000000-0000-0000-0000-000000000002", Controller: new(true)},
				{APIVersion: "ray.io/v1", Kind: "RayJob", Name: "not-there", UID: "00000000-0000-0000-0000-000000000003", Controller: new(true)},
			} {
				u := named(attacks, "hosts-of-a-replica")
				u.SetOwnerReferences([]metav1.OwnerReference{owner})
				_, err = objects.Resource(u.GroupVersionKind().GroupVersion().WithResource("rayclusters")).Namespace(guardedNamespace).Create(ctx, u, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
				Expect(err).To(denied, user+" for a "+owner.Kind)
			}
		}
	})
})

func named(all []*unstructured.Unstructured, name string) *unstructured.Unstructured {
	GinkgoHelper()
	for _, u := range all {
		if u.GetName() == name {
			return u.DeepCopy()
		}
	}
	Fail("there is no " + name)
	return nil
}
