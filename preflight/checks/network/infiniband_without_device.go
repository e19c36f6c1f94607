package network

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var infinibandWithoutDevice = &check.Check{
	Name:     "infiniband-without-device",
	Title:    "NCCL is told which adapters to use, and the pod has none",
	Remedy:   "Ask for the RDMA resource that the nodes offer, or remove NCCL_IB_HCA.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		if p.Job.MaxPods() < 2 {
			return
		}
		for r, e := range facts.EachVariable(p.Job) {
			value, ok := facts.Literal(e.EnvVar)
			if !ok || e.Name != "NCCL_IB_HCA" || value == "" || r.Pod.Partial || privileged(e.In) {
				continue
			}
			if off, _ := facts.Variable(e.In, "NCCL_IB_DISABLE"); off != nil && off.Value != "0" {
				continue
			}
			if len(otherDevices(e.In)) > 0 || len(e.In.Resources.Claims) > 0 || seesAdapters(&r.Pod.Spec) || !onlyPodNetwork(r) {
				continue
			}
			p.Reportf(e.At, "NCCL_IB_HCA is %s, but %s asks for no RDMA device: NCCL falls back to TCP without a word", facts.Quoted(value), facts.Whose(e.In.Name, r.Name))
		}
	},
}

// seesAdapters says whether the pod has the adapters' device files from its node.
func seesAdapters(spec *corev1.PodSpec) bool {
	return slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool {
		return v.HostPath != nil && (strings.HasPrefix(v.HostPath.Path, "/dev") || v.HostPath.Path == "/")
	})
}
