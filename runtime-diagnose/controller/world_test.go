package controller

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/explain"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/llm"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/prompt"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/test/build"
	"github.com/signalbox-dev/signalbox/test/fakellm"
)

var start = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

var pytorchGVK = schema.GroupVersionKind{Group: "kubeflow.org", Version: "v1", Kind: "PyTorchJob"}

var key = Request{"PyTorchJob", "ml", "train"}

// world is one namespace with one PyTorchJob, and the reconciler of this package before it. The
// clients are client-go's fakes; the rules, the reader of the kind and the prompts are the real
// ones. Patches are counted where they reach the API.
type world struct {
	*Reconciler
	t       *testing.T
	now     time.Time
	job     *unstructured.Unstructured
	pods    []corev1.Pod
	labels  map[string]string // of the namespace
	kube    *kubefake.Clientset
	objects *dynamicfake.FakeDynamicClient
	patches []map[string]string // annotations of each apply
	woken   chan Request
	foreign map[string]bool // annotations that another manager owns as well
}

const trainYAML = `
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train, namespace: ml, uid: job-1, generation: 1, creationTimestamp: "2026-11-20T07:50:00Z"}
spec:
  pytorchReplicaSpecs:
    Master: {replicas: 1, template: {spec: {containers: [{name: pytorch, image: "train:1", resources: {limits: {memory: 64Gi, nvidia.com/gpu: 8}}}]}}}
    Worker: {replicas: 1, template: {spec: {containers: [{name: pytorch, image: "train:1", resources: {limits: {memory: 64Gi, nvidia.com/gpu: 8}}}]}}}
`

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, now: start, job: &unstructured.Unstructured{}, woken: make(chan Request, 8)}
	if err := yaml.Unmarshal([]byte(trainYAML), &w.job.Object); err != nil {
		t.Fatal(err)
	}
	w.restart()
	return w
}

// restart is a new process: nothing is remembered but what stands on the job.
func (w *world) restart() {
	w.t.Helper()
	catalog, err := signature.New() // the platform side needs no catalog
	if err != nil {
		w.t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(pytorchGVK, meta.RESTScopeNamespace)
	if w.kube == nil {
		w.kube = kubefake.NewClientset(build.Node("gpu-1"))
		w.kube.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, &corev1.PodList{Items: w.pods}, nil
		})
		w.objects = dynamicfake.NewSimpleDynamicClient(scheme.Scheme)
		w.objects.PrependReactor("patch", "*", w.patch)
	}
	clock := func() time.Time { return w.now }
	from := &collect.Cluster{Kube: w.kube, Dynamic: w.objects, Mapper: mapper, Now: clock}
	w.Reconciler = &Reconciler{
		Options: Options{
			Catalog: catalog, PendingAfter: 30 * time.Second, Refresh: 30 * time.Second, Now: clock,
			Namespace: func(string) (map[string]string, bool) { return w.labels, true },
		},
		Cache: w.cache(), Served: &served{}, Collect: from.Case,
		Writer: Writer{Kube: w.kube, Dynamic: w.objects, Mapper: mapper, Now: clock},
	}
	w.Served.set(kinds.For(pytorchGVK), pytorchGVK)
}

// patch is the API server's side of an apply: annotations of the manager are replaced.
func (w *world) patch(a clienttesting.Action) (bool, runtime.Object, error) {
	if a.(clienttesting.PatchAction).GetPatchType() == types.MergePatchType {
		return w.merge(a)
	}
	var in unstructured.Unstructured
	if err := json.Unmarshal(a.(clienttesting.PatchAction).GetPatch(), &in.Object); err != nil {
		return true, nil, err
	}
	if in.GetUID() != w.job.GetUID() {
		w.t.Errorf("the patch is for UID %q, the job has %q", in.GetUID(), w.job.GetUID())
	}
	all := map[string]string{}
	for k, v := range w.job.GetAnnotations() {
		if _, mine := ours(w.job.GetAnnotations())[k]; !mine || w.foreign[k] {
			all[k] = v
		}
	}
	maps.Copy(all, in.GetAnnotations())
	w.job.SetAnnotations(all)
	w.managedBy(FieldOwner)
	w.patches = append(w.patches, in.GetAnnotations())
	return true, w.job.DeepCopy(), nil
}

// managedBy makes managers those that have written the diagnosis.
func (w *world) managedBy(managers ...string) {
	var out []metav1.ManagedFieldsEntry
	for _, m := range managers {
		out = append(out, metav1.ManagedFieldsEntry{Manager: m, FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:signalbox.dev/diagnosis":{}}}}`)})
	}
	w.job.SetManagedFields(out)
}

// merge is the API server's side of a merge patch of annotations.
func (w *world) merge(a clienttesting.Action) (bool, runtime.Object, error) {
	var in struct {
		Metadata struct {
			UID         types.UID
			Annotations map[string]*string
		}
	}
	if err := json.Unmarshal(a.(clienttesting.PatchAction).GetPatch(), &in); err != nil {
		return true, nil, err
	}
	if in.Metadata.UID != w.job.GetUID() {
		w.t.Errorf("the patch is for UID %q, the job has %q", in.Metadata.UID, w.job.GetUID())
	}
	all := w.job.GetAnnotations()
	for k, v := range in.Metadata.Annotations {
		if v == nil {
			delete(all, k)
		} else {
			all[k] = *v
		}
	}
	w.job.SetAnnotations(all)
	return true, w.job.DeepCopy(), nil
}

// cache answers with the job and the pods as they are.
func (w *world) cache() client.Reader {
	return interceptor.NewClient(nil, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
			if pod, ok := into.(*corev1.Pod); ok {
				at := slices.IndexFunc(w.pods, func(p corev1.Pod) bool { return p.Namespace == key.Namespace && p.Name == key.Name })
				if at < 0 {
					return apierrors.NewNotFound(corev1.Resource("pods"), key.Name)
				}
				w.pods[at].DeepCopyInto(pod)
				return nil
			}
			w.job.DeepCopyInto(into.(*unstructured.Unstructured))
			return nil
		},
		List: func(_ context.Context, _ client.WithWatch, into client.ObjectList, _ ...client.ListOption) error {
			into.(*corev1.PodList).Items = append([]corev1.Pod(nil), w.pods...)
			return nil
		},
	})
}

// model gives the reconciler a language model, and the namespace the label that lets logs go there.
func (w *world) model(name string, sources ...prompt.Source) *fakellm.Server {
	w.t.Helper()
	s, err := fakellm.Start(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := llm.New(llm.Profile{Provider: "openai", BaseURL: s.URL, Model: name, Timeout: 5 * time.Second})
	if err != nil {
		w.t.Fatal(err)
	}
	w.labels = map[string]string{llmLabel: llmEnabled}
	w.Tell = newExplainWorker(explain.Explainer{Client: c, Sources: sources}, 2, w.Writer, nil, &w.memory, func(_ context.Context, k Request) { w.woken <- k })
	w.Tell.backoff = time.Millisecond
	return s
}

// tell lets the model answer one question, and the reconciler look again if it said something.
func (w *world) tell() {
	w.t.Helper()
	task, ok := w.Tell.queue.next()
	if !ok {
		w.t.Fatal("nobody asks the model")
	}
	w.Tell.tell(w.t.Context(), task)
	w.Tell.queue.done(task.key.Namespace)
	select {
	case k := <-w.woken:
		if k != key {
			w.t.Errorf("woke %v", k)
		}
		w.reconcile()
	default:
	}
}

func (w *world) reconcile() time.Duration {
	w.t.Helper()
	result, err := w.Reconcile(w.t.Context(), key)
	if err != nil {
		w.t.Fatal(err)
	}
	return result.RequeueAfter
}

func (w *world) pass(d time.Duration) { w.now = w.now.Add(d) }

func (w *world) condition(kind, reason string) {
	w.job.Object["status"] = map[string]any{"conditions": []any{map[string]any{
		"type": kind, "status": "True", "reason": reason, "lastTransitionTime": "2026-11-20T07:59:00Z",
	}}}
}

func (w *world) annotate(k, v string) {
	all := w.job.GetAnnotations()
	if all == nil {
		all = map[string]string{}
	}
	all[k] = v
	w.job.SetAnnotations(all)
}

func (w *world) events() []string {
	w.t.Helper()
	var out []string
	for _, a := range w.kube.Actions() {
		if c, ok := a.(clienttesting.CreateAction); ok {
			if e, ok := c.GetObject().(*eventsv1.Event); ok {
				out = append(out, e.Type+" "+e.Reason)
			}
		}
	}
	return out
}

// pod is a pod of the job, running since the start.
func (w *world) pod(role string, change func(*corev1.Pod)) {
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "train-" + role + "-0", Namespace: "ml", UID: types.UID("pod-" + role), CreationTimestamp: metav1.NewTime(start.Add(-9 * time.Minute)),
			Labels: map[string]string{
				"training.kubeflow.org/job-name": "train", "training.kubeflow.org/operator-name": "pytorchjob-controller",
				"training.kubeflow.org/replica-type": role, "training.kubeflow.org/replica-index": "0",
			},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "kubeflow.org/v1", Kind: "PyTorchJob", Name: "train", UID: "job-1", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{NodeName: "gpu-1", Containers: []corev1.Container{{Name: "pytorch"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "pytorch", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}}},
	}
	if change != nil {
		change(&p)
	}
	w.pods = append(w.pods, p)
}

// oomKilled is a container that the kernel ended for memory.
func oomKilled(p *corev1.Pod) {
	p.Status.Phase = corev1.PodFailed
	p.Status.ContainerStatuses[0].Ready = false
	p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: 137, Reason: "OOMKilled", FinishedAt: metav1.NewTime(start.Add(-time.Minute)),
	}}
}

// unschedulable is a pod that the scheduler found no node for, since a moment ago.
func unschedulable(p *corev1.Pod) {
	p.CreationTimestamp = metav1.NewTime(start)
	p.Spec.NodeName = ""
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable",
		Message: "0/4 nodes are available: 4 Insufficient nvidia.com/gpu.", LastTransitionTime: metav1.NewTime(start),
	}}}
}
