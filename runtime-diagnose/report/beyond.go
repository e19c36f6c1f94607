package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// beyond adds to the steps against a cause what the rest of the job asks for.
func (d *draft) beyond(root *evidence.Observation, steps []string) []string {
	if nodes, n := d.refusedAgain(root); len(nodes) == 1 {
		steps = append(steps, fmt.Sprintf("All %d pods that were made were refused there: the scheduler chooses that node again until it is cordoned (kubectl cordon %s).", n, words.ShellWord(nodes[0])))
	} else if len(nodes) > 1 {
		steps = append([]string{fmt.Sprintf("Change what the pod asks for before it is tried again: all %d pods that were made were refused, on %d nodes.", n, len(nodes))}, steps...)
	}
	if held := d.heldVolume(root); held != "" {
		steps = slices.Insert(steps, min(1, len(steps)), held) // what starts anew waits for it as well
	}
	if said := d.claimSays(root); said != "" {
		steps = append([]string{said}, steps...)
	}
	if waited := d.waitedForNodes(root); waited != "" {
		steps = append([]string{waited}, steps...)
	}
	if d.ownRuleFails(root) {
		steps = append(steps, "Let the job forgive it: a rule of its podFailurePolicy with action Ignore for the pod condition DisruptionTarget, above the one that failed it, has such a pod made anew and counts it not.")
	}
	return steps
}

// refusedAgain are the nodes whose kubelets refused every pod that was made, where more were made than the job wants at a
// time, and how many those pods are: none was taken in place of another.
func (d *draft) refusedAgain(root *evidence.Observation) (nodes []string, n int) {
	if root.Signature.Category != "admission-denied" || d.Job == nil || len(d.Seen.Pods) <= max(1, d.Job.MinPods()) {
		return nil, 0
	}
	said := map[string]bool{}
	for _, item := range append([]evidence.Item{root.Item}, root.Also...) {
		said[item.Source.Pod] = true
	}
	for i := range d.Seen.Pods {
		p := &d.Seen.Pods[i]
		if !said[p.Name] || p.Source.Node == "" {
			return nil, 0
		}
		if !slices.Contains(nodes, p.Source.Node) {
			nodes = append(nodes, p.Source.Node)
		}
	}
	return nodes, len(d.Seen.Pods)
}

// heldVolume is what to do where a pod waits for a volume that a lost node still has
// (https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/#non-graceful-node-shutdown).
func (d *draft) heldVolume(root *evidence.Observation) string {
	node := d.nodeOf(root.Item.Source)
	if root.Signature.Category != "node-lost" || node == "" {
		return ""
	}
	for i := range d.Observations {
		s := &d.Observations[i]
		_, rest, ok := strings.Cut(s.Line, `Multi-Attach error for volume "`)
		if s.Over || !ok || s.Item.Source.Node == node {
			continue
		}
		volume, _, _ := strings.Cut(rest, `"`)
		return fmt.Sprintf("%s waits for volume %s, which is attached to node %s until the pod there is gone. Where the machine is surely off: "+
			"kubectl taint nodes %s node.kubernetes.io/out-of-service=nodeshutdown:NoExecute takes the pod away and frees the volume.", s.Item.Source.Pod, volume, node, words.ShellWord(node))
	}
	return ""
}

// ownRuleFails says that the job's own podFailurePolicy failed it for a pod that the platform took away
// (https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy).
func (d *draft) ownRuleFails(root *evidence.Observation) bool {
	return root.Platform && d.State.Reason == "PodFailurePolicy" && strings.Contains(d.State.Message, "has condition DisruptionTarget matching FailJob rule")
}

// claimSays is the last thing that went wrong with a claim for which a pod waits.
func (d *draft) claimSays(root *evidence.Observation) string {
	if root.Signature.ID != "unschedulable-claim" {
		return ""
	}
	var last *corev1.Event
	for i := range d.Events {
		e := &d.Events[i]
		if e.InvolvedObject.Kind == "PersistentVolumeClaim" && e.Type == corev1.EventTypeWarning && (last == nil || !control.When(e).Before(control.When(last))) {
			last = e
		}
	}
	if last == nil {
		return ""
	}
	return fmt.Sprintf("Begin with what claim %s says: %s: %s.", last.InvolvedObject.Name, last.Reason, strings.TrimRight(words.OneLine(reduce.Plain(last.Message), 200), "."))
}

// longWait is from when on waiting for a node is worth a word.
const longWait = 10 * time.Minute

// waitedForNodes says how much of a deadline that passed went by before the last pod had a node: the deadline of a Job counts
// from when it was started, and not from when its pods were
// (https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-termination-and-cleanup).
func (d *draft) waitedForNodes(root *evidence.Observation) string {
	if root.Signature.ID != "job-deadline" || strings.Contains(root.Line, "active on the node") { // that of a pod counts from when it has its node
		return ""
	}
	var longest time.Duration
	for _, pods := range [][]corev1.Pod{d.Pods, d.Gone} {
		for i := range pods {
			for _, c := range pods[i].Status.Conditions {
				if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
					longest = max(longest, c.LastTransitionTime.Sub(pods[i].CreationTimestamp.Time))
				}
			}
		}
	}
	if longest < longWait {
		return ""
	}
	return "See whether the deadline is meant to count the wait for nodes: " + words.Short(longest) + " went by before the last pod had one."
}
