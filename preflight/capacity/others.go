package capacity

import (
	"fmt"
	"maps"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// waiting describes pods of others that wait for a place too: they take no room, and
// may be served first. Empty: there are none.
func (s *Snapshot) waiting(g Gang) string {
	pods, sum := 0, job.Resources{}
	count := func(n int, asked job.Resources) {
		pods += n
		for name, n := range asked {
			sum[name] = saturate.Add(sum[name], n)
		}
	}
	for namespace, there := range s.podsIn {
		if namespace == g.Namespace && g.Own != nil {
			count(there.askedByOthers(g))
		} else {
			count(there.asked())
		}
	}
	if pods == 0 {
		return ""
	}
	text := many(pods, "pod of others waits", "pods of others wait") + " for a place too"
	for _, name := range sum.Names() {
		if job.AcceleratorUnit(name) != job.NotAccelerator {
			return fmt.Sprintf("%s (%s); not counted", text, amountText(name, sum[name]))
		}
	}
	return text + "; not counted"
}

// askedByOthers is asked without the pods of the gang.
func (r *podsView) askedByOthers(g Gang) (pods int, sum job.Resources) {
	var scratch corev1.Pod
	pods, all := r.asked()
	sum = maps.Clone(all)
	for p := range r.waiting(hashesOf(g.OwnLabels)) {
		if _, own := g.Own(p.seen(&scratch)); !own {
			continue
		}
		pods--
		for _, a := range p.requests {
			if sum[a.name] < math.MaxInt64 { // a sum that saturated stays so
				sum[a.name] -= a.n
			}
		}
	}
	maps.DeleteFunc(sum, func(_ corev1.ResourceName, n int64) bool { return n == 0 })
	return pods, sum
}

// Kinds and names by which a cluster shows that nodes can be added to it:
// Karpenter's NodePool (https://karpenter.sh/docs/concepts/nodepools/) and the status
// that the cluster-autoscaler writes
// (https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md, "Where can I find the status").
var (
	nodePool         = schema.GroupKind{Group: "karpenter.sh", Kind: "NodePool"}
	provisioning     = schema.GroupKind{Group: "autoscaling.x-k8s.io", Kind: "ProvisioningRequest"}
	configMap        = schema.GroupKind{Kind: "ConfigMap"}
	autoscalerStatus = [2]string{"kube-system", "cluster-autoscaler-status"}
)

// Node labels that only an autoscaler writes.
const karpenterNodePool = "karpenter.sh/nodepool"

// growth is what a node says about who adds nodes like it.
type growth uint8

const (
	byNobody growth = iota
	byKarpenter
	byClusterAutoscaler
)

const karpenter, clusterAutoscaler = "Karpenter", "the cluster-autoscaler"

func growthOf(n *corev1.Node) growth {
	if _, ok := n.Labels[karpenterNodePool]; ok {
		return byKarpenter
	}
	for key := range n.Annotations {
		if strings.HasPrefix(key, "cluster-autoscaler.kubernetes.io/") {
			return byClusterAutoscaler
		}
	}
	return byNobody
}

// autoscalerIn says who may add nodes, as far as objects show; empty: nobody was seen.
func autoscalerIn(all objects) string {
	if all[nodePool].length() > 0 {
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

// autoscalerOf says who may add nodes to the cluster; empty: nobody was seen.
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
