package network

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var rdmaWithoutIPCLock = &check.Check{
	Name:     "rdma-without-ipc-lock",
	Title:    "a container uses RDMA and may not lock memory",
	Remedy:   "Add the capability IPC_LOCK to the container's securityContext.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		for r, c := range p.Job.EachContainer() {
			device := rdma(c.Container)
			if device == "" || locksMemory(c.Container) || r.Pod.Partial {
				continue
			}
			amount := c.Resources.Limits[device]
			p.Reportf(r.Pod.At(c.Rel.Child("resources", "limits").Key(string(device))), "%s asks for %s %s without the capability IPC_LOCK: it locks only as much memory as the runtime allows", facts.Whose(c.Name, r.Name), amount.String(), device)
		}
	},
}
