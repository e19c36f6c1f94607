package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Annotations that drive a pod. Written into a job's pod template, they reach every pod of it; written onto
// a live pod (see [Cluster.SetPodState]), they change that one.
const (
	StateAnnotation       = "kwok.signalbox.dev/state"        // a State
	OnlyRankAnnotation    = "kwok.signalbox.dev/only-rank"    // the state is for the pod of this rank alone; the others run
	AfterAnnotation       = "kwok.signalbox.dev/after"        // how long it runs before that, as in "1.5s"; default 1s
	ExitCodeAnnotation    = "kwok.signalbox.dev/exit-code"    // for ExitCode and CrashLoop; default 1
	BackOffAnnotation     = "kwok.signalbox.dev/back-off"     // pause before a container that restarts runs again; default 10s
	LogAnnotation         = "kwok.signalbox.dev/log"          // file below test/cluster/logs; {rank} stands for the pod's rank
	PreviousLogAnnotation = "kwok.signalbox.dev/previous-log" // the same for kubectl logs --previous
)

// State is what becomes of a pod: one file in stages/ each.
type State string

// The states. OOMKilled and ExitCode follow the pod's restartPolicy: Never ends the pod as Failed, anything
// else restarts the container after its back-off and lets it fail again, as a kubelet would.
const (
	Running          State = "running" // also without an annotation: runs until deleted
	Succeeded        State = "succeeded"
	OOMKilled        State = "oom-killed"         // exit 137, reason OOMKilled
	ExitCode         State = "exit-code"          // ExitCodeAnnotation, reason Error
	ImagePullBackOff State = "image-pull-backoff" // stays Pending
	CrashLoop        State = "crash-loop"         // restarts for ever whatever the restartPolicy; restartCount grows
	Evicted          State = "evicted"            // by the kubelet, for memory pressure on the node
	NodeLost         State = "node-lost"          // stays as it was, not ready; deleting it does not end it
)

const mergePatch = types.MergePatchType

// SetPodState drives one live pod into a state; more are further annotations, e.g.
// map[string]string{cluster.ExitCodeAnnotation: "2"}.
func (c *Cluster) SetPodState(ctx context.Context, namespace, pod string, state State, more map[string]string) error {
	annotations := map[string]string{StateAnnotation: string(state), AfterAnnotation: "0s"}
	maps.Copy(annotations, more)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		return err
	}
	if _, err := c.clientset.CoreV1().Pods(namespace).Patch(ctx, pod, mergePatch, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("set pod %s/%s to %s: %w", namespace, pod, state, err)
	}
	return nil
}

// rankOf is the rank within the pod's replica type, as its operator wrote it.
func rankOf(labels, annotations map[string]string) string {
	for _, rank := range []string{
		labels["training.kubeflow.org/replica-index"],
		labels["batch.kubernetes.io/job-completion-index"],
		annotations["batch.kubernetes.io/job-completion-index"],
	} {
		if rank != "" {
			return rank
		}
	}
	return "0"
}
