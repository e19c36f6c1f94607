package control

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

func (r *reader) readNode(node *corev1.Node) {
	for _, c := range node.Status.Conditions {
		item := evidence.Item{
			ID: id("node", node.Name, string(c.Type)), Kind: evidence.Node, At: c.LastTransitionTime.Time,
			Source: evidence.Source{Node: node.Name, Rank: -1},
			Text:   fmt.Sprintf("node %s: %s=%s %s: %s", node.Name, c.Type, c.Status, c.Reason, c.Message),
		}
		Origin(node.Annotations, "condition."+string(c.Type), &item)
		switch {
		case c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue:
			if r.concerns(node.Name) {
				r.sight(ruleNodeNotReady, item, map[string]string{"node": node.Name, "reason": c.Reason})
			}
		case c.Status == corev1.ConditionTrue && c.Type != corev1.NodeReady:
			// Node problem detectors write their findings as conditions of their own types.
			r.match(string(c.Type)+": "+c.Reason+": "+c.Message, item, false)
		}
	}
}

// concerns says that a pod of the job is on the node and has not ended well; without pods
// every node that was handed in concerns.
func (r *reader) concerns(node string) bool {
	for _, p := range r.seen.Pods {
		if p.Source.Node == node && p.Phase != corev1.PodSucceeded {
			return true
		}
	}
	return len(r.seen.Pods) == 0
}
