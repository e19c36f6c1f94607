package diagnose_test

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/test/build"
	"github.com/signalbox-dev/signalbox/test/golden"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// shipped loads once: every pattern is proven against its gate when it is loaded.
var shipped = sync.OnceValues(signature.Builtin)

func catalog(t testing.TB) *signature.Catalog {
	t.Helper()
	c, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// train is a PyTorchJob of one master and n workers, 8 GPUs each.
func train(workers int) *job.Job {
	role := func(name string, n int) job.Role {
		return job.Role{Name: name, Replicas: job.Exactly(n), Pod: job.Pod{Requests: job.Resources{"nvidia.com/gpu": 8}}}
	}
	return &job.Job{
		Ref:   job.Ref{Kind: "PyTorchJob", APIVersion: "kubeflow.org/v1", Namespace: "ml", Name: "train", UID: "u-1"},
		Roles: []job.Role{role("Master", 1), role("Worker", workers)},
	}
}

// replicas places pods by their names: train-worker-3.
var replicas = &kinds.Kind{Name: "PyTorchJob", Place: func(p *corev1.Pod) (string, int, bool) {
	if strings.Contains(p.Name, "master") {
		return "Master", 0, true
	}
	var n int
	_, err := fmt.Sscanf(p.Name[strings.LastIndex(p.Name, "-")+1:], "%d", &n)
	return "Worker", n, err == nil
}}

func running(name, node string) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ml"},
		Spec:       corev1.PodSpec{NodeName: node},
		Status: corev1.PodStatus{
			Phase:             corev1.PodRunning,
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "pytorch", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}},
		},
	}
}

func pending(name, message string) corev1.Pod {
	p := running(name, "")
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message,
	}}}
	return p
}

func ended(name, node string, code int32, reason string, at time.Time) corev1.Pod {
	p := running(name, node)
	p.Status.Phase = corev1.PodFailed
	if code == 0 {
		p.Status.Phase = corev1.PodSucceeded
	}
	p.Status.Conditions = nil
	p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, FinishedAt: metav1.NewTime(at),
	}}
	return p
}

func waiting(name, node, reason, message string) corev1.Pod {
	p := running(name, node)
	p.Status.Phase = corev1.PodPending
	p.Status.Conditions = nil
	p.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	return p
}

func restarted(name string, times int32) corev1.Pod { return restartedAt(name, times, noon) }

func restartedAt(name string, times int32, at time.Time) corev1.Pod {
	p := running(name, "gpu-1")
	c := &p.Status.ContainerStatuses[0]
	c.Ready, c.RestartCount = true, times
	c.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled", FinishedAt: metav1.NewTime(at)}
	return p
}

func logOf(pod string, lines ...string) diagnose.Log {
	return diagnose.Log{
		Source: evidence.Source{Pod: pod, Container: "pytorch", Rank: -1},
		Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(strings.Join(lines, "\n") + "\n")), nil
		},
	}
}

func logBefore(pod string, lines ...string) diagnose.Log {
	l := logOf(pod, lines...)
	l.Source.Attempt = 1
	return l
}

const lacksGPUs = "0/5 nodes are available: 1 node(s) were unschedulable, 4 Insufficient nvidia.com/gpu. preemption: 0/5 nodes are available: 5 No preemption victims found for incoming pod."

// sixNodes is a cluster of 8-GPU nodes, gpu-1 to gpu-6, on which the first four pods of the
// job run. Others hold 3 GPUs of gpu-5 and 5 of gpu-6.
func sixNodes(cordoned ...string) *cluster.Snapshot {
	var items []build.Item
	for i := range 6 {
		name := fmt.Sprintf("gpu-%d", i+1)
		n := build.Node(name, build.GPUs(8))
		n.Spec.Unschedulable = slices.Contains(cordoned, name)
		items = append(items, n)
	}
	for i, name := range []string{"train-master-0", "train-worker-0", "train-worker-1", "train-worker-2"} {
		items = append(items, build.Pod(name, build.In("ml"), build.On(fmt.Sprintf("gpu-%d", i+1)), build.Asks("8")))
	}
	items = append(items, build.Pod("other-0", build.In("web"), build.On("gpu-5"), build.Asks("3")), build.Pod("other-1", build.In("web"), build.On("gpu-6"), build.Asks("5")))
	return build.Cluster(items...)
}

// stories are the cases of the user's manuals and the ones beside them; each has a golden
// file with what a person reads.
var stories = map[string]diagnose.Case{
	"two-of-six-pods-wait-for-gpus": {
		Job: train(5), Kind: replicas, State: kinds.State{Phase: kinds.Running},
		Pods: []corev1.Pod{
			running("train-master-0", "gpu-1"), running("train-worker-0", "gpu-2"), running("train-worker-1", "gpu-3"),
			running("train-worker-2", "gpu-4"), pending("train-worker-3", lacksGPUs), pending("train-worker-4", lacksGPUs),
		},
	},
	"two-of-six-pods-wait-on-a-known-cluster": {
		Job: train(5), Kind: replicas, State: kinds.State{Phase: kinds.Running},
		Pods: []corev1.Pod{
			running("train-master-0", "gpu-1"), running("train-worker-0", "gpu-2"), running("train-worker-1", "gpu-3"),
			running("train-worker-2", "gpu-4"), pending("train-worker-3", lacksGPUs), pending("train-worker-4", lacksGPUs),
		},
		Cluster: sixNodes(),
	},
	"two-of-six-pods-wait-on-a-cluster-too-small": {
		Job: train(5), Kind: replicas, State: kinds.State{Phase: kinds.Running},
		Pods: []corev1.Pod{
			running("train-master-0", "gpu-1"), running("train-worker-0", "gpu-2"), running("train-worker-1", "gpu-3"),
			running("train-worker-2", "gpu-4"), pending("train-worker-3", lacksGPUs), pending("train-worker-4", lacksGPUs),
		},
		Cluster: sixNodes("gpu-6"),
	},
	"no-pod-runs-for-lack-of-gpus": {
		Job: train(1), Kind: replicas, State: kinds.State{Phase: kinds.Created},
		Pods: []corev1.Pod{pending("train-master-0", lacksGPUs), pending("train-worker-0", lacksGPUs)},
	},
	"master-killed-for-memory": {
		Job: train(2), Kind: replicas, State: kinds.State{Phase: kinds.Failed, Reason: "PyTorchJobFailed"},
		Pods: []corev1.Pod{
			ended("train-master-0", "gpu-1", 137, "OOMKilled", noon), ended("train-worker-0", "gpu-2", 143, "Error", noon.Add(9*time.Second)),
			ended("train-worker-1", "gpu-3", 1, "Error", noon.Add(8*time.Second)),
		},
		Logs: []diagnose.Log{
			logOf("train-master-0", "step 100 loss: 2.31", "step 101 loss: 2.30"),
			logOf("train-worker-1", "step 100 loss: 2.31",
				"Traceback (most recent call last):", `  File "train.py", line 7, in <module>`, "    dist.all_reduce(x)",
				"torch.distributed.DistBackendError: NCCL error: remote process exited or there was a network error, NCCL version 2.21.5"),
		},
	},
	"killed-without-a-report-of-memory": {
		Job: train(1), Kind: replicas, State: kinds.State{Phase: kinds.Failed},
		Pods: []corev1.Pod{ended("train-master-0", "gpu-1", 137, "Error", noon), running("train-worker-0", "gpu-2")},
		Logs: []diagnose.Log{logOf("train-master-0", "step 100 loss: 2.31")},
	},
	"no-node-matches": {
		Job: train(1), Kind: replicas, State: kinds.State{Phase: kinds.Created},
		Pods: []corev1.Pod{
			pending("train-master-0", "0/9 nodes are available: 9 node(s) didn't match Pod's node affinity/selector. preemption: 0/9 nodes are available: 9 Preemption is not helpful for scheduling."),
		},
	},
	"succeeded": {
		Job: train(1), Kind: replicas, State: kinds.State{Phase: kinds.Succeeded},
		Pods: []corev1.Pod{ended("train-master-0", "gpu-1", 0, "Completed", noon), ended("train-worker-0", "gpu-2", 0, "Completed", noon)},
	},
	"module-is-missing": {
		Job: train(1), Kind: replicas, State: kinds.State{Phase: kinds.Failed},
		Pods: []corev1.Pod{ended("train-master-0", "gpu-1", 1, "Error", noon), ended("train-worker-0", "gpu-2", 1, "Error", noon)},
		Logs: []diagnose.Log{
			logOf("train-master-0", "Traceback (most recent call last):", `  File "/app/train.py", line 3, in <module>`, "    import apex", "ModuleNotFoundError: No module named 'apex'"),
			logOf("train-worker-0", "Traceback (most recent call last):", `  File "/app/train.py", line 3, in <module>`, "    import apex", "ModuleNotFoundError: No module named 'apex'"),
		},
	},
	"loss-is-nan-while-it-runs": {
		Job: train(1), Kind: replicas, State: kinds.State{Phase: kinds.Running},
		Pods: []corev1.Pod{running("train-master-0", "gpu-1"), running("train-worker-0", "gpu-2")},
		Logs: []diagnose.Log{logOf("train-master-0", "step 100 loss: 2.31", "step 101 loss: 9.87", "step 102 loss: nan", "step 103 loss: nan")},
	},
	"loss-was-nan-and-it-succeeded": {
		Job: train(1), Kind: replicas, State: kinds.State{Phase: kinds.Succeeded},
		Pods: []corev1.Pod{ended("train-master-0", "gpu-1", 0, "Completed", noon), ended("train-worker-0", "gpu-2", 0, "Completed", noon)},
		Logs: []diagnose.Log{logOf("train-master-0", "step 102 loss: nan", "Training completed")},
	},
	"three-ranks-waited-for-one-that-ran-out-of-gpu-memory": {
		Job: train(3), Kind: replicas, State: kinds.State{Phase: kinds.Failed},
		Pods: []corev1.Pod{
			ended("train-master-0", "gpu-1", 134, "Error", noon.Add(600*time.Second)), ended("train-worker-0", "gpu-2", 134, "Error", noon.Add(600*time.Second)),
			ended("train-worker-1", "gpu-3", 134, "Error", noon.Add(601*time.Second)), ended("train-worker-2", "gpu-4", 1, "Error", noon),
		},
		Logs: []diagnose.Log{
			logOf("train-master-0", watchdog(0)...), logOf("train-worker-0", watchdog(1)...), logOf("train-worker-1", watchdog(2)...),
			logOf("train-worker-2", "[rank3]: Traceback (most recent call last):", `[rank3]:   File "/app/train.py", line 70, in step`, "[rank3]:     loss.backward()",
				"[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 512.00 MiB is free."),
		},
	},
	"exit-1-and-no-log": {
		Job: train(1), Kind: replicas, State: kinds.State{Phase: kinds.Failed},
		Pods:    []corev1.Pod{ended("train-master-0", "gpu-1", 1, "Error", noon)},
		Missing: []string{"log of train-master-0/pytorch: the node does not answer"},
	},
	"image-has-a-typo": {
		Job: train(1), Kind: replicas, State: kinds.State{Phase: kinds.Created},
		Pods: []corev1.Pod{
			waiting("train-master-0", "gpu-1", "ImagePullBackOff", `Back-off pulling image "registry.local/trian:1"`),
			waiting("train-worker-0", "gpu-2", "ImagePullBackOff", `Back-off pulling image "registry.local/trian:1"`),
		},
	},
	"suspended-by-its-queue": {
		Job: &job.Job{Ref: train(0).Ref, Suspended: true}, State: kinds.State{Phase: kinds.Suspended, Message: "Job is suspended"},
	},
	"launcher-of-colossalai-claims-success": {
		Job:   &job.Job{Ref: job.Ref{Kind: "ColossalAIJob", APIVersion: "batch.tensorstack.dev/v1beta1", Namespace: "ml", Name: "gpt"}},
		State: kinds.State{Phase: kinds.Succeeded},
	},
	"framework-hides-a-failed-task": {
		Job:   &job.Job{Ref: job.Ref{Kind: "Framework", APIVersion: "frameworkcontroller.microsoft.com/v1", Namespace: "ml", Name: "tf"}, Source: frameworkWithFailedTask},
		State: kinds.State{Phase: kinds.Succeeded},
	},
	"held-by-kueue": {
		Job: &job.Job{Ref: train(0).Ref, Suspended: true}, State: kinds.State{Phase: kinds.Suspended},
		Objects: []*unstructured.Unstructured{{Object: map[string]any{
			"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload", "metadata": map[string]any{"name": "pytorchjob-train"},
			"status": map[string]any{"conditions": []any{map[string]any{
				"type": "QuotaReserved", "status": "False", "reason": "Pending",
				"message": "couldn't assign flavors to pod set worker: insufficient unused quota for nvidia.com/gpu in flavor h100, 8 more needed",
			}}},
		}}},
	},
	"larger-than-its-queue": {
		Job: &job.Job{Ref: train(0).Ref, Suspended: true}, State: kinds.State{Phase: kinds.Suspended},
		Objects: []*unstructured.Unstructured{{Object: map[string]any{
			"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload", "metadata": map[string]any{"name": "pytorchjob-train"},
			"status": map[string]any{"conditions": []any{map[string]any{
				"type": "QuotaReserved", "status": "False", "reason": "Pending",
				"message": "couldn't assign flavors to pod set worker: insufficient quota for nvidia.com/gpu in flavor h100, request > maximum capacity (16 > 8)",
			}}},
		}}},
	},
	"recovered-after-one-restart": {
		Job: train(0), Kind: replicas, State: kinds.State{Phase: kinds.Running},
		Pods: []corev1.Pod{restarted("train-master-0", 1)},
		Logs: []diagnose.Log{logOf("train-master-0", "step 7 loss: 2.1"), logBefore("train-master-0", "RuntimeError: CUDA error: an illegal memory access was encountered")},
	},
	"restarts-again-and-again": {
		Job: train(0), Kind: replicas, State: kinds.State{Phase: kinds.Running},
		Pods: []corev1.Pod{restartedAt("train-master-0", 7, noon.Add(58*time.Minute))},
	},
	"a-restarted-worker-of-colossalai-is-lost": {
		Job:   &job.Job{Ref: job.Ref{Kind: "ColossalAIJob", APIVersion: "batch.tensorstack.dev/v1beta1", Namespace: "ml", Name: "gpt"}},
		State: kinds.State{Phase: kinds.Running}, Pods: []corev1.Pod{restarted("gpt-worker-0", 1)},
	},
	"nothing-was-there": {},
}

func watchdog(rank int) []string {
	return []string{
		"step 100 loss: 2.31",
		fmt.Sprintf("[rank%d]:[E301 12:10:00.000000000 ProcessGroupNCCL.cpp:616] [Rank %d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600096 milliseconds before timing out.", rank, rank),
		"terminate called after throwing an instance of 'c10::DistBackendError'",
	}
}

var frameworkWithFailedTask = &unstructured.Unstructured{Object: map[string]any{
	"status": map[string]any{"attemptStatus": map[string]any{"taskRoleStatuses": []any{map[string]any{
		"name": "worker",
		"taskStatuses": []any{
			map[string]any{"index": int64(0), "attemptStatus": map[string]any{"podName": "tf-worker-0", "completionStatus": map[string]any{"code": int64(0)}}},
			map[string]any{"index": int64(1), "attemptStatus": map[string]any{
				"podName": "tf-worker-1", "podNodeName": "gpu-2",
				"completionStatus": map[string]any{"code": int64(-1200), "phrase": "UserContainerDockerOOMKilled", "diagnostics": "PodPattern matched: {}"},
			}},
		},
	}}}},
}}

func TestStories(t *testing.T) {
	c := catalog(t)
	for name, story := range stories {
		t.Run(name, func(t *testing.T) {
			story.Now = noon.Add(time.Hour)
			r := diagnose.Diagnose(t.Context(), story, c, diagnose.Options{})
			golden.Equal(t, filepath.Join("testdata", "stories", name+".txt"), []byte(diagnose.Text(r)))
			data, err := diagnose.JSON(r)
			if err != nil {
				t.Fatal(err)
			}
			golden.Equal(t, filepath.Join("testdata", "stories", name+".json"), data)
			if !json.Valid(data) {
				t.Error("JSON is not valid")
			}
			again := diagnose.Diagnose(t.Context(), story, c, diagnose.Options{})
			if diagnose.Text(again) != diagnose.Text(r) || diagnose.Fingerprint(again) != diagnose.Fingerprint(r) {
				t.Error("a second run says something else")
			}
			checkCites(t, r)
			slices.Reverse(story.Pods)
			slices.Reverse(story.Logs)
			if turned := diagnose.Diagnose(t.Context(), story, c, diagnose.Options{}); diagnose.Text(turned) != diagnose.Text(r) {
				t.Errorf("pods and logs in another order change the answer:\n%s", diagnose.Text(turned))
			}
		})
	}
}

// checkCites holds every result to the promise that what is cited is in the evidence.
func checkCites(t *testing.T, r diagnose.Result) {
	t.Helper()
	have := map[evidence.ID]bool{}
	for _, item := range r.Evidence {
		if have[item.ID] {
			t.Errorf("evidence %s is there twice", item.ID)
		}
		have[item.ID] = true
	}
	causes := append([]diagnose.Cause(nil), r.Effects...)
	if r.Root != nil {
		causes = append(causes, *r.Root)
	}
	for _, c := range causes {
		if len(c.Cites) == 0 {
			t.Errorf("%s cites nothing", c.Signature)
		}
		for _, id := range c.Cites {
			if !have[id] {
				t.Errorf("%s cites %s, which is not in the evidence", c.Signature, id)
			}
		}
	}
}
