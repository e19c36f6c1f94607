package network

import (
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var networkInterfaceNotInPod = &check.Check{
	Name:     "network-interface-not-in-pod",
	Title:    "the job names a network interface that its pods do not have",
	Remedy:   "Name eth0, or remove the variable; for another network ask for one, or for the host's.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		if p.Job.MaxPods() < 2 {
			return // within one pod nothing goes over the network
		}
		for r, e := range facts.EachVariable(p.Job) {
			value, ok := facts.Literal(e.EnvVar)
			if !ok || value == "" || !onlyPodNetwork(r) || privileged(e.In) {
				continue
			}
			switch e.Name {
			case "NCCL_SOCKET_IFNAME":
				ok = ncclTakes(value, podInterface)
			case "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME":
				ok = strings.Contains(","+value+",", ","+podInterface+",")
			}
			if !ok {
				p.Reportf(e.At, "%s is %q, but the pods of %s have only the interface eth0", e.Name, value, r.Name)
			}
		}
	},
}

// podInterface is what the container runtimes call the interface of a pod's network, for
// every plugin (https://github.com/containerd/containerd internal/cri/server, defaultIfName;
// https://github.com/cri-o/ocicni, defaultInterfaceName).
const podInterface = "eth0"

// ncclTakes says whether NCCL_SOCKET_IFNAME lets an interface be used: prefixes, =exact
// names, or ^exclusions (https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html).
func ncclTakes(value, name string) bool {
	if excluded, ok := strings.CutPrefix(value, "^"); ok {
		return !ncclTakes(excluded, name)
	}
	exact := strings.HasPrefix(value, "=")
	for prefix := range strings.SplitSeq(strings.TrimPrefix(value, "="), ",") {
		if prefix == name || !exact && prefix != "" && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
