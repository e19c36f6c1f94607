package cluster

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Autoscaler is what may add nodes to the cluster; empty: none was seen. Where there is
// one, what does not fit on the nodes there are may fit on nodes to come.
func (s *Snapshot) Autoscaler() string {
	if s == nil {
		return ""
	}
	return s.autoscaler
}

// Kinds and names by which a cluster shows that nodes can be added to it:
// Karpenter's NodePool (https://karpenter.sh/docs/concepts/nodepools/) and the status
// that the cluster-autoscaler writes
// (https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md, "Where can I find the status").
var (
	NodePoolKind     = schema.GroupKind{Group: "karpenter.sh", Kind: "NodePool"}
	provisioning     = schema.GroupKind{Group: "autoscaling.x-k8s.io", Kind: "ProvisioningRequest"}
	configMap        = schema.GroupKind{Kind: "ConfigMap"}
	autoscalerStatus = [2]string{"kube-system", "cluster-autoscaler-status"}
)

// KarpenterNodePool is the label of nodes that Karpenter made: the name of their pool.
const KarpenterNodePool = "karpenter.sh/nodepool"

// growth is what a node says about the autoscaler that adds nodes like it.
type growth uint8

const (
	byNobody growth = iota
	byKarpenter
	byClusterAutoscaler
)

const karpenter, clusterAutoscaler = "Karpenter", "the cluster-autoscaler"

func growthOf(n *corev1.Node) growth {
	if _, ok := n.Labels[KarpenterNodePool]; ok {
		return byKarpenter
	}
	for key := range n.Annotations {
		if strings.HasPrefix(key, "cluster-autoscaler.kubernetes.io/") {
			return byClusterAutoscaler
		}
	}
	return byNobody
}

// autoscalerIn is the autoscaler, as far as objects show; empty: none was seen.
func autoscalerIn(all Objects) string {
	if all[NodePoolKind].length() > 0 {
		return karpenter
	}
	if all[provisioning].length() > 0 {
		return clusterAutoscaler
	}
	for range all[configMap].called(autoscalerStatus[0], autoscalerStatus[1]) {
		return clusterAutoscaler
	}
	return ""
}

// autoscalerOf is the autoscaler of the cluster; empty: none was seen.
func autoscalerOf(objects string, nodes *marks) string {
	switch {
	case objects == karpenter || nodes.karpenter > 0:
		return karpenter
	case objects != "" || nodes.cluster > 0:
		return clusterAutoscaler
	default:
		return ""
	}
}
