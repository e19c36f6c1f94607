package cluster

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// Selects prepares what of a pod chooses nodes by name, node selector and required node
// affinity. The answer is for nodes of a snapshot.
func Selects(spec *corev1.PodSpec) func(*Node) bool {
	required := podspec.Selects(spec)
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
// tolerations away; nil if there is none. Taints that come and go with the state of the
// node do not count.
func (n *Node) Untolerated(tolerations []corev1.Toleration) *corev1.Taint {
	for _, t := range n.Taints {
		if podspec.TransientTaint(t.Key) {
			continue
		}
		if found := podspec.Untolerated([]corev1.Taint{t}, tolerations); found != nil {
			return found
		}
	}
	return nil
}
