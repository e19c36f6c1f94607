package capacity

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// waiting describes pods of others that wait for a place too: they take no room, and
// may be served first. Empty: there are none.
func (s *Snapshot) waiting(g Gang) string {
	pods, sum := 0, job.Resources{}
	for namespace, records := range s.podsIn {
		for _, p := range records.waiting {
			if namespace == g.Namespace && g.Own != nil {
				if _, own := g.Own(p.object); own {
					continue
				}
			}
			pods++
			for _, a := range p.requests {
				sum[a.name] = plus(sum[a.name], a.n)
			}
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

// Kinds and names by which a cluster shows that nodes can be added to it:
// Karpenter's NodePool (https://karpenter.sh/docs/concepts/nodepools/) and the status
// that the cluster-autoscaler writes
// (https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md, "Where can I find the status").
var (
	nodePool         = schema.GroupKind{Group: "karpenter.sh", Kind: "NodePool"}
	configMap        = schema.GroupKind{Kind: "ConfigMap"}
	autoscalerStatus = [2]string{"kube-system", "cluster-autoscaler-status"}
)

// Node labels that only an autoscaler writes.
const karpenterNodePool = "karpenter.sh/nodepool"

// autoscalerOf says who may add nodes to the cluster; empty: nobody was seen.
func autoscalerOf(s *Snapshot) string {
	cluster := false
	for key := range s.objects {
		switch {
		case key.gvk.GroupKind() == nodePool:
			return "Karpenter"
		case key.gvk.GroupKind() == configMap && key.namespace == autoscalerStatus[0] && key.name == autoscalerStatus[1]:
			cluster = true
		}
	}
	for _, n := range s.nodes {
		if _, ok := n.Labels[karpenterNodePool]; ok {
			return "Karpenter"
		}
		for key := range n.object.Annotations {
			cluster = cluster || strings.HasPrefix(key, "cluster-autoscaler.kubernetes.io/")
		}
	}
	if cluster {
		return "the cluster-autoscaler"
	}
	return ""
}

func countFunc[T any](of []T, is func(T) bool) int {
	n := 0
	for _, v := range of {
		if is(v) {
			n++
		}
	}
	return n
}
