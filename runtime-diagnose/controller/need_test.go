package controller

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

func podIn(phase corev1.PodPhase, age time.Duration, container corev1.ContainerState) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(start.Add(-age))},
		Status:     corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{{State: container}}},
	}
}

func waitingFor(reason string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
}

func refused(age time.Duration) corev1.Pod {
	p := podIn(corev1.PodPending, age, corev1.ContainerState{})
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse}}
	return p
}

// crashed is a pod that runs again after its container ended badly.
func crashed(ago time.Duration) corev1.Pod {
	p := podIn(corev1.PodRunning, time.Hour, corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})
	p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: metav1.NewTime(start.Add(-ago))}
	return p
}

func TestDecide(t *testing.T) {
	running := podIn(corev1.PodRunning, time.Hour, corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})
	cases := map[string]struct {
		view      view
		want      need
		wantAgain time.Duration
	}{
		"all pods run":                        {view{state: kinds.State{Phase: kinds.Running}, pods: []corev1.Pod{running}}, nothing, 0},
		"all pods run again":                  {view{state: kinds.State{Phase: kinds.Running}, pods: []corev1.Pod{running}, spoken: true}, thorough, 0},
		"failed":                              {view{state: kinds.State{Phase: kinds.Failed}}, thorough, 0},
		"succeeded":                           {view{state: kinds.State{Phase: kinds.Succeeded}}, thorough, 0},
		"runs again, a minute after a crash":  {view{state: kinds.State{Phase: kinds.Running}, pods: []corev1.Pod{crashed(time.Minute)}, spoken: true}, nothing, 9 * time.Minute},
		"runs again, calmly":                  {view{state: kinds.State{Phase: kinds.Running}, pods: []corev1.Pod{crashed(time.Hour)}, spoken: true}, thorough, 0},
		"suspended":                           {view{state: kinds.State{Phase: kinds.Suspended}}, thorough, 0},
		"suspended, and it says so":           {view{state: kinds.State{Phase: kinds.Suspended}, saysPaused: true}, nothing, 0},
		"a user asks":                         {view{state: kinds.State{Phase: kinds.Running}, pods: []corev1.Pod{running}, asked: true}, thorough, time.Minute},
		"no pods, created a moment ago":       {view{state: kinds.State{Phase: kinds.Created}, created: start.Add(-4 * time.Second)}, nothing, 6 * time.Second},
		"no pods after half a minute":         {view{state: kinds.State{Phase: kinds.Created}, created: start.Add(-30 * time.Second)}, thorough, time.Minute},
		"refused by the scheduler just now":   {view{pods: []corev1.Pod{running, refused(time.Second)}}, reason, 29 * time.Second},
		"refused by the scheduler for long":   {view{pods: []corev1.Pod{running, refused(time.Minute)}}, thorough, time.Minute},
		"a container is being created":        {view{pods: []corev1.Pod{podIn(corev1.PodPending, time.Second, waitingFor("ContainerCreating"))}}, nothing, 29 * time.Second},
		"a container is created for ever":     {view{pods: []corev1.Pod{podIn(corev1.PodPending, time.Minute, waitingFor("ContainerCreating"))}}, thorough, time.Minute},
		"an image is not there":               {view{pods: []corev1.Pod{podIn(corev1.PodPending, time.Second, waitingFor("ErrImagePull"))}}, thorough, time.Minute},
		"a pod failed while the job restarts": {view{state: kinds.State{Phase: kinds.Restarting}, pods: []corev1.Pod{podIn(corev1.PodFailed, time.Hour, corev1.ContainerState{})}}, thorough, time.Minute},
		"a pod that is going has failed":      {view{state: kinds.State{Phase: kinds.Running}, pods: []corev1.Pod{podIn(corev1.PodFailed, time.Hour, corev1.ContainerState{})}}, thorough, time.Minute},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.view.now, tc.view.pendingAfter, tc.view.refresh = start, 30*time.Second, time.Minute
			got, again := tc.view.decide()
			if got != tc.want || again != tc.wantAgain {
				t.Errorf("decide is %d after %s, want %d after %s", got, again, tc.want, tc.wantAgain)
			}
		})
	}
}

// lost is a pod whose node no longer reports: the control plane says not ready, its containers still do.
func lost(ago time.Duration) corev1.Pod {
	p := podIn(corev1.PodRunning, time.Hour, corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})
	p.Status.ContainerStatuses[0].Ready = true
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(start.Add(-ago))}}
	return p
}

// What is wrong with a job whose pods run is looked at within ten seconds.
func TestFewerPodsThanDeclared(t *testing.T) {
	running := podIn(corev1.PodRunning, 9*time.Second, corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})
	going := running
	going.DeletionTimestamp = &metav1.Time{Time: start.Add(-time.Second)}
	for name, tc := range map[string]struct {
		view      view
		want      need
		wantAgain time.Duration
	}{
		"one of two, a moment ago":   {view{declared: 2, pods: []corev1.Pod{running}}, nothing, time.Second},
		"one of two, for a minute":   {view{declared: 2, pods: []corev1.Pod{podIn(corev1.PodRunning, time.Minute, corev1.ContainerState{})}}, thorough, time.Minute},
		"both":                       {view{declared: 2, pods: []corev1.Pod{running, running}}, nothing, 0},
		"nobody knows how many":      {view{pods: []corev1.Pod{running}}, nothing, 0},
		"one of two was deleted":     {view{declared: 2, pods: []corev1.Pod{podIn(corev1.PodRunning, time.Hour, corev1.ContainerState{}), going}}, nothing, 9 * time.Second},
		"one that ended well counts": {view{declared: 2, pods: []corev1.Pod{running, podIn(corev1.PodSucceeded, time.Hour, corev1.ContainerState{})}}, nothing, 0},
		"a node was lost just now":   {view{declared: 1, pods: []corev1.Pod{lost(time.Second)}}, nothing, 9 * time.Second},
		"a node was lost":            {view{declared: 1, pods: []corev1.Pod{lost(time.Minute)}}, thorough, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			tc.view.state, tc.view.created = kinds.State{Phase: kinds.Running}, start.Add(-2*time.Hour)
			tc.view.now, tc.view.pendingAfter, tc.view.refresh = start, 30*time.Second, time.Minute
			if got, again := tc.view.decide(); got != tc.want || again != tc.wantAgain {
				t.Errorf("decide is %d after %s, want %d after %s", got, again, tc.want, tc.wantAgain)
			}
		})
	}
}

func TestTheJobsThatAreLookedAt(t *testing.T) {
	for name, tc := range map[string]struct {
		job  string
		want bool
	}{
		"a backup":             {`{spec: {template: {spec: {containers: [{name: c, resources: {limits: {cpu: 1, memory: 1Gi}}}]}}}}`, false},
		"one that asks a GPU":  {`{spec: {template: {spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}}}}`, true},
		"one with a claim":     {`{spec: {template: {spec: {resourceClaims: [{name: gpu}], containers: [{name: c}]}}}}`, true},
		"one in a queue":       {`{metadata: {labels: {kueue.x-k8s.io/queue-name: q}}, spec: {template: {spec: {containers: [{name: c}]}}}}`, true},
		"of another scheduler": {`{spec: {template: {spec: {schedulerName: volcano, containers: [{name: c}]}}}}`, true},
		"a hook of Helm":       {`{metadata: {annotations: {helm.sh/hook: pre-install}}, spec: {template: {spec: {containers: [{name: c}]}}}}`, false},
		"without anything":     {`{}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(tc.job), &u.Object); err != nil {
				t.Fatal(err)
			}
			if got := trains(u); got != tc.want {
				t.Errorf("looked at: %v, want %v", got, tc.want)
			}
		})
	}
}

func TestSeenIsOrderedByNothing(t *testing.T) {
	a, b := refused(time.Second), podIn(corev1.PodRunning, time.Hour, corev1.ContainerState{})
	if (view{pods: []corev1.Pod{a, b}}).seen(1, "") != (view{pods: []corev1.Pod{b, a}}).seen(1, "") {
		t.Error("the order of pods changes what was seen")
	}
	if (view{pods: []corev1.Pod{a}}).seen(1, "") == (view{pods: []corev1.Pod{b}}).seen(1, "") {
		t.Error("another state looks the same")
	}
}

// The largest finding stays within 8 KiB and says what it cost.
func TestAnnotationsStayInsideTheirBudget(t *testing.T) {
	long := strings.Repeat("a long sentence about memory, 显存不足; ", 400)
	cause := diagnose.Cause{
		Signature: "s", Line: long, Facts: map[string]string{"fact": long}, Source: evidence.Source{Pod: "train-worker-3", Rank: 3},
		Cites: []evidence.ID{"pod/train-worker-3/pytorch#1", "pod/train-worker-3/pytorch#2"},
	}
	r := diagnose.Result{
		Job: job.Ref{Kind: "PyTorchJob", Namespace: "ml", Name: "train"}, Verdict: diagnose.Diagnosed, Observed: start,
		Waiting: long, Error: long, Analysis: long, Solution: []string{long, long}, Root: &cause,
		Story: &diagnose.Story{Text: "Error: short [pod/a/b#1].\nAnalysis: " + long, Model: "m"},
	}
	for range 100 {
		r.Effects = append(r.Effects, cause)
		r.Coverage.Missing = append(r.Coverage.Missing, long)
	}
	got := finding{result: r, print: "p"}.annotations()
	if n := size(got); n > Budget {
		t.Errorf("annotations take %d bytes, want at most %d", n, Budget)
	}
	for _, key := range []string{Error, Analysis, Solution} {
		if !strings.HasSuffix(got[key], " bytes left out; signalbox diagnose pytorchjob/train -n ml)") {
			t.Errorf("%s ends %q", key, got[key][max(0, len(got[key])-80):])
		}
	}
	s, ok := readStored(got)
	if !ok || s.Root == nil || s.Root.Pod != "train-worker-3" {
		t.Fatalf("stored diagnosis is %s", got[Diagnosis])
	}
	want := []string{"95 effects", "97 sources that failed", "1 story", "5 effects", "3 sources that failed", "1 facts"}
	if diff := cmp.Diff(want, s.LeftOut); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}

func TestSameIgnoresWhatNobodyReads(t *testing.T) {
	f := finding{result: diagnose.Result{Verdict: diagnose.Diagnosed, Error: "e", Observed: start}, print: "p"}
	one := f.annotations()
	f.result.Observed = start.Add(time.Hour)
	f.result.Coverage.BytesRead = 99
	if !same(one, f.annotations()) {
		t.Error("a later time and more bytes count as news")
	}
	f.result.Error = "another"
	if same(one, f.annotations()) {
		t.Error("another error counts as the same")
	}
}

func TestJobChanged(t *testing.T) {
	base := func() *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"phase": "a"}}}
		u.SetResourceVersion("1")
		u.SetAnnotations(map[string]string{"other": "1"})
		return u
	}
	cases := map[string]struct {
		change func(*unstructured.Unstructured)
		want   bool
	}{
		"a resync":                   {func(u *unstructured.Unstructured) { u.SetResourceVersion("1"); u.SetGeneration(9) }, false},
		"somebody else's annotation": {func(u *unstructured.Unstructured) { u.SetAnnotations(map[string]string{"other": "2"}) }, false},
		"a user asks":                {func(u *unstructured.Unstructured) { u.SetAnnotations(map[string]string{Ask: "2"}) }, true},
		"ours was taken away":        {func(u *unstructured.Unstructured) { u.SetAnnotations(map[string]string{Healthy: "No"}) }, true},
		"status":                     {func(u *unstructured.Unstructured) { u.Object["status"] = map[string]any{"phase": "b"} }, true},
		"spec":                       {func(u *unstructured.Unstructured) { u.SetGeneration(2) }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			after := base()
			after.SetResourceVersion("2")
			tc.change(after)
			if got := jobChanged(base(), after); got != tc.want {
				t.Errorf("jobChanged is %v, want %v", got, tc.want)
			}
		})
	}
}

func TestJobsOf(t *testing.T) {
	w := &watcher{served: &served{}}
	for _, k := range kinds.All() {
		w.served.set(k, k.GVKs[0])
	}
	owned := func(apiVersion, kind, name string, labels map[string]string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Labels: labels, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: apiVersion, Kind: kind, Name: name, Controller: new(true)},
		}}}
	}
	cases := map[string]struct {
		pod  *corev1.Pod
		want []Request
	}{
		"of a PyTorchJob": {owned("kubeflow.org/v1", "PyTorchJob", "a", nil), []Request{{"PyTorchJob", "ml", "a"}}},
		"of a TrainJob": {
			owned("batch/v1", "Job", "a-node-0", map[string]string{"jobset.sigs.k8s.io/jobset-name": "a"}),
			[]Request{{"Job", "ml", "a-node-0"}, {"JobSet", "ml", "a"}, {"TrainJob", "ml", "a"}},
		},
		"of a Framework": {owned("v1", "ConfigMap", "a-attempt", map[string]string{"FC_FRAMEWORK_NAME": "a"}), []Request{{"Framework", "ml", "a"}}},
		"of a worker of a LeaderWorkerSet": {
			owned("apps/v1", "StatefulSet", "a-0", map[string]string{"leaderworkerset.sigs.k8s.io/name": "a"}), []Request{{"LeaderWorkerSet", "ml", "a"}},
		},
		"of a cluster of a RayJob":    {owned("ray.io/v1", "RayCluster", "a-x7k2p", nil), []Request{{"RayCluster", "ml", "a-x7k2p"}}},
		"of a Volcano Job":            {owned("batch.volcano.sh/v1alpha1", "Job", "a", nil), []Request{{"Job.batch.volcano.sh", "ml", "a"}}},
		"of T9k's MPIJob":             {owned("batch.tensorstack.dev/v1beta1", "MPIJob", "a", nil), []Request{{"MPIJob.batch.tensorstack.dev", "ml", "a"}}},
		"of a Deployment":             {owned("apps/v1", "ReplicaSet", "a-5d", nil), nil},
		"of a stranger's kind Job":    {owned("example.com/v1", "Job", "a", nil), nil},
		"of nobody, with a job label": {&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Labels: map[string]string{"batch.kubernetes.io/job-name": "a"}}}, []Request{{"Job", "ml", "a"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, w.jobsOf(tc.pod)); diff != "" {
				t.Errorf("jobsOf (-want +got):\n%s", diff)
			}
		})
	}
}

// What 0.1 wrote on jobs is read, too.
func TestWaitsSince(t *testing.T) {
	at := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	for waiting, want := range map[string]time.Time{
		"1 of 4 pods is running, 3 wait. It has waited since 2026-11-20 08:00 UTC.": at,
		"1 of 4 pods is running, 3 wait. It waits since 2026-11-20 08:00 UTC.":      at,
		"1 of 4 pods is running, 3 wait.":                                           {},
		"":                                                                          {},
	} {
		if got, known := WaitsSince(waiting); !got.Equal(want) || known == want.IsZero() {
			t.Errorf("%q: %v, %v", waiting, got, known)
		}
	}
}
