package controller

import (
	"context"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
)

// operator is the Deployment of the training-operator.
func operator(replicas, ready int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kubeflow", Name: "training-operator", UID: "dep"},
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas}, Status: appsv1.DeploymentStatus{ReadyReplicas: ready},
	}
}

// operates lets everybody do an operator's work.
func (w *world) operates() {
	w.kube.PrependReactor("create", "subjectaccessreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &authorizationv1.SubjectAccessReview{Status: authorizationv1.SubjectAccessReviewStatus{Allowed: true}}, nil
	})
}

// A job that its operator leaves alone says so, ten seconds at most after that can be told, with what
// explains it; and says it no longer when the operator has come.
func TestAJobOnWhichNothingActsSaysSo(t *testing.T) {
	for name, tc := range map[string]struct {
		deployment *appsv1.Deployment
		set        map[string]string // fields of the job
		want       []string
	}{
		"the operator is not installed": {nil, nil, []string{"no namespace has a Deployment training-operator", "its operator has not acted on it", "validator.pytorchjob.training-operator.kubeflow.org with which the operator looks at its jobs is not registered"}},
		"the operator is down":          {operator(1, 0), nil, []string{"Deployment kubeflow/training-operator has none of 1 replica ready"}},
		"the operator is switched off":  {operator(0, 0), nil, []string{"Deployment kubeflow/training-operator is scaled to 0 replicas"}},
		"the operator runs":             {operator(2, 1), nil, []string{"Deployment kubeflow/training-operator has 1 of 2 replicas ready: its log says why"}},
		"another controller has it":     {operator(1, 1), map[string]string{"managedBy": "kueue.x-k8s.io/multikueue"}, []string{`managedBy is "kueue.x-k8s.io/multikueue"`}},
		"a queue should have it":        {operator(1, 1), map[string]string{"queue": "gpu"}, []string{"it names queue gpu, and no Workload of Kueue stands for it"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.job.SetCreationTimestamp(metav1.NewTime(start))
			w.operates()
			if tc.deployment != nil {
				if _, err := w.kube.AppsV1().Deployments("kubeflow").Create(context.Background(), tc.deployment, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if by := tc.set["managedBy"]; by != "" {
				if err := unstructured.SetNestedField(w.job.Object, by, "spec", "runPolicy", "managedBy"); err != nil {
					t.Fatal(err)
				}
			}
			if queue := tc.set["queue"]; queue != "" {
				w.job.SetLabels(map[string]string{"kueue.x-k8s.io/queue-name": queue})
			}
			w.pass(control.SilentAfter - time.Second)
			if again := w.reconcile(); len(w.patches) != 0 || again != time.Second {
				t.Errorf("%d writes before anything can be told, next look after %s", len(w.patches), again)
			}
			w.pass(time.Second)
			w.reconcile()
			w.pass(time.Hour)
			w.reconcile()
			got := w.job.GetAnnotations()
			for _, want := range tc.want {
				if !strings.Contains(got[Waiting], want) {
					t.Errorf("waiting is %q, want %q in it", got[Waiting], want)
				}
			}
			if got[Healthy] != "No" || !strings.HasPrefix(got[Error], "nothing acts on the job") || len(w.patches) != 1 {
				t.Errorf("%d writes, annotations %v", len(w.patches), got)
			}
			w.condition("Running", "PyTorchJobRunning")
			w.pod("master", nil)
			w.pod("worker", nil)
			w.reconcile()
			if got := w.job.GetAnnotations(); got[Healthy] != "Yes" || got[Error] != "" {
				t.Errorf("after the operator came: %v", got)
			}
		})
	}
}

// A job that was deleted and does not go says what holds it and whose that is.
func TestAJobThatIsHeldByAFinalizerSaysSo(t *testing.T) {
	w := newWorld(t)
	w.condition("Succeeded", "PyTorchJobSucceeded")
	at := metav1.NewTime(start)
	w.job.SetDeletionTimestamp(&at)
	if again := w.reconcile(); again != 0 || len(w.patches) != 0 {
		t.Fatalf("a job without finalizers goes by itself: %d writes, next look after %s", len(w.patches), again)
	}
	w.job.SetFinalizers([]string{"quota.example.com/release"})
	w.job.SetManagedFields([]metav1.ManagedFieldsEntry{{
		Manager: "quota-keeper", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:finalizers":{".":{},"v:\"quota.example.com/release\"":{}}}}`),
	}})
	if again := w.reconcile(); again != control.StuckAfter || len(w.patches) != 0 {
		t.Errorf("%d writes at once, next look after %s; want none, and one after %s", len(w.patches), again, control.StuckAfter)
	}
	w.pass(control.StuckAfter)
	w.reconcile()
	w.pass(time.Hour)
	w.reconcile()
	got := w.job.GetAnnotations()
	if len(w.patches) != 1 || got[Healthy] != "No" || got[Error] != "the job is being deleted and does not go (finalizer quota.example.com/release)" {
		t.Errorf("%d writes, annotations %v", len(w.patches), got)
	}
	if want := "finalizer quota.example.com/release (put on by quota-keeper)"; !strings.Contains(got[Analysis], want) {
		t.Errorf("analysis is %q, want %q in it", got[Analysis], want)
	}
}

// A worker that somebody deletes says so on its job, not the exit code that the deletion brought about.
func TestAPodThatWasDeletedFromOutside(t *testing.T) {
	w := newWorld(t)
	w.condition("Failed", "PyTorchJobFailed")
	w.job.Object["status"].(map[string]any)["conditions"].([]any)[0].(map[string]any)["lastTransitionTime"] = start.Format(time.RFC3339)
	w.pod("master", nil)
	w.pod("worker", func(p *corev1.Pod) {
		grace := int64(30)
		at := metav1.NewTime(start.Add(25 * time.Second)) // asked for five seconds ago
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, &grace
		p.Status.Phase = corev1.PodFailed
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 143, Reason: "Error", FinishedAt: metav1.NewTime(start.Add(-4 * time.Second)),
		}}
	})
	w.reconcile()
	if got := w.job.GetAnnotations(); got[Error] != "train-worker-0 (Worker 0, node gpu-1): the pod was deleted while it ran" {
		t.Errorf("annotations %v", got)
	}
}

// What a job that runs suffers from its node stands on it: the node is lost, its pod is not ready.
func TestALostNodeStandsOnTheJob(t *testing.T) {
	w := newWorld(t)
	w.condition("Running", "PyTorchJobRunning")
	w.pod("master", nil)
	w.pod("worker", func(p *corev1.Pod) {
		p.Spec.NodeName = "gpu-2"
		p.Status.ContainerStatuses[0].Ready = false
		p.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(start.Add(-time.Minute)),
		}}
	})
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "gpu-2"}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status.",
		LastTransitionTime: metav1.NewTime(start.Add(-time.Minute)),
	}}}}
	if _, err := w.kube.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.reconcile()
	got := w.job.GetAnnotations()
	if s, _ := readStored(got); got[Healthy] != "No" || s.Category != "node-lost" || !strings.Contains(got[Error], "gpu-2") {
		t.Errorf("the job says %v", got)
	}
}

// Pods that a quota refuses are visible in the operator's events at once, and on the job ten seconds later;
// of a job whose operator is only slow nothing is said yet.
func TestRefusedPodsStandOnTheJobWithinTenSeconds(t *testing.T) {
	for name, why := range map[string]struct{ message, says string }{
		"a quota refuses them": {
			`Error creating: pods "train-master-0" is forbidden: exceeded quota: team, requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=8, limited: requests.nvidia.com/gpu=8`,
			"exceeded quota: team",
		},
		"a webhook refuses them": {
			`Error creating: admission webhook "guard.example.com" denied the request: images of this registry are not allowed`,
			"guard.example.com",
		},
		"nothing is known": {},
	} {
		refused := why.message != ""
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.job.SetCreationTimestamp(metav1.NewTime(start))
			w.job.Object["status"] = map[string]any{"conditions": []any{map[string]any{
				"type": "Created", "status": "True", "reason": "PyTorchJobCreated", "lastTransitionTime": start.Format(time.RFC3339),
			}}}
			if refused {
				e := &corev1.Event{
					ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "e"}, Type: "Warning", Reason: "FailedCreatePod", Count: 3,
					InvolvedObject: corev1.ObjectReference{Kind: "PyTorchJob", Namespace: "ml", Name: "train", UID: "job-1"},
					Message:        why.message,
					LastTimestamp:  metav1.NewTime(start.Add(time.Second)),
				}
				if _, err := w.kube.CoreV1().Events("ml").Create(t.Context(), e, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			w.pass(visible - time.Second)
			if again := w.reconcile(); again != time.Second || len(w.patches) != 0 {
				t.Errorf("%d writes, next look after %s; want none, and one after 1s", len(w.patches), again)
			}
			w.pass(time.Second)
			again := w.reconcile()
			if refused != (refused && strings.Contains(w.job.GetAnnotations()[Waiting], why.says)) || again != control.SilentAfter-visible || !refused && len(w.patches) != 0 {
				t.Errorf("after %s the job says %v, next look after %s", visible, w.job.GetAnnotations(), again)
			}
			w.pass(again)
			w.reconcile()
			if s, _ := readStored(w.job.GetAnnotations()); !refused && s.Category != "operator-silent" {
				t.Errorf("after %s the job says %v", control.SilentAfter, w.job.GetAnnotations())
			}
		})
	}
}
