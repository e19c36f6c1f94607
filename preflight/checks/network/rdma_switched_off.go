package network

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var rdmaSwitchedOff = &check.Check{
	Name:     "rdma-switched-off",
	Title:    "the job asks for RDMA and tells NCCL not to use it",
	Remedy:   "Remove NCCL_IB_DISABLE, or do not ask for the device.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		for r, e := range facts.EachVariable(p.Job) {
			device := rdma(e.In)
			if value, ok := facts.Literal(e.EnvVar); !ok || e.Name != "NCCL_IB_DISABLE" || value != "1" || device == "" {
				continue
			}
			amount := e.In.Resources.Limits[device]
			p.Reportf(e.At, "NCCL_IB_DISABLE is 1 in %s, which asks for %s %s and does not use it", facts.Whose(e.In.Name, r.Name), amount.String(), device)
		}
	},
}
