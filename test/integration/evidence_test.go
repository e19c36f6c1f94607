//go:build integration

package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/keep"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// What is kept of a container outlives its pod and the process that kept it, and the account
// that writes it can write nothing else.
var _ = Describe("evidence beside a job", Ordered, func() {
	const namespace = "keeping"
	var jobs dynamic.ResourceInterface

	BeforeAll(func(ctx SpecContext) {
		Expect(plane.Apply(ctx, "apiVersion: v1\nkind: Namespace\nmetadata: {name: signalbox-system}")).To(Succeed())
		Expect(plane.Apply(ctx, rendered("rbac"))).To(Succeed())
		Expect(plane.CreateNamespace(ctx, namespace, nil)).To(Succeed())
		objects, err := dynamic.NewForConfig(plane.Config())
		Expect(err).NotTo(HaveOccurred())
		jobs = objects.Resource(pytorchJobs).Namespace(namespace)
	})

	It("tells the cause after the pod and the process are gone", func(ctx SpecContext) {
		stop := startController(context.Background(), "")
		job, err := jobs.Create(ctx, sample("pytorchjob.yaml", namespace, "lost"), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		pod := createPod(ctx, job, "master", func(p *corev1.Pod) {
			p.Status = corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
				Name: "pytorch", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
					ExitCode: 137, Reason: "OOMKilled", FinishedAt: metav1.Now(),
				}},
			}}}
		})
		var stored *corev1.ConfigMap
		Eventually(func() error {
			stored, err = plane.Clientset().CoreV1().ConfigMaps(namespace).Get(ctx, keep.Name(job.GetUID()), metav1.GetOptions{})
			return err
		}).Should(Succeed())
		Expect(stored.OwnerReferences).To(ConsistOf(metav1.OwnerReference{APIVersion: "kubeflow.org/v1", Kind: "PyTorchJob", Name: "lost", UID: job.GetUID()}))
		Expect(stored.Labels).To(HaveKeyWithValue(keep.Label, "true"))
		stop()

		By("deleting the pod, as operators do, and everything that was said")
		Expect(plane.Clientset().CoreV1().Pods(namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)})).To(Succeed())
		conditionIn(ctx, jobs, "lost", "Failed", "PyTorchJobFailed")
		patch := `{"metadata":{"annotations":{"signalbox.dev/healthy":null,"signalbox.dev/error":null,"signalbox.dev/analysis":null,"signalbox.dev/solution":null,"signalbox.dev/diagnosis":null}}}`
		_, err = jobs.Patch(ctx, "lost", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())

		By("reading it as a shell does, with the rights of whoever asks")
		result := diagnosed(ctx, job)
		Expect(result.Root).NotTo(BeNil())
		Expect(result.Root.Signature).To(Equal("container-oom-killed"))
		Expect(result.Root.Source.Pod).To(Equal("lost-master-0"))

		By("starting another process")
		stopAgain := startController(context.Background(), "")
		Eventually(annotationsIn(ctx, jobs, "lost")).Should(And(
			HaveKeyWithValue(controller.Healthy, "No"),
			HaveKeyWithValue(controller.Error, ContainSubstring("went over its memory limit")),
			HaveKeyWithValue(controller.Diagnosis, ContainSubstring(`"pod":"lost-master-0"`)),
		))
		stopAgain()
	})

	It("is all that the account may write in the namespaces of others", func(ctx SpecContext) {
		account, err := plane.ConfigFor(ctx, "signalbox-system", "signalbox")
		Expect(err).NotTo(HaveOccurred())
		kube, err := kubernetes.NewForConfig(account)
		Expect(err).NotTo(HaveOccurred())
		write := func(namespace, name string, labels map[string]string) error {
			_, err := kube.CoreV1().ConfigMaps(namespace).Apply(ctx,
				applycore.ConfigMap(name, namespace).WithLabels(labels).WithData(map[string]string{"a": "b"}),
				metav1.ApplyOptions{FieldManager: "signalbox", Force: true})
			return err
		}
		ours := map[string]string{keep.Label: "true"}
		// The policy needs a moment after it was created.
		Eventually(func() bool { return apierrors.IsInvalid(write(namespace, "kube-root-ca.crt", ours)) }).Should(BeTrue())
		Expect(write(namespace, "settings", ours)).To(MatchError(ContainSubstring("signalbox-evidence")))
		Expect(write(namespace, "signalbox-evidence-1", nil)).To(MatchError(ContainSubstring("signalbox-evidence")))
		Expect(write(namespace, "signalbox-evidence-1", ours)).To(Succeed())

		By("not taking over what somebody else put there")
		Expect(plane.Apply(ctx, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: signalbox-evidence-2, namespace: "+namespace+"}\ndata: {mine: yes please}")).To(Succeed())
		Expect(write(namespace, "signalbox-evidence-2", ours)).To(MatchError(ContainSubstring("signalbox-evidence")))

		By("written by nobody else who may write ConfigMaps there")
		Expect(plane.Apply(ctx, `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: neighbour, namespace: `+namespace+`}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, create, patch, update, delete]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: neighbour, namespace: `+namespace+`}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: neighbour}
subjects: [{kind: ServiceAccount, namespace: `+namespace+`, name: neighbour}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: neighbour, namespace: `+namespace+`}`)).To(Succeed())
		other, err := plane.ConfigFor(ctx, namespace, "neighbour")
		Expect(err).NotTo(HaveOccurred())
		neighbour, err := kubernetes.NewForConfig(other)
		Expect(err).NotTo(HaveOccurred())
		forge := func(name string, change func(*applycore.ConfigMapApplyConfiguration)) error {
			cm := applycore.ConfigMap(name, namespace)
			change(cm)
			_, err := neighbour.CoreV1().ConfigMaps(namespace).Apply(ctx, cm, metav1.ApplyOptions{FieldManager: "signalbox", Force: true})
			return err
		}
		lies := func(cm *applycore.ConfigMapApplyConfiguration) {
			cm.WithLabels(ours).WithBinaryData(map[string][]byte{keep.DataKey: []byte("lies")})
		}
		Expect(forge("settings", lies)).To(Succeed())
		Expect(forge("signalbox-evidence-1", lies)).To(MatchError(ContainSubstring("is written by Signalbox")))
		Expect(forge("signalbox-evidence-3", lies)).To(MatchError(ContainSubstring("is written by Signalbox")))
		change := func(patch string) error {
			_, err := neighbour.CoreV1().ConfigMaps(namespace).Patch(ctx, "signalbox-evidence-1", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			return err
		}
		Expect(change(`{"immutable": true}`)).To(MatchError(ContainSubstring("is written by Signalbox")))
		Expect(change(`{"data": null}`)).To(MatchError(ContainSubstring("is written by Signalbox")))
		Expect(change(`{"metadata": {"ownerReferences": null, "finalizers": null}}`)).To(Succeed(), "as the garbage collector does it")
		Expect(change(`{"metadata": {"annotations": {"a": "b"}}}`)).To(Succeed())
		Expect(neighbour.CoreV1().ConfigMaps(namespace).Delete(ctx, "settings", metav1.DeleteOptions{})).To(Succeed())

		By("not deleting")
		Expect(kube.CoreV1().ConfigMaps(namespace).Delete(ctx, "signalbox-evidence-1", metav1.DeleteOptions{})).To(Satisfy(apierrors.IsForbidden))
	})
})

// diagnosed is what a shell finds out about a job.
func diagnosed(ctx context.Context, u *unstructured.Unstructured) diagnose.Result {
	GinkgoHelper()
	client := plane.Clientset()
	objects, err := dynamic.NewForConfig(plane.Config())
	Expect(err).NotTo(HaveOccurred())
	from := &collect.Cluster{
		Kube: client, Dynamic: objects, Mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery())),
	}
	k := kinds.For(u.GroupVersionKind())
	u, err = from.Find(ctx, k, u.GetNamespace(), u.GetName())
	Expect(err).NotTo(HaveOccurred())
	c, err := from.Case(ctx, k, u)
	Expect(err).NotTo(HaveOccurred())
	catalog, err := signature.Builtin()
	Expect(err).NotTo(HaveOccurred())
	return diagnose.Diagnose(ctx, c, catalog, diagnose.Options{})
}
