package control

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// readT9kWhole reads what the status of a running job of T9k says of its replicas as a whole, where no pod
// that is there says it: a condition ReplicaFailure, failed replicas in aggregate, and workers in whose place
// tasks has another pod (t9k manuals, status.conditions, status.aggregate, status.tasks).
func readT9kWhole(c *evidence.Bundle, pods []Pod) []evidence.Observation {
	if c.Job == nil || c.Job.Source == nil || !strings.HasPrefix(c.Job.Ref.APIVersion, T9kGroup) || c.State.Phase != kinds.Running || slices.ContainsFunc(pods, troubled) {
		return nil
	}
	u := c.Job.Source.Object
	tasks, _, _ := unstructured.NestedSlice(u, "status", "tasks")
	if listsFailed(tasks) {
		return nil // that replica has been told by its name
	}
	if out := otherPods(c, tasks, pods); len(out) > 0 {
		return out
	}
	conditions, _, _ := unstructured.NestedSlice(u, "status", "conditions")
	for _, v := range conditions {
		one, _ := v.(map[string]any)
		if one["type"] == "ReplicaFailure" && one["status"] == "True" {
			message, _ := one["message"].(string)
			return []evidence.Observation{lost("status/ReplicaFailure", "", strings.TrimSuffix("the operator's condition ReplicaFailure is True: "+words.OneLine(message, 200), ": "))}
		}
	}
	if out := unheard(tasks, pods); len(out) > 0 {
		return out
	}
	counts, _, _ := unstructured.NestedMap(u, "status", "aggregate")
	if n, _ := Number(counts["unknown"]); n > 0 && !(allReady(pods) && len(pods) >= c.Job.MaxPods()) {
		return []evidence.Observation{unknownTo("status/aggregate/unknown", "", fmt.Sprintf("the operator's aggregate counts %d replica%s of which it does not know how %s", n, words.S(int(n)), itStands(n)))}
	}
	if n, _ := Number(counts["failed"]); n > 0 {
		return []evidence.Observation{lost("status/aggregate", "", fmt.Sprintf("the operator's aggregate counts %d failed replica%s, and no pod that failed is there", n, words.S(int(n))))}
	}
	return nil
}

func itStands(n int64) string {
	if n == 1 {
		return "it stands"
	}
	return "they stand"
}

// allReady says that the pods that are there run and are ready: what a status says of them is older.
func allReady(pods []Pod) bool {
	return len(pods) > 0 && !slices.ContainsFunc(pods, func(p Pod) bool { return !p.Running() || !p.Ready })
}

// unheard are the replicas that tasks lists with the phase Unknown, which is a pod's whose node does not answer
// (https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-phase), and whose pod does not say otherwise.
func unheard(tasks []any, pods []Pod) []evidence.Observation {
	var out []evidence.Observation
	for _, t := range tasks {
		task, _ := t.(map[string]any)
		for _, r := range replicasOf(task) {
			name, _ := r["name"].(string)
			at := slices.IndexFunc(pods, func(p Pod) bool { return p.Name == name })
			if r["phase"] != "Unknown" || at >= 0 && allReady(pods[at:at+1]) {
				continue
			}
			out = append(out, unknownTo("status/"+name+"/unknown", name, fmt.Sprintf("the operator lists %s as Unknown: it does not know how the replica stands", name)))
		}
	}
	return out
}

// unknownTo is a replica of which its operator does not know how it stands.
func unknownTo(id, pod, text string) evidence.Observation {
	o := lost(id, pod, text)
	o.Signature = ReplicaUnknown
	return o
}

// troubled says that a pod tells itself what is wrong.
func troubled(p Pod) bool {
	return p.Exit != nil || p.Restarts > 0 || p.Phase == corev1.PodFailed || p.Deleted || p.Waiting != ""
}

// lost is what a status says of a replica, of which no pod is left to speak.
func lost(id, pod, text string) evidence.Observation {
	return evidence.Observation{
		Signature: ReplicaLost, Line: text, Platform: true,
		Item: evidence.Item{ID: evidence.ID(id), Kind: evidence.Status, Source: evidence.Source{Pod: pod, Rank: -1}, Text: text, Times: 1},
	}
}

// replicasOf are the replicas that a task lists. Some pages of the manual call the list status, others replicas.
func replicasOf(task map[string]any) []map[string]any {
	var out []map[string]any
	for _, key := range []string{"status", "replicas"} {
		list, _ := task[key].([]any)
		for _, r := range list {
			if replica, ok := r.(map[string]any); ok {
				out = append(out, replica)
			}
		}
	}
	return out
}

func listsFailed(tasks []any) bool {
	return slices.ContainsFunc(tasks, func(t any) bool {
		task, _ := t.(map[string]any)
		return slices.ContainsFunc(replicasOf(task), func(r map[string]any) bool { return r["phase"] == "Failed" })
	})
}

// otherPods are workers of a kind whose restarted workers do not rejoin, which are other pods than the
// operator's status lists under their names.
func otherPods(c *evidence.Bundle, tasks []any, pods []Pod) []evidence.Observation {
	if !NoRejoin(c) {
		return nil
	}
	var out []evidence.Observation
	for _, t := range tasks {
		task, _ := t.(map[string]any)
		if task["type"] != "worker" {
			continue
		}
		for _, r := range replicasOf(task) {
			name, _ := r["name"].(string)
			uid, _ := r["uid"].(string)
			if uid != "" && slices.ContainsFunc(pods, func(p Pod) bool { return p.Name == name && p.UID != "" && string(p.UID) != uid }) {
				out = append(out, lost("status/"+name, name, fmt.Sprintf("pod %s is another than the one that the operator lists under its name; a replaced worker does not rejoin the training", name)))
			}
		}
	}
	return out
}

// listsPods says that the status of a job of T9k names pods that its operator has made.
func listsPods(u *unstructured.Unstructured) bool {
	tasks, _, _ := unstructured.NestedSlice(u.Object, "status", "tasks")
	return slices.ContainsFunc(tasks, func(t any) bool {
		task, _ := t.(map[string]any)
		return slices.ContainsFunc(replicasOf(task), func(r map[string]any) bool { return r["uid"] != nil && r["uid"] != "" })
	})
}
