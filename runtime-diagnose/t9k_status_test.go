package diagnose_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// What the status of T9k's jobs says, of the kinds that have one form of it.
func TestWhatAStatusOfT9kSaysWithoutPods(t *testing.T) {
	const worker = "worker: {replicas: 2, template: {spec: {containers: [{name: worker, image: x}]}}}"
	const launched = "ssh: {sshdPath: /usr/sbin/sshd}, launcher: {image: x}, " + worker
	for name, tc := range map[string]struct{ kind, spec, status, says, not string }{
		"an operator that does not know has answered": {"ColossalAIJob", launched, "{phase: Unknown}", "The operator does not know how it stands.", "says that the operator"},
		"workers of DeepSpeed that were started again": {
			"DeepSpeedJob", worker, "{phase: Running, tasks: [{type: worker, restartCount: 2}]}", "The operator started pods of role worker again 2 times.", "rejoin",
		},
		"workers of ColossalAI do not rejoin": {
			"ColossalAIJob", launched, "{phase: Running, tasks: [{type: worker, restartCount: 1}]}", "a restarted worker does not rejoin the training", "started pods of role",
		},
		"a launcher of ColossalAI": {
			"ColossalAIJob", launched, "{phase: Running, tasks: [{type: launcher, restartCount: 1}]}", "The operator started pods of role launcher again 1 time.", "rejoin",
		},
		"success that was cleaned up": {
			"ColossalAIJob", launched + ", runPolicy: {cleanUpWorkers: true}", "{phase: Succeeded}", "cleanUpWorkers is on", "nothing acts",
		},
		"a replica that failed, in the condition alone": {
			"ColossalAIJob", launched, `{phase: Running, conditions: [{type: ReplicaFailure, status: "True", message: worker-1 exited}]}`, "condition ReplicaFailure is True: worker-1 exited", "too little was seen",
		},
		"a replica that failed, in aggregate alone": {
			"ColossalAIJob", launched, "{phase: Running, aggregate: {running: 2, failed: 1}}", "the operator's aggregate counts 1 failed replica, and no pod that failed is there", "too little was seen",
		},
		"all that aggregate counts is told": {
			"ColossalAIJob", launched, "{phase: Running, aggregate: {running: 1, unknown: 1, deleted: 1}}", "The operator's aggregate counts 1 running, 1 unknown, 1 deleted; no pod of the job exists.", "1 failed",
		},
		"pods that tasks names were made": {
			"ColossalAIJob", launched, "{phase: Pending, tasks: [{type: worker, status: [{name: train-worker-0, phase: Pending, uid: a}]}]}", "0 of 3 pods exist", "makes no pods",
		},
		"a replica that its operator does not know": {
			"ColossalAIJob", launched, "{phase: Running, tasks: [{type: worker, replicas: [{name: train-worker-1, phase: Unknown, uid: a}]}]}", "the operator lists train-worker-1 as Unknown", "too little was seen",
		},
		"a replica that its operator does not know, in aggregate alone": {
			"ColossalAIJob", launched, "{phase: Running, aggregate: {running: 2, unknown: 1}}", "the operator's aggregate counts 1 replica of which it does not know how it stands", "too little was seen",
		},
		"a replica that its operator does not know, beside one that runs": {
			"ColossalAIJob", launched, "{phase: Running, aggregate: {running: 1, unknown: 1}}", "the operator's aggregate counts 1 replica of which it does not know how it stands", "too little was seen",
		},
		"a code in the state of a container, as Kubernetes writes it": {
			"PyTorchTrainingJob", "replicaSpecs: [{type: worker, replicas: 1, template: {spec: {containers: [{name: python, image: x}]}}}]",
			"{phase: Failed, tasks: [{type: worker, replicas: [{name: train-worker-0, phase: Failed, uid: a, containers: [{name: python, state: {terminated: {exitCode: 137}}}]}]}]}",
			"its container python ended with exit code 137", "and its pod is gone\n",
		},
		"restarts that are used up": {
			"PyTorchTrainingJob", "replicaSpecs: [{type: worker, replicas: 1, template: {spec: {containers: [{name: python, image: x}]}}}]",
			"{phase: Failed, backoffCount: 3}", "Its replicas have used 3 of the 3 restarts that they share (backoffLimit): none is started again.", "healthy\n",
		},
		"restarts that are left": {
			"PyTorchTrainingJob", "runPolicy: {backoffLimit: 4}, replicaSpecs: [{type: worker, replicas: 1, template: {spec: {containers: [{name: python, image: x}]}}}]",
			"{phase: Failed, backoffCount: 3}", "not healthy", "that they share",
		},
		"a worker that is another pod": {
			"ColossalAIJob", launched, "{phase: Running, tasks: [{type: worker, replicas: [{name: train-worker-0, phase: Running, uid: a}]}]}", "pod train-worker-0 is another than the one that the operator lists", "healthy\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte("spec: {"+tc.spec+"}\nstatus: "+tc.status), &u.Object); err != nil {
				t.Fatal(err)
			}
			u.SetGroupVersionKind(schema.GroupVersionKind{Group: "batch.tensorstack.dev", Version: "v1beta1", Kind: tc.kind})
			u.SetName("train")
			u.SetCreationTimestamp(metav1.NewTime(noon.Add(-time.Hour)))
			k := kinds.For(u.GroupVersionKind())
			j, err := k.Read(u, nil)
			if err != nil {
				t.Fatal(err)
			}
			var pods []corev1.Pod
			if name == "a worker that is another pod" || strings.HasSuffix(name, "beside one that runs") {
				pods = []corev1.Pod{{
					ObjectMeta: metav1.ObjectMeta{Name: "train-worker-0", UID: "b", Labels: map[string]string{"colossalaijob": "train", "colossalaijob-replica": "train-worker-0"}},
					Status:     corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
				}}
			}
			r := diagnose.Diagnose(t.Context(), diagnose.Case{Job: j, Kind: k, State: k.State(u), Pods: pods, Now: noon}, catalog(t), diagnose.Options{})
			if text := diagnose.Text(r); !strings.Contains(text, tc.says) || strings.Contains(text, tc.not) {
				t.Errorf("want %q and not %q in:\n%s", tc.says, tc.not, text)
			}
		})
	}
}
