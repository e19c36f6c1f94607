package control

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// readObjects runs the conditions of the objects between the job and its pods (Workload,
// PodGroup, JobSet, claims) through the catalog: queues say there why they hold a job.
func readObjects(c *evidence.Bundle, catalog *signature.Catalog) []evidence.Observation {
	if catalog == nil {
		return nil
	}
	var out []evidence.Observation
	for _, object := range c.Objects {
		if object == nil {
			continue
		}
		for _, text := range conditionTexts(object) {
			text.message = reduce.Plain(text.message)
			name := object.GetKind() + "/" + object.GetName()
			item := evidence.Item{
				ID: evidence.ID(name + "/" + text.kind), Kind: evidence.Status, Times: 1,
				Source: evidence.Source{Rank: -1}, Text: fmt.Sprintf("%s: %s: %s", name, text.reason, text.message),
			}
			if u, ok := ParseUnschedulable(text.message); ok && object.GetKind() == "PodGroup" {
				rule, facts := Judge(u) // the scheduler's word about the gang
				out = append(out, evidence.Observation{Signature: rule, Item: item, Line: item.Text, Facts: facts, Platform: true})
				continue
			}
			if m := failedNode.FindStringSubmatch(text.message); m != nil && text.reason == "NodeFailures" && !readyAgain(c, m[1]) {
				out = append(out, evidence.Observation{Signature: ruleKueueNode, Item: item, Line: item.Text, Facts: map[string]string{"node": m[1]}, Platform: true, Over: c.State.Phase == kinds.Succeeded})
				continue
			}
			said := len(out)
			for _, m := range ofOneLine(catalog.Match(text.reason+": "+text.message, evidence.Status, evidence.Event)) {
				out = append(out, evidence.Observation{
					Signature: m.Signature, Item: item, Line: item.Text, Facts: m.Facts, Platform: true,
					Over: c.State.Phase == kinds.Succeeded, // the last word is that of what stands above it
				})
			}
			if said == len(out) && object.GetKind() == "Workload" && text.kind == "Evicted" {
				out = append(out, evidence.Observation{Signature: ruleQueueEvicted, Item: item, Line: item.Text, Facts: map[string]string{"reason": text.reason}, Platform: true})
			}
		}
	}
	return out
}

// failedNode is Kueue's word on the node for which it took a job back
// (https://github.com/kubernetes-sigs/kueue/blob/v0.19.0/pkg/scheduler/scheduler.go, evictWorkloadAfterFailedTASReplacement).
var failedNode = lazy.MustCompile(`unhealthy node\(s\): ([^\s,]+)`)

var ruleKueueNode = explaining(rule("kueue-node-failed", "a node of the job failed, and Kueue found no other for its pods", "node-lost", signature.Precise,
	signature.Platform, signature.Helps,
	"Kueue places the job's pods on nodes itself; it took the job back when node {{.node}} failed, and queued it again.", "Why the node failed.",
	"Tell the administrators the node: kubectl describe node shows since when, and what it said last.\nWait: Kueue starts the job again, from its last checkpoint, when the node is back or others are free."), "kueue-topology-fit", "queue-quota")

// readyAgain says that a node is seen and is ready.
func readyAgain(c *evidence.Bundle, node string) bool {
	i := slices.IndexFunc(c.Nodes, func(n corev1.Node) bool { return n.Name == node })
	return i >= 0 && slices.ContainsFunc(c.Nodes[i].Status.Conditions, func(s corev1.NodeCondition) bool {
		return s.Type == corev1.NodeReady && s.Status == corev1.ConditionTrue
	})
}

// goodWhenTrue are conditions that say why they are not: of Kueue's Workloads, of claims, and of
// Kubernetes' own PodGroups in 1.36 and 1.37 (k8s.io/api scheduling/v1alpha2, v1beta1).
var goodWhenTrue = []string{"Admitted", "QuotaReserved", "Ready", "Bound", "Scheduled", "PodGroupScheduled", "PodGroupInitiallyScheduled"}

type conditionText struct{ kind, reason, message string }

func conditionTexts(object *unstructured.Unstructured) []conditionText {
	conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
	if err != nil {
		return nil
	}
	admitted, waits := "", false
	if object.GetKind() == "Workload" {
		admitted, waits = trueSince(conditions, "Admitted"), slices.ContainsFunc(conditions, func(c any) bool {
			m, ok := c.(map[string]any)
			return ok && m["type"] == "QuotaReserved" && m["status"] == "False" && m["message"] != "" && m["message"] != nil
		})
	}
	scheduled := ""
	if object.GetKind() == "PodGroup" {
		scheduled = trueSince(conditions, "Scheduled")
	}
	var out []conditionText
	for _, c := range conditions {
		m, ok := c.(map[string]any)
		if !ok {
			continue
		}
		if at, _ := m["lastTransitionTime"].(string); scheduled != "" && m["type"] == "Unschedulable" && at < scheduled {
			continue // Volcano leaves it standing beside the newer word: the newest counts (ed72c7c8 pkg/controllers/job/job_controller_actions.go, recordPodGroupEvent)
		}
		if at, _ := m["lastTransitionTime"].(string); admitted != "" && at < admitted {
			continue // Kueue admitted it since, and leaves standing why it had queued it again (v0.19.0 pkg/workload/workload.go, SetQuotaReservation)
		}
		kind, _ := m["type"].(string)
		status, _ := m["status"].(string)
		reason, _ := m["reason"].(string)
		message, _ := m["message"].(string)
		if waits && (kind == "Preempted" || kind == "Requeued" || kind == "Evicted" && (reason == "Preempted" || reason == "AdmissionCheck")) {
			// That it was preempted, or that a check of the queue asked for another try, is past: why it waits now stands in
			// QuotaReserved. What a check rejects is deactivated, and says so (v0.19.0 pkg/controller/core/workload_controller.go).
			continue
		}
		// Conditions that are good when true say why they are not; the others why they are.
		good := slices.Contains(goodWhenTrue, kind)
		if (good && status == "False") || (!good && status == "True") {
			out = append(out, conditionText{kind, reason, message})
		}
	}
	return out
}

// trueSince is when a condition became true; empty: it is not, or does not say. Times of the API sort as texts do.
func trueSince(conditions []any, kind string) string {
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok && m["type"] == kind && m["status"] == "True" {
			at, _ := m["lastTransitionTime"].(string)
			return at
		}
	}
	return ""
}
