package cluster

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// nodePoolObject is what of Karpenter's NodePool is read: what nodes it makes and how
// much of them (https://karpenter.sh/docs/concepts/nodepools/).
type nodePoolObject struct {
	Spec struct {
		Template struct {
			Metadata struct {
				Labels map[string]string `json:"labels"`
			} `json:"metadata"`
			Spec struct {
				Requirements []corev1.NodeSelectorRequirement `json:"requirements"`
				Taints       []corev1.Taint                   `json:"taints"`
			} `json:"spec"`
		} `json:"template"`
		Limits corev1.ResourceList `json:"limits"`
	} `json:"spec"`
	Status struct {
		Resources corev1.ResourceList `json:"resources"`
	} `json:"status"`
}

// NodePool is a NodePool, read.
type NodePool struct {
	Name         string
	Requirements map[string][]corev1.NodeSelectorRequirement // by key
	Taints       []corev1.Taint
	Limits, used job.Resources
}

// pool sorts what the object says.
func (o *nodePoolObject) pool(name string) *NodePool {
	t := &o.Spec.Template
	p := &NodePool{
		Name: name, Taints: t.Spec.Taints, Requirements: map[string][]corev1.NodeSelectorRequirement{},
		Limits: job.ResourcesOf(o.Spec.Limits), used: job.ResourcesOf(o.Status.Resources),
	}
	for _, r := range t.Spec.Requirements {
		p.Requirements[r.Key] = append(p.Requirements[r.Key], r)
	}
	for key, value := range t.Metadata.Labels {
		p.Requirements[key] = append(p.Requirements[key], corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}})
	}
	// The label by which its nodes are known.
	p.Requirements[KarpenterNodePool] = []corev1.NodeSelectorRequirement{{Key: KarpenterNodePool, Operator: corev1.NodeSelectorOpIn, Values: []string{name}}}
	return p
}

// PoolsKnown says that the node pools in the view are all there is to say about nodes to
// come.
func (s *Snapshot) PoolsKnown() bool {
	if s.autoscaler != karpenter || s.rules == nil || len(s.rules.Pools) == 0 || !s.Holds(ResourceOf(NodePoolKind.WithVersion(""))) {
		return false
	}
	_, status := s.objects[configMap].Get(Name{autoscalerStatus[0], autoscalerStatus[1], "v1"})
	return !status && s.objects[provisioning].length() == 0 // or another one may add nodes too
}
