package network

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var rdmaWithoutIPCLock = &check.Check{
	Name:     "rdma-without-ipc-lock",
	Title:    "a container uses RDMA and may not lock memory",
	Remedy:   "Add the capability IPC_LOCK to the container's securityContext.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		facts.EachContainer(p.Job, func(r *job.Role, c *corev1.Container, rel job.Path) {
			device := rdma(c)
			if device == "" || locksMemory(c) || r.Pod.Partial {
				return
			}
			amount := c.Resources.Limits[device]
			p.Reportf(r.Pod.At(rel.Child("resources", "limits").Key(string(device))), "%s asks for %s %s without the capability IPC_LOCK: it locks only as much memory as the runtime allows", facts.Whose(c.Name, r.Name), amount.String(), device)
		})
	},
}
