package network

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var rdmaSwitchedOff = &check.Check{
	Name:     "rdma-switched-off",
	Title:    "the job asks for RDMA and tells NCCL not to use it",
	Remedy:   "Remove NCCL_IB_DISABLE, or do not ask for the device.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		facts.EachVariable(p.Job, func(r *job.Role, c *corev1.Container, e *corev1.EnvVar, at job.Path) {
			device := rdma(c)
			if value, ok := facts.Literal(e); !ok || e.Name != "NCCL_IB_DISABLE" || value != "1" || device == "" {
				return
			}
			amount := c.Resources.Limits[device]
			p.Reportf(at, "NCCL_IB_DISABLE is 1 in %s, which asks for %s %s and does not use it", facts.Whose(c.Name, r.Name), amount.String(), device)
		})
	},
}
