package bare

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// readTable reads "kubectl get pods [-A] [-o wide]": the header, then rows.
func (t *text) readTable(s string) bool {
	words := strings.Fields(s)
	if slices.Contains(words, "NAME") && slices.Contains(words, "STATUS") && slices.Contains(words, "READY") {
		t.columns, t.about = words, nil
		return true
	}
	if t.columns == nil {
		return false
	}
	name, ready, status := slices.Index(t.columns, "NAME"), slices.Index(t.columns, "READY"), slices.Index(t.columns, "STATUS")
	if len(words) <= status || !strings.Contains(words[ready], "/") {
		t.columns = nil
		return false
	}
	pod := t.newPod(words[name])
	if node := slices.Index(t.columns, "NODE"); node >= 0 {
		pod.Spec.NodeName = nodeColumn(words, node-status)
	}
	t.about = &thing{kind: "pod", namespace: t.namespace, name: pod.Name}
	if n := slices.Index(t.columns, "NAMESPACE"); n >= 0 {
		t.about.namespace = words[n]
	}
	if pod.Spec.NodeName != "" {
		t.about.nodes = []string{pod.Spec.NodeName}
	}
	t.setStatus(pod, words[status], words[ready], s)
	if n := slices.Index(t.columns, "RESTARTS"); n >= 0 && n < len(words) && pod.Status.Phase == corev1.PodPending && len(pod.Status.ContainerStatuses) == 1 {
		if restarts, err := strconv.ParseInt(words[n], 10, 32); err == nil { // "5 (2m ago)": the number stands first
			pod.Status.ContainerStatuses[0].RestartCount = int32(restarts)
		}
	}
	t.part.Pods = append(t.part.Pods, *pod)
	return true
}

// readNodes reads "kubectl get nodes [-o wide]": the header, then rows. Only a node's word about
// itself is in them: Ready, NotReady or Unknown, and whether it is cordoned
// (kubernetes/kubernetes, pkg/printers/internalversion, printNode).
func (t *text) readNodes(s string) bool {
	words := strings.Fields(s)
	if slices.Contains(words, "NAME") && slices.Contains(words, "STATUS") && slices.Contains(words, "AGE") && slices.Contains(words, "VERSION") {
		t.nodes, t.columns, t.about = words, nil, nil
		return true
	}
	if t.nodes == nil {
		return false
	}
	name, status := slices.Index(t.nodes, "NAME"), slices.Index(t.nodes, "STATUS")
	if len(words) < len(t.nodes) || name > status {
		t.nodes = nil
		return false
	}
	ready, _, _ := strings.Cut(words[status], ",")
	is, known := map[string]corev1.ConditionStatus{"Ready": corev1.ConditionTrue, "NotReady": corev1.ConditionFalse, "Unknown": corev1.ConditionUnknown}[ready]
	if !known {
		t.nodes = nil
		return false
	}
	node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: words[name], Annotations: map[string]string{}}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: is, Reason: ready}}
	t.origin(node.Annotations, "condition.Ready", s)
	t.about = &thing{kind: "node", name: node.Name}
	t.part.Nodes = append(t.part.Nodes, node)
	return true
}

// nodeColumn finds the node in a row of the wide table: the word behind the IP, because a
// restart count such as "3 (5m ago)" shifts the columns.
func nodeColumn(words []string, _ int) string {
	for i, w := range words {
		if strings.Count(w, ".") == 3 && i+1 < len(words) && words[i+1] != "<none>" {
			return words[i+1]
		}
	}
	return ""
}

// setStatus reads the STATUS column, which is a phase, a reason of the pod, or a reason of
// one of its containers (kubernetes/kubernetes, pkg/printers/internalversion, printPod).
func (t *text) setStatus(pod *corev1.Pod, status, ready, line string) {
	pod.Status.Phase = corev1.PodRunning
	waiting := func(reason string) {
		pod.Status.Phase = corev1.PodPending
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}}
		t.origin(pod.Annotations, ".waiting", line)
	}
	ended := func(code int32, reason string) {
		pod.Status.Phase = corev1.PodFailed
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}}}}
		t.origin(pod.Annotations, ".state", line)
	}
	status = strings.TrimPrefix(status, "Init:")
	switch {
	case status == "Running":
		have, want, _ := strings.Cut(ready, "/")
		if have == want {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}
	case status == "Pending", status == "ContainerCreating", status == "PodInitializing", strings.Contains(status, "/"):
		pod.Status.Phase = corev1.PodPending
	case status == "Completed", status == "Succeeded":
		pod.Status.Phase = corev1.PodSucceeded
	case status == "Terminating": // how it is about its containers is not said
		pod.Status.Phase = corev1.PodUnknown
	case status == "Unknown": // of a pod that is being deleted from a node that does not answer
		pod.Status.Phase, pod.Status.Reason = corev1.PodUnknown, "NodeLost"
		t.origin(pod.Annotations, "message", line)
	case status == "OOMKilled":
		ended(137, status)
	case strings.HasPrefix(status, "ExitCode:"):
		n, err := strconv.ParseInt(strings.TrimPrefix(status, "ExitCode:"), 10, 32)
		if err != nil {
			n = 1
		}
		ended(int32(n), "Error")
	case status == "Error":
		ended(1, status)
	case isWaiting(status), status == "InvalidImageName", status == "RunContainerError":
		waiting(status)
	default:
		pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, status
		t.origin(pod.Annotations, "message", line)
	}
}
