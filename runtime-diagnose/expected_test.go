package diagnose_test

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

func TestWhatTheOperatorCountsIsHeldAgainstThePods(t *testing.T) {
	counts := func(active, failed int64) map[string]any {
		return map[string]any{"Worker": map[string]any{"active": active, "failed": failed}}
	}
	one := []corev1.Pod{ended("train-worker-0", "gpu-1", 1, "Error", noon)}
	cases := map[string]struct {
		status any
		pods   []corev1.Pod
		want   string // of the remarks; empty: none
	}{
		"as many as there are":               {counts(0, 1), one, ""},
		"failed pods that are gone":          {counts(0, 3), one, "The operator counts 3 failed pods of role Worker; 1 was seen, and what the others had to say is gone."},
		"active pods of which none is left":  {counts(2, 0), nil, "The operator counts 2 active pods of role Worker; none exists."},
		"it has not looked since they ended": {counts(1, 0), one, ""},
		"a status that is none":              {"odd", one, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			j := train(3)
			j.Source = &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"replicaStatuses": tc.status}}}
			r := diagnose.Diagnose(t.Context(), diagnose.Case{Job: j, Kind: replicas, State: kinds.State{Phase: kinds.Failed}, Now: noon, Pods: tc.pods}, catalog(t), diagnose.Options{})
			if got := strings.Join(r.Remarks, "\n"); got != tc.want {
				t.Errorf("remarks are %q, want %q", got, tc.want)
			}
		})
	}
}

// member is a pod that ended, made by an owner.
func member(pod corev1.Pod, owner types.UID, labels map[string]string) corev1.Pod {
	pod.Labels = labels
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: owner, Controller: new(true)}}
	return pod
}

func TestWhatJobsCountIsHeldAgainstTheirPods(t *testing.T) {
	kindOf := func(name string) *kinds.Kind {
		return kinds.All()[slices.IndexFunc(kinds.All(), func(k *kinds.Kind) bool { return k.Name == name })]
	}
	object := func(text string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
			t.Fatal(err)
		}
		return u
	}
	job := func(status string) string {
		return "{apiVersion: batch/v1, kind: Job, metadata: {name: train-w-0, uid: j0}, status: " + status + "}"
	}
	set := func(status string) string {
		return "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: train}, status: {replicatedJobsStatus: [" + status + "]}}"
	}
	inSet := map[string]string{"jobset.sigs.k8s.io/replicatedjob-name": "w", "jobset.sigs.k8s.io/job-index": "0", "batch.kubernetes.io/job-completion-index": "0"}
	inJob := map[string]string{"batch.kubernetes.io/job-name": "train-w-0"}
	failed := member(ended("train-w-0-abcde", "gpu-1", 1, "Error", noon), "j0", inJob)
	foreign := member(ended("train-w-1-abcde", "gpu-1", 1, "Error", noon), "j1", inJob)
	failedInSet := member(ended("train-w-0-0-abcde", "gpu-1", 1, "Error", noon), "j0", inSet)
	kept := diagnose.Log{Source: evidence.Source{Pod: "train-w-0-fghij", Container: "c", Role: "pod", Attempt: 1, Rank: -1}, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("x\n")), nil }}
	cases := map[string]struct {
		kind, source string
		between      string
		pods         []corev1.Pod
		logs         []diagnose.Log
		missing      []string
		phase        kinds.Phase
		want         string
	}{
		"a Job whose failed pods are there":          {kind: "Job", source: job("{failed: 1}"), pods: []corev1.Pod{failed}},
		"a Job whose failed pods are gone":           {kind: "Job", source: job("{failed: 3}"), pods: []corev1.Pod{failed}, want: "The Job counts 3 failed pods; 1 was seen, and what the others had to say is gone."},
		"a failed pod that is gone, its log is not":  {kind: "Job", source: job("{failed: 2}"), pods: []corev1.Pod{failed}, logs: []diagnose.Log{kept}},
		"a Job with active pods that do not exist":   {kind: "Job", source: job("{active: 2, ready: 2}"), want: "The Job counts 2 active pods; none exists."},
		"pods that nobody could list":                {kind: "Job", source: job("{active: 2}"), missing: []string{"pods: forbidden"}},
		"pods that ended well and were cleaned up":   {kind: "Job", source: job("{failed: 1, succeeded: 7}"), pods: []corev1.Pod{failed}, want: "The Job counts 7 pods that ended well; 0 of them were seen, the others are gone."},
		"a Job that succeeded may clean up":          {kind: "Job", source: job("{succeeded: 7}"), phase: kinds.Succeeded},
		"a Job below a JobSet counts its own pods":   {kind: "JobSet", source: set(""), between: job("{failed: 2}"), pods: []corev1.Pod{foreign, failed}, want: "Job train-w-0 counts 2 failed pods; 1 was seen, and what the others had to say is gone."},
		"counts that are no numbers":                 {kind: "Job", source: job("{failed: many, active: -3}"), pods: []corev1.Pod{failed}},
		"a JobSet whose failed Job has a failed pod": {kind: "JobSet", source: set("{name: w, failed: 1}"), pods: []corev1.Pod{failedInSet}},
		"a JobSet whose failed Jobs left no pod":     {kind: "JobSet", source: set("{name: w, failed: 2}"), want: "2 Jobs of role w failed by the operator's count; no failed pod of theirs was seen, and what they had to say is gone."},
		"a JobSet with active Jobs and no pods":      {kind: "JobSet", source: set("{name: w, active: 1}, {name: v}"), want: "The operator counts 1 active Job of role w; no pod of theirs exists."},
		"a TrainJob says the same":                   {kind: "TrainJob", source: "{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, metadata: {name: train}, status: {jobsStatus: [{name: w, active: 1}, 7]}}", want: "The operator counts 1 active Job of role w; no pod of theirs exists."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			j := train(3)
			j.Source = object(tc.source)
			c := diagnose.Case{Job: j, Kind: kindOf(tc.kind), State: kinds.State{Phase: cmp.Or(tc.phase, kinds.Failed)}, Now: noon, Pods: tc.pods, Logs: tc.logs, Missing: tc.missing}
			if tc.between != "" {
				c.Objects = []*unstructured.Unstructured{nil, object(tc.between)}
			}
			r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{})
			if got := strings.Join(r.Remarks, "\n"); got != tc.want {
				t.Errorf("remarks are %q, want %q", got, tc.want)
			}
		})
	}
}

func TestContainersThatGoRound(t *testing.T) {
	round := func(name string, restarts, code int32) corev1.Pod {
		p := running(name, "gpu-1")
		p.Spec.RestartPolicy = corev1.RestartPolicyAlways
		p.Spec.Containers = []corev1.Container{{Name: "pytorch"}, {Name: "logs"}}
		p.Status.ContainerStatuses[0].RestartCount, p.Status.ContainerStatuses[0].Ready = restarts, true
		p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: code, StartedAt: metav1.NewTime(noon.Add(-2 * time.Minute)), FinishedAt: metav1.NewTime(noon.Add(-90 * time.Second))}
		return p
	}
	change := func(p corev1.Pod, edit func(*corev1.Pod)) corev1.Pod { edit(&p); return p }
	const nine = "The container pytorch of train-worker-0 was started again 9 times; the last of its lives that ended took 30 s"
	cases := map[string]struct {
		pods       []corev1.Pod
		root, want string
	}{
		"it fails and comes back":       {[]corev1.Pod{round("train-worker-0", 9, 1)}, "exit-1", nine + "."},
		"it ends well and comes back":   {[]corev1.Pod{round("train-worker-0", 9, 0), round("train-worker-1", 4, 0)}, "ends-and-restarts", nine + "; 1 more pod comes back 3 times or more."},
		"it came back once":             {[]corev1.Pod{round("train-worker-0", 1, 1)}, "", ""},
		"only what fails is restarted":  {[]corev1.Pod{change(round("train-worker-0", 9, 0), func(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyOnFailure })}, "", nine + "."},
		"a second container comes back": {[]corev1.Pod{change(round("train-worker-0", 9, 0), func(p *corev1.Pod) { p.Spec.Containers[0].Name = "train" })}, "", nine + "."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := diagnose.Case{Job: train(len(tc.pods)), Kind: replicas, State: kinds.State{Phase: kinds.Running}, Now: noon, Pods: tc.pods}
			r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{})
			root := ""
			if r.Root != nil {
				root = r.Root.Signature
			}
			if got := strings.Join(r.Remarks, "\n"); got != tc.want || root != tc.root {
				t.Errorf("root is %q, want %q; remarks are %q, want %q", root, tc.root, got, tc.want)
			}
		})
	}
}

// Pods that failed stay beside those that took their place.
func TestMorePodsThanRunAtATime(t *testing.T) {
	c := diagnose.Case{Job: train(0), Kind: replicas, State: kinds.State{Phase: kinds.Failed}, Now: noon}
	c.Job.Roles = c.Job.Roles[:1]
	for _, name := range []string{"train-a", "train-b", "train-c"} {
		c.Pods = append(c.Pods, ended(name, "gpu-1", 1, "Error", noon))
	}
	text := diagnose.Text(diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{}))
	if want := " · 3 pods seen where 1 runs at a time, 0 read · "; !strings.Contains(text, want) {
		t.Errorf("%q is not in:\n%s", want, text)
	}
}

func TestADebugContainerIsNamedAndItsEndIsNotTheJobs(t *testing.T) {
	p := running("train-worker-0", "gpu-1")
	p.Status.EphemeralContainerStatuses = []corev1.ContainerStatus{{Name: "debugger-x7k", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137}}}}
	c := diagnose.Case{Job: train(0), Kind: replicas, State: kinds.State{Phase: kinds.Running}, Now: noon, Pods: []corev1.Pod{p}}
	c.Job.Roles = c.Job.Roles[:1]
	r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{})
	if got := strings.Join(r.Remarks, "\n"); !strings.HasPrefix(got, "Somebody attached the container debugger-x7k to train-worker-0 (kubectl debug); it has ended: exit code 137") {
		t.Errorf("remarks are %q", got)
	}
	if r.Root != nil {
		t.Errorf("its end is taken for the cause: %+v", r.Root)
	}
}

// The scheduler's word about a gang of Kubernetes' own says why the job waits.
func TestAPodGroupThatIsNotScheduled(t *testing.T) {
	group := &unstructured.Unstructured{Object: map[string]any{
		"kind": "PodGroup", "metadata": map[string]any{"name": "train"},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": "PodGroupInitiallyScheduled", "status": "False", "reason": "Unschedulable",
			"message": "0/4 nodes are available: 4 Insufficient nvidia.com/gpu.",
		}}},
	}}
	c := diagnose.Case{Job: train(3), Kind: replicas, State: kinds.State{Phase: kinds.Created}, Now: noon, Objects: []*unstructured.Unstructured{group}}
	r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{})
	if r.Root == nil || r.Root.Signature != "unschedulable-gpu" || string(r.Root.Cites[0]) != "PodGroup/train/PodGroupInitiallyScheduled" {
		t.Errorf("root is %+v", r.Root)
	}
}
