package capacity

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Selects prepares what of a pod chooses nodes by name, node selector and required node
// affinity. The answer is for nodes of a snapshot.
func Selects(spec *corev1.PodSpec) func(*Node) bool {
	required := selects(spec)
	free := len(spec.NodeSelector) == 0 && spec.Affinity == nil
	return func(n *Node) bool {
		switch {
		case spec.NodeName != "" && spec.NodeName != n.Name:
			return false
		case free:
			return true
		default:
			return n.object != nil && required(n.object)
		}
	}
}

// Untolerated is the first taint of the node, in its order, that keeps pods with these
// tolerations away; nil if there is none. Taints that come and go with the health of the
// node (node.kubernetes.io/…) do not count.
func (n *Node) Untolerated(tolerations []corev1.Toleration) *corev1.Taint {
	for _, t := range n.Taints {
		if transient(t.Key) {
			continue
		}
		if found := untolerated([]corev1.Taint{t}, tolerations); found != nil {
			return found
		}
	}
	return nil
}

// transient taints are set by the node controller from the node's conditions
// (https://kubernetes.io/docs/reference/labels-annotations-taints/, read 2026-07).
func transient(key string) bool {
	return len(key) > len(healthTaints) && key[:len(healthTaints)] == healthTaints
}

const healthTaints = "node.kubernetes.io/"

// Autoscaler is who may add nodes to the cluster; empty: nobody was seen. Where there is
// one, what does not fit on the nodes there are may fit on nodes to come.
func (s *Snapshot) Autoscaler() string {
	if s == nil {
		return ""
	}
	return s.autoscaler
}

// Requested is what one pod of the template takes: what the reader worked out, else what
// the spec says.
func Requested(p job.Pod) job.Resources {
	if len(p.Requests) > 0 {
		return p.Requests
	}
	return Effective(&p.Spec)
}
