package diagnose_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
)

// alone is a PyTorchJob of three pods that was created before noon, and of which nothing else is there.
func alone(before time.Duration) diagnose.Case {
	j := train(2)
	j.Source = &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{}}}
	j.Source.SetCreationTimestamp(metav1.NewTime(noon.Add(-before)))
	return diagnose.Case{Job: j, Kind: replicas, Now: noon}
}

func TestNothingActsOnTheJob(t *testing.T) {
	created := func(c *diagnose.Case) { c.State = kinds.State{Phase: kinds.Created, Reason: "PyTorchJobCreated"} }
	for name, tc := range map[string]struct {
		before time.Duration
		change func(*diagnose.Case)
		want   string // the rule; empty: it is too early, or something else is the matter
		says   string
	}{
		"a second too early":              {before: control.SilentAfter - time.Second},
		"nobody answers":                  {before: control.SilentAfter, want: "operator-silent", says: "it has no pod and no condition"},
		"whether the operator runs":       {before: time.Hour, want: "operator-silent", says: "whether the Deployment training-operator of its operator runs was not seen"},
		"created, and no pods":            {before: time.Hour, change: created, want: "operator-makes-no-pods", says: "the operator has known PyTorchJob train since 2026-03-01 11:00:00 UTC and made no pod"},
		"a pod is there":                  {before: time.Hour, change: func(c *diagnose.Case) { c.Pods = []corev1.Pod{pending("train-master-0", lacksGPUs)} }, want: "unschedulable-gpu"},
		"the pods could not be listed":    {before: time.Hour, change: func(c *diagnose.Case) { c.Missing = []string{"pods: forbidden"} }},
		"it is suspended":                 {before: time.Hour, change: func(c *diagnose.Case) { c.Job.Suspended = true }},
		"it asks for no pods":             {before: time.Hour, change: func(c *diagnose.Case) { c.Job.Roles = nil }},
		"it resumes":                      {before: time.Hour, change: func(c *diagnose.Case) { c.State = kinds.State{Phase: kinds.Created, Reason: "Resuming"} }},
		"an event says why":               {before: time.Hour, change: func(c *diagnose.Case) { created(c); c.Events = []corev1.Event{refusal()} }, want: "quota-exceeded"},
		"the operator wrote a second ago": {before: time.Hour, change: func(c *diagnose.Case) { created(c); c.State.Since = noon.Add(-time.Second).Format(time.RFC3339) }},
	} {
		t.Run(name, func(t *testing.T) {
			c := alone(tc.before)
			if tc.change != nil {
				tc.change(&c)
			}
			r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{})
			got := ""
			if r.Root != nil {
				got = r.Root.Signature
			}
			if got != tc.want || !strings.Contains(r.Waiting, tc.says) {
				t.Errorf("root is %q, waiting %q; want %q and %q", got, r.Waiting, tc.want, tc.says)
			}
		})
	}
}

func TestWhoShouldActOnAJobOfAnotherKind(t *testing.T) {
	const pod = "{spec: {containers: [{name: c, image: x}]}}"
	for name, tc := range map[string]struct{ job, says, not string }{
		"Volcano's own queue is none of Kueue's": {
			"apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nspec: {queue: team-a, tasks: [{name: w, replicas: 2, template: " + pod + "}]}",
			"its queue team-a of Volcano holds pods, and there are none yet to hold; whether the Deployment volcano-controllers of its operator runs was not seen", "Kueue",
		},
		"a queue of Kueue": {
			"apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {labels: {kueue.x-k8s.io/queue-name: team-a}}\nspec: {tasks: [{name: w, replicas: 2, template: " + pod + "}]}",
			"it names queue team-a, and no Workload of Kueue stands for it", "queue default",
		},
		"KubeRay": {
			"apiVersion: ray.io/v1\nkind: RayCluster\nspec: {headGroupSpec: {template: " + pod + "}}",
			"whether the Deployment kuberay-operator of its operator runs was not seen", "queue",
		},
		"LeaderWorkerSet": {
			"apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nspec: {replicas: 1, leaderWorkerTemplate: {size: 2, workerTemplate: " + pod + "}}",
			"whether the Deployment lws-controller-manager of its operator runs was not seen", "queue",
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(tc.job), &u.Object); err != nil {
				t.Fatal(err)
			}
			u.SetName("train")
			u.SetNamespace("ml")
			u.SetUID("job-1")
			u.SetCreationTimestamp(metav1.NewTime(noon.Add(-time.Hour)))
			k := kinds.For(u.GroupVersionKind())
			j, err := k.Read(u, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := diagnose.Diagnose(t.Context(), diagnose.Case{Job: j, Kind: k, State: k.State(u), Now: noon}, catalog(t), diagnose.Options{})
			if r.Root == nil || !strings.Contains(r.Root.Line, tc.says) || strings.Contains(r.Root.Line, tc.not) {
				t.Errorf("want %q and nothing of %s; root: %+v", tc.says, tc.not, r.Root)
			}
		})
	}
}

// refusal is the operator's word that a quota refuses its pods.
func refusal() corev1.Event {
	return corev1.Event{
		Type: corev1.EventTypeWarning, Reason: "FailedCreatePod", LastTimestamp: metav1.NewTime(noon),
		InvolvedObject: corev1.ObjectReference{Kind: "PyTorchJob", Name: "train"},
		Message:        `Error creating: pods "train-master-0" is forbidden: exceeded quota: gpus, requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=0, limited: requests.nvidia.com/gpu=4`,
	}
}

// A TrainJob whose JobSet is there waits for JobSet's operator, not for Trainer.
func TestNothingActsOnWhatTheOperatorMade(t *testing.T) {
	c := alone(time.Hour)
	c.Job.Ref = job.Ref{Kind: "TrainJob", APIVersion: "trainer.kubeflow.org/v1alpha1", Namespace: "ml", Name: "train", UID: "u-1"}
	set := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}}
	set.SetName("train")
	set.SetUID("set")
	set.SetCreationTimestamp(metav1.NewTime(noon.Add(-time.Minute)))
	c.Objects, c.Absent = []*unstructured.Unstructured{set}, []string{"Deployment jobset-controller-manager"}
	r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{})
	if want := "JobSet train was created at 2026-03-01 11:59:00 UTC; it has no pod and no condition: its operator has not acted on it; no namespace has a Deployment jobset-controller-manager"; !strings.Contains(r.Waiting, want) {
		t.Errorf("waiting is %q, want %q in it", r.Waiting, want)
	}
}

func TestFinalizersThatHoldAJob(t *testing.T) {
	for name, tc := range map[string]struct {
		ago  time.Duration
		held []string
		pods int
		want string
	}{
		"too early":                 {control.StuckAfter - time.Second, []string{"foregroundDeletion"}, 1, ""},
		"nothing holds it":          {time.Hour, nil, 1, ""},
		"the garbage collector":     {time.Hour, []string{"foregroundDeletion"}, 1, "until everything that the job owns is gone; 1 pod is left: train-worker-0 (finalizer kueue.x-k8s.io/managed)"},
		"as many pods as are named": {time.Hour, []string{"foregroundDeletion"}, 3, "; 3 pods are left: train-worker-0 (finalizer kueue.x-k8s.io/managed), train-worker-1 (finalizer kueue.x-k8s.io/managed), train-worker-2"},
		"one more":                  {time.Hour, []string{"foregroundDeletion"}, 4, "and 1 more"},
		"a finalizer nobody knows":  {control.StuckAfter, []string{"example.com/x"}, 0, "deleted at 2026-03-01 11:59:00 UTC and still there: finalizer example.com/x"},
		"two of them":               {time.Hour, []string{"example.com/x", "orphan"}, 0, "finalizer example.com/x; finalizer orphan: the garbage collector has to release what the job owns"},
	} {
		t.Run(name, func(t *testing.T) {
			c := alone(2 * time.Hour)
			at := metav1.NewTime(noon.Add(-tc.ago))
			c.Job.Source.SetDeletionTimestamp(&at)
			c.Job.Source.SetFinalizers(tc.held)
			c.State = kinds.State{Phase: kinds.Failed}
			for i := range tc.pods {
				p := ended("train-worker-"+string(rune('0'+i)), "gpu-1", 1, "Error", noon)
				p.Finalizers = []string{"kueue.x-k8s.io/managed"}
				c.Pods = append(c.Pods, p)
			}
			r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{})
			stuck := r.Root != nil && r.Root.Signature == "finalizer-stuck"
			if stuck != (tc.want != "") || stuck && !strings.Contains(r.Root.Line, tc.want) {
				t.Errorf("root is %+v, want %q", r.Root, tc.want)
			}
		})
	}
}

func TestPodsThatWereDeletedWhileTheyRan(t *testing.T) {
	grace := int64(30)
	for name, tc := range map[string]struct {
		change func(*diagnose.Case, *corev1.Pod)
		want   bool
	}{
		"by somebody": {func(*diagnose.Case, *corev1.Pod) {}, true},
		"by an eviction": {func(_ *diagnose.Case, p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"}}
		}, false},
		"by its operator": {func(c *diagnose.Case, _ *corev1.Pod) {
			c.Events = []corev1.Event{{Reason: "SuccessfulDeletePod", Message: "Deleted pod: train-worker-0", InvolvedObject: corev1.ObjectReference{Kind: "PyTorchJob", Name: "train"}}}
		}, false},
		"after the job had failed": {func(c *diagnose.Case, _ *corev1.Pod) { c.State.Since = noon.Add(-time.Minute).Format(time.RFC3339) }, false},
		"after another pod had failed": {func(c *diagnose.Case, _ *corev1.Pod) {
			c.Pods = append(c.Pods, ended("train-worker-1", "gpu-2", 1, "Error", noon.Add(-time.Minute)))
		}, false},
		"after it had ended itself": {func(_ *diagnose.Case, p *corev1.Pod) {
			p.Status.ContainerStatuses[0].State.Terminated.FinishedAt = metav1.NewTime(noon.Add(-time.Minute))
		}, false},
		"with the Job that it belongs to": {func(_ *diagnose.Case, p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", UID: "gone", Controller: new(true)}}
		}, false},
		"and is gone: the kubelet's word": {func(c *diagnose.Case, _ *corev1.Pod) {
			c.Pods, c.Events = nil, []corev1.Event{stopped(noon.Add(-5 * time.Second))}
		}, true},
		"and is gone, as its operator saw at once": {func(c *diagnose.Case, _ *corev1.Pod) {
			c.Pods, c.Events = nil, []corev1.Event{stopped(noon.Add(2 * time.Second))}
		}, true},
		"and is gone, and its operator is not Kubeflow's": {func(c *diagnose.Case, _ *corev1.Pod) {
			c.Job.Ref.APIVersion = "batch.tensorstack.dev/v1beta1"
			c.Pods, c.Events = nil, []corev1.Event{stopped(noon.Add(2 * time.Second))}
		}, false},
		"and is gone, after the job ended": {func(c *diagnose.Case, _ *corev1.Pod) {
			c.Pods, c.Events = nil, []corev1.Event{stopped(noon.Add(5 * time.Second))}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := alone(time.Hour)
			c.State = kinds.State{Phase: kinds.Failed, Reason: "PyTorchJobFailed", Since: noon.Format(time.RFC3339)}
			p := ended("train-worker-0", "gpu-1", 143, "Error", noon.Add(-5*time.Second))
			at := metav1.NewTime(noon.Add(20 * time.Second)) // asked for ten seconds before noon
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, &grace
			tc.change(&c, &p)
			if c.Pods != nil || c.Events == nil || c.Events[0].Reason != "Killing" {
				c.Pods = append(c.Pods, p)
			}
			r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{})
			if got := r.Root != nil && r.Root.Signature == "pod-deleted"; got != tc.want {
				t.Errorf("root is %+v, want it to be the deletion: %v", r.Root, tc.want)
			}
		})
	}
}

// stopped is the kubelet's word that it stopped a container of a pod that is there no longer.
func stopped(at time.Time) corev1.Event {
	return corev1.Event{
		Reason: "Killing", Message: "Stopping container pytorch", LastTimestamp: metav1.NewTime(at),
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "train-worker-0", UID: "gone"},
	}
}
