package control

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
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
		case c.Status == corev1.ConditionTrue && strings.HasSuffix(string(c.Type), "Pressure") && r.well:
			if r.concerns(node.Name) {
				r.note("Node %s reports %s: the kubelet evicts pods there if that lasts.", node.Name, c.Type)
			}
		case c.Status == corev1.ConditionTrue && c.Type != corev1.NodeReady && !r.foreign(node.Name):
			// Node problem detectors write their findings as conditions of their own types.
			r.match(string(c.Type)+": "+c.Reason+": "+c.Message, item, false)
		}
	}
	if r.concerns(node.Name) {
		r.readUpkeep(node)
		r.readMissingDevices(node)
	}
}

// readyBeforePods says that a node has become ready since, and before the first program of the job began on it: it stayed so.
func (r *reader) readyBeforePods(name string, at time.Time) bool {
	since := r.readySince(name)
	return since.After(at) && r.stays[name].beganAfter(since)
}

// readySince is when a node became ready; zero: it is not, or is not known.
func (r *reader) readySince(name string) (since time.Time) {
	for i := range r.Nodes {
		for _, c := range r.Nodes[i].Status.Conditions {
			if r.Nodes[i].Name == name && c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
				since = c.LastTransitionTime.Time
			}
		}
	}
	return since
}

// leaving are taints of nodes that are being taken away: by the cluster-autoscaler
// (https://github.com/kubernetes/autoscaler/blob/cluster-autoscaler-1.33.0/cluster-autoscaler/utils/taints/taints.go),
// by Karpenter (https://karpenter.sh/docs/concepts/disruption/), and by people who know that the
// machine is off (https://kubernetes.io/docs/reference/labels-annotations-taints/#node-kubernetes-io-out-of-service).
var leaving = []string{"ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted", "node.kubernetes.io/out-of-service"}

// The states in which the GPU operator works on a node
// (https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-driver-upgrades.html,
// …/gpu-operator-mig.html). upgrade-required only waits for its turn.
const (
	upgradeLabel = "nvidia.com/gpu-driver-upgrade-state"
	migLabel     = "nvidia.com/mig.config.state"
)

// readUpkeep looks for work on the node that takes its pods or devices away. It counts only
// beside a failure: pods run through most of it.
func (r *reader) readUpkeep(node *corev1.Node) {
	say := func(name, text string, rule *signature.Signature, facts map[string]string) {
		facts["node"] = node.Name
		r.sight(rule, evidence.Item{
			ID: id("node", node.Name, name), Kind: evidence.Node, Source: evidence.Source{Node: node.Name, Rank: -1}, Text: "node " + node.Name + ": " + text,
		}, facts)
	}
	for _, taint := range node.Spec.Taints {
		if slices.Contains(leaving, taint.Key) {
			say("taint", "tainted "+taint.ToString(), ruleNodeLeaving, map[string]string{"taint": taint.Key})
		}
	}
	if mark := UpgradeMark(node); mark != "" {
		say("upgrade", mark, ruleNodeUpgrade, map[string]string{"mark": mark})
	}
	switch state := node.Labels[upgradeLabel]; state {
	case "", "upgrade-done", "upgrade-required":
	default:
		say("driver-upgrade", upgradeLabel+"="+state, ruleDriverUpgrade, map[string]string{"state": state})
	}
	switch state := node.Labels[migLabel]; state {
	case "pending", "rebooting", "failed":
		say("mig", migLabel+"="+state+" for "+node.Labels["nvidia.com/mig.config"], ruleMIG, map[string]string{"state": state})
	}
}

// readMissingDevices compares what the node has with what it offers: device plugins take devices
// that they find broken out of allocatable
// (https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/).
func (r *reader) readMissingDevices(node *corev1.Node) {
	for _, name := range slices.Sorted(maps.Keys(node.Status.Capacity)) {
		has, offers := node.Status.Capacity[name], node.Status.Allocatable[name]
		if !isDevice(string(name)) || strings.Contains(string(name), "kubernetes.io/") || has.Cmp(offers) <= 0 {
			continue
		}
		r.sight(ruleDevicesMissing, evidence.Item{
			ID: id("node", node.Name, string(name)), Kind: evidence.Node, Source: evidence.Source{Node: node.Name, Rank: -1},
			Text: fmt.Sprintf("node %s: offers %s of %s %s", node.Name, offers.String(), has.String(), name),
		}, map[string]string{"node": node.Name, "resource": string(name), "has": has.String(), "offers": offers.String()})
	}
}

// readDevices reads the health of the devices that a container holds, as device plugins and
// drivers report it to the kubelet (Kubernetes 1.31, ResourceHealthStatus).
func (r *reader) readDevices(pod *corev1.Pod, p *Pod, c *corev1.ContainerStatus) {
	for _, resource := range c.AllocatedResourcesStatus {
		for _, device := range resource.Resources {
			if device.Health != corev1.ResourceHealthStatusUnhealthy {
				continue
			}
			source := p.Source
			source.Container = c.Name
			r.sight(ruleForReason("DeviceUnhealthy"), evidence.Item{
				ID: id("pod", pod.Name, c.Name, "device", string(device.ResourceID)), Kind: evidence.Status, Source: source,
				Text: fmt.Sprintf("pod %s: %s %s is unhealthy", pod.Name, resource.Name, device.ResourceID),
			}, map[string]string{"resource": string(resource.Name), "device": string(device.ResourceID)})
		}
	}
}

// weak is a rule that counts only beside a failure seen elsewhere.
func weak(s *signature.Signature) *signature.Signature {
	s.Weak = true
	return s
}

var ruleNodeLeaving = weak(rule("node-leaving", "the node is being taken away", "node-lost", signature.General,
	signature.Platform, signature.Helps,
	"An autoscaler or a person marked the node as leaving.", "That this ended the pod: pods may end on their own while a node is drained.",
	"Start the job again; it needs a checkpoint to go on from.\nAsk for nodes that are not consolidated while jobs run on them."))

var ruleDriverUpgrade = weak(rule("node-driver-upgrade", "the GPU operator is replacing the node's driver", "node-lost", signature.General,
	signature.Platform, signature.Helps,
	"The node is in a driver upgrade, in which its GPU pods are deleted and its devices go away.", "That this ended the pod.",
	"Start the job again when the node's upgrade is done, or on other nodes.\nIf the state is upgrade-failed, tell the administrator the node."))

var ruleMIG = weak(rule("node-mig-reconfiguring", "the node's GPUs are being partitioned anew", "no-gpu-visible", signature.General,
	signature.Platform, signature.Helps,
	"The MIG layout of the node is changing or its change failed; meanwhile the node offers no devices.", "That the pod lost its device.",
	"Start the job again when the state is success; if it is failed, tell the administrator the node."))

var ruleDevicesMissing = weak(rule("node-devices-missing", "the node offers fewer devices than it has", "gpu-hardware-xid", signature.General,
	signature.Hardware, signature.Helps,
	"The device plugin took devices of this node out of use.", "Which device is broken, and that the job held it.",
	"Tell the administrator the node; start the job on other nodes."))

// concerns says that a pod of the job is on the node and has not ended well; without pods
// every node that was handed in concerns.
func (r *reader) concerns(node string) bool { return r.nodes[node] || len(r.seen.Pods) == 0 }

func (r *reader) inUse() map[string]bool {
	nodes := map[string]bool{}
	for i := range r.seen.Pods {
		if p := &r.seen.Pods[i]; p.Phase != corev1.PodSucceeded && !p.Past {
			nodes[p.Source.Node] = true
		}
	}
	if r.well { // others took the place of those that are gone
		return nodes
	}
	for _, node := range EvictedFrom(r.Events, r.Pods) {
		nodes[node] = true
	}
	return nodes
}

// NodeAbsent is how evidence.Bundle.Absent names a node that is not there.
func NodeAbsent(name string) string { return "Node " + name }

// readGoneNodes says which pods run, by their word, on nodes that are not there. They are deleted within a minute
// (kubernetes/kubernetes, pkg/controller/podgc/gc_controller.go).
func (r *reader) readGoneNodes() {
	said := map[string]bool{}
	for i := range r.seen.Pods {
		p := &r.seen.Pods[i]
		if node := p.Source.Node; p.Phase == corev1.PodRunning && !p.Past && !said[node] && slices.Contains(r.Absent, NodeAbsent(node)) {
			said[node] = true
			r.sight(ruleNodeGone, evidence.Item{
				ID: id("node", node, "gone"), Kind: evidence.Node, At: r.Now, Latest: true, Source: evidence.Source{Node: node, Rank: -1},
				Text: fmt.Sprintf("node %s does not exist; pod %s is said to run on it", node, p.Name),
			}, map[string]string{"node": node})
		}
	}
}

// EvictedFrom are the nodes from which pods were taken for a taint that are gone since, each once, in the order of the events. The controller of
// taints says whom it deletes, by name alone, and the scheduler said where the pod was
// (kubernetes/kubernetes, pkg/controller/tainteviction/taint_eviction.go, and pkg/scheduler/schedule_one.go).
func EvictedFrom(events []corev1.Event, pods []corev1.Pod) (nodes []string) {
	gone := map[string]bool{}
	for i := range events {
		if e := &events[i]; e.Reason == "TaintManagerEviction" {
			gone[e.InvolvedObject.Name] = !strings.HasPrefix(e.Message, cancelled)
		}
	}
	for i := range pods {
		delete(gone, pods[i].Name)
	}
	for i := range events {
		e := &events[i]
		if e.Reason != "Scheduled" || !gone[e.InvolvedObject.Name] {
			continue
		}
		if at := strings.LastIndex(e.Message, " to "); at >= 0 && !slices.Contains(nodes, e.Message[at+4:]) {
			nodes = append(nodes, e.Message[at+4:])
		}
	}
	return nodes
}
