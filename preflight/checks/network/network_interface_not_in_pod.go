package network

import (
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
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
			if ok && !inPod(e.Name, value) && onlyPodNetwork(r) && !privileged(e.In) {
				p.Reportf(e.At, "%s is %q, but the pods of %s have only the interface eth0", e.Name, value, r.Name)
			}
		}
		for launcher, c := range p.Job.EachContainer() {
			before := ""
			facts.EachWord(c.Container, func(word string, at job.Path) {
				name, value, set := strings.Cut(word, "=")
				if export := before == "-x"; export && set && !strings.ContainsAny(value, `$'"`) && !inPod(name, value) && onlyPodNetworks(p.Job) {
					p.Reportf(launcher.Pod.At(c.Rel.Join(at)), "mpirun sets %s to %q, but the pods have only the interface eth0", name, value)
				}
				before = word
			})
		}
	},
}

// inPod says of a variable that names interfaces whether the one of the pod's network is among them; so it is of all others.
func inPod(name, value string) bool {
	switch name {
	case "NCCL_SOCKET_IFNAME":
		return value == "" || ncclTakes(value, podInterface)
	case "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME":
		return value == "" || strings.Contains(","+value+",", ","+podInterface+",")
	}
	return true
}

// onlyPodNetworks says that no pod of the job has another interface.
func onlyPodNetworks(j *job.Job) bool {
	for r, c := range j.EachContainer() {
		if !onlyPodNetwork(r) || privileged(c.Container) {
			return false
		}
	}
	return true
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
