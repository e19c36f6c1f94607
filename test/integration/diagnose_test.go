//go:build integration

package integration

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/test/fakellm"
)

// diagnosing is the namespace of these specs; its label lets logs go to the model.
const diagnosing = "diagnosing"

var (
	pytorchJobs = schema.GroupVersionResource{Group: "kubeflow.org", Version: "v1", Resource: "pytorchjobs"}
	frameworks  = schema.GroupVersionResource{Group: "frameworkcontroller.microsoft.com", Version: "v1", Resource: "frameworks"}
)

// The controller runs under the ServiceAccount and the rights of the manifests. No operator and
// no kubelet runs: the specs write the status of jobs and pods, as those would.
var _ = Describe("the diagnosis controller", Ordered, func() {
	var (
		objects dynamic.Interface
		model   *fakellm.Server
		start   func()
		stop    func() // of the controller
	)

	BeforeAll(func(ctx SpecContext) {
		Expect(plane.Apply(ctx, "apiVersion: v1\nkind: Namespace\nmetadata: {name: signalbox-system}")).To(Succeed())
		Expect(plane.Apply(ctx, rendered("rbac"))).To(Succeed())
		Expect(plane.Apply(ctx, `
apiVersion: v1
kind: Namespace
metadata: {name: diagnosing, labels: {signalbox.dev/llm: enabled}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: diagnosing}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: aegis-prompts, namespace: signalbox-system}
data:
  pytorchjob.tmpl: |
    Job Name: {{ index .Metadata "JobName" }}
    Job Status: {{ index .Metadata "JobStatus" }}
    Master: {{ index .Metadata "MasterCreatedCount" }} of {{ index .Metadata "MasterExpected" }}
    {{ index .Metadata "MasterDiagnosis" }}
    {{ .ErrorInfo }}
`)).To(Succeed())
		var err error
		objects, err = dynamic.NewForConfig(plane.Config())
		Expect(err).NotTo(HaveOccurred())
		running, end := context.WithCancel(context.Background())
		DeferCleanup(end)
		model, err = fakellm.Start(running)
		Expect(err).NotTo(HaveOccurred())
		start = func() { stop = startDiagnosis(running, model.URL) }
		start()
	})

	It("writes a failed job once, and an Event", func(ctx SpecContext) {
		before := len(model.Requests())
		job := failedJob(ctx, objects, "oom")
		Eventually(annotations(ctx, objects, pytorchJobs, "oom")).Should(And(
			HaveKeyWithValue(controller.Healthy, "No"),
			HaveKeyWithValue(controller.Error, ContainSubstring("went over its memory limit")),
			HaveKey(controller.Analysis), HaveKey(controller.Solution),
			HaveKeyWithValue(controller.Diagnosis, ContainSubstring(`"story":{`)),
		))
		By("asking the model once, with the operator's own template")
		asked := model.Requests()[before:]
		Expect(asked).To(HaveLen(1))
		Expect(asked[0].User).To(HavePrefix("Job Name: oom\nJob Status: Failed\nMaster: 1 of 1\n"))
		By("not writing again when others write to the job")
		for _, value := range []string{"1", "2", "3"} {
			touch(ctx, objects, pytorchJobs, "oom", "example.com/other", value)
		}
		Consistently(func() int { return patches(job) }).WithTimeout(3 * time.Second).Should(Equal(2))
		Expect(annotations(ctx, objects, pytorchJobs, "oom")()).To(HaveKeyWithValue("example.com/other", "3"))
		Expect(model.Requests()[before:]).To(HaveLen(1))
		Expect(eventsOn(ctx, "oom")).To(Equal([]string{"Warning DiagnosisChanged", "Normal ExplanationLeftOut"}))
	})

	It("asks by a template that was changed while it runs, and by its own where that is broken", func(ctx SpecContext) {
		prompts := plane.Clientset().CoreV1().ConfigMaps("signalbox-system")
		cm, err := prompts.Get(ctx, "aegis-prompts", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		first := cm.Data["pytorchjob.tmpl"]
		set := func(ctx context.Context, text string) {
			cm, err := prompts.Get(ctx, "aegis-prompts", metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			cm.Data["pytorchjob.tmpl"] = text
			_, err = prompts.Update(ctx, cm, metav1.UpdateOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
		DeferCleanup(func(ctx SpecContext) { set(ctx, first) })
		asked := func(name string) string {
			before := len(model.Requests())
			failedJob(ctx, objects, name)
			Eventually(annotations(ctx, objects, pytorchJobs, name)).Should(HaveKeyWithValue(controller.Diagnosis, ContainSubstring(`"story":{`)))
			Expect(model.Requests()[before:]).To(HaveLen(1))
			return model.Requests()[before].User
		}
		set(ctx, "Changed for {{ index .Metadata \"JobName\" }}: {{ .ErrorInfo }}")
		Expect(asked("prompt-changed")).To(HavePrefix("Changed for prompt-changed: "))
		set(ctx, "{{ index .Metadata")
		Expect(asked("prompt-broken")).NotTo(ContainSubstring("Changed for"))
		Eventually(func() []string { return eventsOn(ctx, "prompt-broken") }).Should(ContainElement("Warning PromptInvalid"))
	})

	It("answers whoever asks", func(ctx SpecContext) {
		job := failedJob(ctx, objects, "ask")
		Eventually(annotations(ctx, objects, pytorchJobs, "ask")).Should(HaveKeyWithValue(controller.Diagnosis, ContainSubstring(`"story":{`)))
		n := patches(job)
		touch(ctx, objects, pytorchJobs, "ask", controller.Ask, "please")
		Eventually(annotations(ctx, objects, pytorchJobs, "ask")).Should(HaveKeyWithValue(controller.Diagnosis, ContainSubstring(`"asked":"please"`)))
		Eventually(func() int { return patches(job) }).Should(BeNumerically(">", n))
	})

	It("restores what somebody took away, and leaves alone what it does not own", func(ctx SpecContext) {
		failedJob(ctx, objects, "taken")
		Eventually(annotations(ctx, objects, pytorchJobs, "taken")).Should(HaveKeyWithValue(controller.Diagnosis, ContainSubstring(`"story":{`)))
		patch := `{"metadata":{"annotations":{"signalbox.dev/healthy":null,"gitops.example.com/revision":"7"}}}`
		_, err := objects.Resource(pytorchJobs).Namespace(diagnosing).Patch(ctx, "taken", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(annotations(ctx, objects, pytorchJobs, "taken")).Should(And(
			HaveKeyWithValue(controller.Healthy, "No"), HaveKeyWithValue("gitops.example.com/revision", "7")))
	})

	It("says why a job waits, and takes it back", func(ctx SpecContext) {
		job := createJob(ctx, objects, "wait")
		pod := createPod(ctx, job, "master", func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodPending
			p.Status.Conditions = []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable",
				Message: "0/4 nodes are available: 4 Insufficient nvidia.com/gpu.", LastTransitionTime: metav1.Now(),
			}}
		})
		Eventually(annotations(ctx, objects, pytorchJobs, "wait")).Should(HaveKeyWithValue(controller.Waiting, ContainSubstring("nvidia.com/gpu")))
		Eventually(annotations(ctx, objects, pytorchJobs, "wait")).Should(HaveKeyWithValue(controller.Diagnosis, ContainSubstring("unschedulable-gpu")))
		setStatus(ctx, pod, func(p *corev1.Pod) {
			p.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
				Name: "pytorch", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
			}}}
		})
		createPod(ctx, job, "worker", func(p *corev1.Pod) {
			p.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
				Name: "pytorch", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
			}}}
		})
		condition(ctx, objects, pytorchJobs, "wait", "Running", "PyTorchJobRunning")
		Eventually(annotations(ctx, objects, pytorchJobs, "wait")).Should(And(
			Not(HaveKey(controller.Waiting)), Not(HaveKey(controller.Error)), HaveKeyWithValue(controller.Healthy, "Yes")))
		// The Event is written after what it tells of.
		Eventually(func() []string { return eventsOn(ctx, "wait") }).Should(Equal([]string{"Warning DiagnosisChanged", "Normal JobHealthy"}))
	})

	whatIsNotWellStandsOnTheJob(func() dynamic.Interface { return objects })

	It("does not bring a deleted job back", func(ctx SpecContext) {
		failedJob(ctx, objects, "gone")
		Expect(objects.Resource(pytorchJobs).Namespace(diagnosing).Delete(ctx, "gone", metav1.DeleteOptions{})).To(Succeed())
		Consistently(func() bool {
			_, err := objects.Resource(pytorchJobs).Namespace(diagnosing).Get(ctx, "gone", metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		}).WithTimeout(2 * time.Second).Should(BeTrue())
	})

	It("sees kinds that are installed after it started", func(ctx SpecContext) {
		crd, err := os.ReadFile(filepath.Join("..", "cluster", "crds", "frameworks.frameworkcontroller.microsoft.com.yaml"))
		Expect(err).NotTo(HaveOccurred())
		Expect(plane.Apply(ctx, string(crd))).To(Succeed())
		u := sample("framework.yaml", diagnosing, "late")
		Eventually(func() error {
			_, err := objects.Resource(frameworks).Namespace(diagnosing).Create(ctx, u, metav1.CreateOptions{})
			return err
		}).Should(Succeed())
		patch := `{"metadata":{"annotations":{"signalbox.dev/diagnose":"now"}}}`
		_, err = objects.Resource(frameworks).Namespace(diagnosing).Patch(ctx, "late", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(annotations(ctx, objects, frameworks, "late")).Should(HaveKey(controller.Healthy))
	})

	// The last one: the second controller ends with the spec.
	It("asks nobody again after a restart", func(ctx SpecContext) {
		failedJob(ctx, objects, "before-restart")
		Eventually(annotations(ctx, objects, pytorchJobs, "before-restart")).Should(HaveKeyWithValue(controller.Diagnosis, ContainSubstring(`"story":{`)))
		stop()
		kept, err := plane.Clientset().CoreV1().ConfigMaps("signalbox-system").Get(ctx, "signalbox-model", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(kept.BinaryData).To(HaveKey("answers"))
		start()
		before := len(model.Requests())
		failedJob(ctx, objects, "after-restart") // of the same cause
		Eventually(annotations(ctx, objects, pytorchJobs, "after-restart")).Should(HaveKeyWithValue(controller.Diagnosis, And(ContainSubstring(`"story":{`), ContainSubstring("after-restart-master-0"))))
		Expect(model.Requests()[before:]).NotTo(ContainElement(HaveField("User", ContainSubstring("Job Name: after-restart"))))
	})
})

// startDiagnosis runs the controller with a model until ctx ends or stop is called.
func startDiagnosis(ctx context.Context, modelURL string) (stop func()) {
	GinkgoHelper()
	return startController(ctx, `llm: {provider: openai, model: grounded, baseURL: "`+modelURL+`"}`)
}

// startController runs the controller under the account of the manifests until ctx ends or stop
// is called, which returns when it has.
func startController(ctx context.Context, more string, change ...func(*controller.Options)) (stop func()) {
	GinkgoHelper()
	settings, err := config.Read(strings.NewReader("diagnosis: {pendingAfter: 1s, refresh: 2s, discovery: 1s, debounce: 100ms}\n" + more))
	Expect(err).NotTo(HaveOccurred())
	options, err := controller.FromConfig(settings)
	Expect(err).NotTo(HaveOccurred())
	options.Catalog, err = signature.Builtin()
	Expect(err).NotTo(HaveOccurred())
	options.Namespace = func(name string) (map[string]string, bool) {
		return map[string]string{"signalbox.dev/llm": "enabled"}, name == diagnosing
	}
	options.Metrics = prometheus.NewRegistry()
	for _, c := range change {
		c(&options)
	}
	account, err := plane.ConfigFor(ctx, "signalbox-system", "signalbox")
	Expect(err).NotTo(HaveOccurred())
	clients, err := live.Connect(account)
	Expect(err).NotTo(HaveOccurred())
	m, err := ctrl.NewManager(account, manager.Options{
		Logger: GinkgoLogr, Cache: controller.CacheOptions(clients.Kube, nil), Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)}, // specs start it more than once in one process
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(controller.Add(ctx, m, options)).To(Succeed())
	ended := make(chan struct{})
	stopped, cancel := context.WithCancel(ctx)
	go func() {
		defer GinkgoRecover()
		defer close(ended)
		Expect(m.Start(stopped)).To(Succeed())
	}()
	stop = func() { cancel(); Eventually(ended).Should(BeClosed()) }
	DeferCleanup(stop)
	return stop
}

func createJob(ctx context.Context, objects dynamic.Interface, name string) *unstructured.Unstructured {
	GinkgoHelper()
	u, err := objects.Resource(pytorchJobs).Namespace(diagnosing).Create(ctx, sample("pytorchjob.yaml", diagnosing, name), metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return u
}

// failedJob is a job whose master was killed for memory.
func failedJob(ctx context.Context, objects dynamic.Interface, name string) *unstructured.Unstructured {
	GinkgoHelper()
	job := createJob(ctx, objects, name)
	createPod(ctx, job, "master", func(p *corev1.Pod) {
		p.Status = corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "pytorch", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				ExitCode: 137, Reason: "OOMKilled", FinishedAt: metav1.Now(),
			}},
		}}}
	})
	condition(ctx, objects, pytorchJobs, name, "Failed", "PyTorchJobFailed")
	return job
}

func createPod(ctx context.Context, job *unstructured.Unstructured, role string, change func(*corev1.Pod)) *corev1.Pod {
	GinkgoHelper()
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: job.GetName() + "-" + role + "-0", Namespace: job.GetNamespace(),
			Labels: map[string]string{
				"training.kubeflow.org/job-name": job.GetName(), "training.kubeflow.org/operator-name": "pytorchjob-controller",
				"training.kubeflow.org/replica-type": role, "training.kubeflow.org/replica-index": "0",
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: job.GetAPIVersion(), Kind: job.GetKind(), Name: job.GetName(), UID: job.GetUID(), Controller: new(true),
			}},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "pytorch", Image: "registry.example.com/ml/train:2.8.0"}}},
	}
	p, err := plane.Clientset().CoreV1().Pods(p.Namespace).Create(ctx, p, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	setStatus(ctx, p, change)
	return p
}

func setStatus(ctx context.Context, p *corev1.Pod, change func(*corev1.Pod)) {
	GinkgoHelper()
	p, err := plane.Clientset().CoreV1().Pods(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	change(p)
	_, err = plane.Clientset().CoreV1().Pods(p.Namespace).UpdateStatus(ctx, p, metav1.UpdateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// condition writes what the operator would say.
func condition(ctx context.Context, objects dynamic.Interface, of schema.GroupVersionResource, name, kind, reason string) {
	GinkgoHelper()
	conditionIn(ctx, objects.Resource(of).Namespace(diagnosing), name, kind, reason)
}

func conditionIn(ctx context.Context, jobs dynamic.ResourceInterface, name, kind, reason string) {
	GinkgoHelper()
	Eventually(func() error {
		u, err := jobs.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		u.Object["status"] = map[string]any{"conditions": []any{map[string]any{
			"type": kind, "status": "True", "reason": reason, "message": "", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
		}}, "replicaStatuses": map[string]any{}}
		_, err = jobs.UpdateStatus(ctx, u, metav1.UpdateOptions{})
		return err
	}).Should(Succeed())
}

func annotations(ctx context.Context, objects dynamic.Interface, of schema.GroupVersionResource, name string) func() map[string]string {
	return annotationsIn(ctx, objects.Resource(of).Namespace(diagnosing), name)
}

func annotationsIn(ctx context.Context, jobs dynamic.ResourceInterface, name string) func() map[string]string {
	return func() map[string]string {
		u, err := jobs.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil
		}
		return u.GetAnnotations()
	}
}

// touch writes one annotation as somebody else.
func touch(ctx context.Context, objects dynamic.Interface, of schema.GroupVersionResource, name, key, value string) {
	GinkgoHelper()
	patch := `{"metadata":{"annotations":{"` + key + `":"` + value + `"}}}`
	_, err := objects.Resource(of).Namespace(diagnosing).Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "somebody"})
	Expect(err).NotTo(HaveOccurred())
}

// patches counts the applies of Signalbox on the job, as the API server noted them.
func patches(job *unstructured.Unstructured) int {
	GinkgoHelper()
	n := 0
	for _, e := range audited(job, 0) {
		if e.Verb == "patch" && strings.HasSuffix(e.User.Username, ":signalbox") {
			n++
		}
	}
	return n
}

// eventsOn are the Events of Signalbox on an object, oldest first.
func eventsOn(ctx context.Context, name string) []string { return eventsIn(ctx, diagnosing, name) }

func eventsIn(ctx context.Context, namespace, name string) []string {
	GinkgoHelper()
	list, err := plane.Clientset().EventsV1().Events(namespace).List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	items := list.Items
	slices.SortFunc(items, func(a, b eventsv1.Event) int { return a.EventTime.Compare(b.EventTime.Time) })
	var out []string
	for _, e := range items {
		if e.Regarding.Name == name && e.ReportingController == "signalbox" {
			out = append(out, e.Type+" "+e.Reason)
		}
	}
	return out
}
