//go:build integration

package integration

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
)

// whatIsNotWellStandsOnTheJob are the specs of what operators leave unsaid. Each tells how long it took from
// when the thing could be seen to when the job said it.
func whatIsNotWellStandsOnTheJob(objects func() dynamic.Interface) {
	says := func(ctx context.Context, name, key string, want any) {
		GinkgoHelper()
		begun := time.Now()
		Eventually(annotations(ctx, objects(), pytorchJobs, name)).WithTimeout(2 * time.Minute).Should(HaveKeyWithValue(key, want))
		AddReportEntry(name, time.Since(begun).Round(100*time.Millisecond).String())
	}
	DescribeTable("says what its operator does not", func(ctx SpecContext, name, key, want string, happen func(context.Context, *unstructured.Unstructured)) {
		happen(ctx, createJob(ctx, objects(), name))
		says(ctx, name, key, ContainSubstring(want))
		Expect(annotations(ctx, objects(), pytorchJobs, name)()).To(HaveKeyWithValue(controller.Healthy, "No"))
		Expect(annotations(ctx, objects(), pytorchJobs, name)()).NotTo(HaveKeyWithValue(key, ContainSubstring("somebody-elses")))
	},
		Entry("of a quota that refuses one pod of two", "refused-one", controller.Waiting, "exceeded quota: team", func(ctx context.Context, job *unstructured.Unstructured) {
			createPod(ctx, job, "master", runs)
			condition(ctx, objects(), pytorchJobs, job.GetName(), "Running", "PyTorchJobRunning")
			refusal(ctx, job, `Error creating: pods "refused-one-worker-0" is forbidden: exceeded quota: team, requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=8, limited: requests.nvidia.com/gpu=8`)
		}),
		Entry("of a webhook that refuses all pods", "refused-all", controller.Waiting, "guard.example.com", func(ctx context.Context, job *unstructured.Unstructured) {
			condition(ctx, objects(), pytorchJobs, job.GetName(), "Created", "PyTorchJobCreated")
			refusal(ctx, job, `Error creating: admission webhook "guard.example.com" denied the request: images of this registry are not allowed`)
		}),
		Entry("of a pod that is not ready", "unready", controller.Error, "not ready", func(ctx context.Context, job *unstructured.Unstructured) {
			createPod(ctx, job, "master", runs)
			createPod(ctx, job, "worker", unready)
			condition(ctx, objects(), pytorchJobs, job.GetName(), "Running", "PyTorchJobRunning")
		}),
		Entry("of a node that is lost", "lost", controller.Error, "gone-1", func(ctx context.Context, job *unstructured.Unstructured) {
			node(ctx, "gone-1", metav1.ConditionUnknown, "Kubelet stopped posting node status.")
			createPod(ctx, job, "master", runs)
			bind(ctx, createPod(ctx, job, "worker", func(*corev1.Pod) {}), "gone-1", unready)
			condition(ctx, objects(), pytorchJobs, job.GetName(), "Running", "PyTorchJobRunning")
		}),
		Entry("of a pod that somebody deleted", "deleted", controller.Error, "deleted-worker-0 (Worker 0, node here): the pod was deleted while it ran", func(ctx context.Context, job *unstructured.Unstructured) {
			node(ctx, "here", metav1.ConditionTrue, "kubelet is posting ready status")
			createPod(ctx, job, "master", runs)
			worker := createPod(ctx, job, "worker", func(*corev1.Pod) {})
			bind(ctx, worker, "here", runs)
			condition(ctx, objects(), pytorchJobs, job.GetName(), "Running", "PyTorchJobRunning")
			Expect(plane.Clientset().CoreV1().Pods(diagnosing).Delete(ctx, worker.Name, metav1.DeleteOptions{})).To(Succeed())
			setStatus(ctx, worker, func(p *corev1.Pod) {
				p.Status.Phase = corev1.PodFailed
				p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 143, Reason: "Error", FinishedAt: metav1.Now()}}
			})
			condition(ctx, objects(), pytorchJobs, job.GetName(), "Failed", "PyTorchJobFailed")
		}),
		Entry("of an operator that is switched off", "idle", controller.Waiting, "Deployment idle-operators/training-operator is scaled to 0 replicas", func(ctx context.Context, _ *unstructured.Unstructured) {
			switchedOff(ctx)
		}),
		Entry("of another controller that has it", "elsewhere", controller.Waiting, `managedBy is "kueue.x-k8s.io/multikueue"`, func(ctx context.Context, job *unstructured.Unstructured) {
			again(ctx, objects(), job, func(u *unstructured.Unstructured) {
				Expect(unstructured.SetNestedField(u.Object, "kueue.x-k8s.io/multikueue", "spec", "runPolicy", "managedBy")).To(Succeed())
			})
		}),
		Entry("of a queue that has made nothing of it", "queued", controller.Waiting, "it names queue gpu, and no Workload of Kueue stands for it", func(ctx context.Context, job *unstructured.Unstructured) {
			again(ctx, objects(), job, func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"kueue.x-k8s.io/queue-name": "gpu"}) })
		}),
		Entry("of a finalizer that nobody takes off", "held", controller.Error, "finalizer quota.example.com/release", func(ctx context.Context, job *unstructured.Unstructured) {
			again(ctx, objects(), job, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"quota.example.com/release"}) })
			DeferCleanup(func(ctx SpecContext) error {
				_, err := objects().Resource(pytorchJobs).Namespace(diagnosing).Patch(ctx, "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
				return err
			})
			Expect(objects().Resource(pytorchJobs).Namespace(diagnosing).Delete(ctx, "held", metav1.DeleteOptions{})).To(Succeed())
		}),
	)

	It("says what the kubelet says of a pod that is gone, when nothing else changes any more", func(ctx SpecContext) {
		job := createJob(ctx, objects(), "late")
		event := func(kind, name string, uid types.UID, reason, message string, at metav1.Time) {
			GinkgoHelper()
			_, err := plane.Clientset().CoreV1().Events(diagnosing).Create(ctx, &corev1.Event{
				ObjectMeta: metav1.ObjectMeta{Namespace: diagnosing, GenerateName: name + "."}, Type: "Normal", Reason: reason, Message: message,
				InvolvedObject: corev1.ObjectReference{Kind: kind, Namespace: diagnosing, Name: name, UID: uid}, FirstTimestamp: at, LastTimestamp: at,
			}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
		event("PyTorchJob", "late", job.GetUID(), "SuccessfulCreatePod", "Created pod: late-worker-0", metav1.Now())
		createPod(ctx, job, "master", runs)
		ended := metav1.Now()
		condition(ctx, objects(), pytorchJobs, "late", "Failed", "PyTorchJobFailed")
		says(ctx, "late", controller.Healthy, Equal("No"))
		// A job without a cause is looked at twice more, as logs and Events come later than a status: that is over then.
		Consistently(annotations(ctx, objects(), pytorchJobs, "late")).WithTimeout(8 * time.Second).ShouldNot(HaveKeyWithValue(controller.Error, ContainSubstring("deleted")))
		event("Pod", "late-worker-0", "gone", "Killing", "Stopping container pytorch", ended)
		Eventually(annotations(ctx, objects(), pytorchJobs, "late")).WithTimeout(10 * time.Second).Should(HaveKeyWithValue(controller.Error, ContainSubstring("late-worker-0: the pod was deleted while it ran")))
	})

	It("says that a job was looked at and is well, when, and by what", func(ctx SpecContext) {
		job := createJob(ctx, objects(), "well")
		createPod(ctx, job, "master", runs)
		createPod(ctx, job, "worker", runs)
		condition(ctx, objects(), pytorchJobs, "well", "Running", "PyTorchJobRunning")
		says(ctx, "well", controller.Healthy, Equal("Yes"))
		Expect(annotations(ctx, objects(), pytorchJobs, "well")()).To(HaveKeyWithValue(controller.Analysis, ContainSubstring("2 of 2 pods")))
	})
}

func runs(p *corev1.Pod) {
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "pytorch", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
	}}
}

func unready(p *corev1.Pod) {
	runs(p)
	p.Status.Conditions[0].Status, p.Status.ContainerStatuses[0].Ready = corev1.ConditionFalse, false
	p.Status.ContainerStatuses[0].State.Running.StartedAt = metav1.NewTime(time.Now().Add(-time.Hour)) // it was ready in between
}

// bind puts a pod on a node, as a scheduler does; the kubelet then says how it is.
func bind(ctx context.Context, p *corev1.Pod, node string, is func(*corev1.Pod)) {
	GinkgoHelper()
	Expect(plane.Clientset().CoreV1().Pods(p.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace}, Target: corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})).To(Succeed())
	setStatus(ctx, p, is)
}

// node is a node of which its kubelet, or the node controller in its place, says whether it is ready.
func node(ctx context.Context, name string, ready metav1.ConditionStatus, why string) {
	GinkgoHelper()
	nodes := plane.Clientset().CoreV1().Nodes()
	n, err := nodes.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) error { return nodes.Delete(ctx, name, metav1.DeleteOptions{}) })
	n.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionStatus(ready), Reason: "NodeStatus" + string(ready), Message: why, LastTransitionTime: metav1.Now(),
	}}
	_, err = nodes.UpdateStatus(ctx, n, metav1.UpdateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// refusal is the Event by which an operator says that it may not make a pod.
func refusal(ctx context.Context, job *unstructured.Unstructured, why string) {
	GinkgoHelper()
	_, err := plane.Clientset().CoreV1().Events(diagnosing).Create(ctx, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: diagnosing, GenerateName: job.GetName() + "."}, Type: "Warning", Reason: "FailedCreatePod", Message: why, Count: 3,
		InvolvedObject: corev1.ObjectReference{APIVersion: job.GetAPIVersion(), Kind: job.GetKind(), Namespace: diagnosing, Name: job.GetName(), UID: job.GetUID()},
		FirstTimestamp: metav1.Now(), LastTimestamp: metav1.Now(), Source: corev1.EventSource{Component: "pytorchjob-controller"},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// again changes a job as its author does.
func again(ctx context.Context, objects dynamic.Interface, job *unstructured.Unstructured, change func(*unstructured.Unstructured)) {
	GinkgoHelper()
	jobs := objects.Resource(pytorchJobs).Namespace(diagnosing)
	Eventually(func() error {
		u, err := jobs.Get(ctx, job.GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(u)
		_, err = jobs.Update(ctx, u, metav1.UpdateOptions{})
		return err
	}).Should(Succeed())
}

// switchedOff is the operator's Deployment with nothing of it running, and one of its name that another made.
func switchedOff(ctx context.Context) {
	GinkgoHelper()
	const namespace, other = "idle-operators", "somebody-elses"
	Expect(plane.Apply(ctx, `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: idle-operator}
rules: [{apiGroups: [kubeflow.org], resources: [pytorchjobs/status], verbs: [get, patch, update]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: idle-operator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: idle-operator}
subjects: [{kind: ServiceAccount, namespace: `+namespace+`, name: default}]`)).To(Succeed())
	for _, at := range []string{namespace, other} {
		Expect(plane.Apply(ctx, "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+at+"}")).To(Succeed())
		labels := map[string]string{"app": "training-operator"}
		deployments := plane.Clientset().AppsV1().Deployments(at)
		_, err := deployments.Create(ctx, &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: "training-operator"},
			Spec: appsv1.DeploymentSpec{Replicas: new(int32), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "manager", Image: "registry.example.com/operator:1"}}},
			}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) error {
			return deployments.Delete(ctx, "training-operator", metav1.DeleteOptions{})
		})
	}
}
