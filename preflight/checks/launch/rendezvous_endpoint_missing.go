package launch

import (
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var rendezvousEndpointMissing = &check.Check{
	Name:     "rendezvous-endpoint-missing",
	Title:    "the pods are not told where to meet",
	Remedy:   "Write --rdzv-endpoint with the name and port of the first pod.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		if p.Job.Field("spec.elasticPolicy") != nil {
			return // the operator sets PET_RDZV_ENDPOINT
		}
		for r := range p.Job.EachRole() {
			l := &r.Launch
			c, _ := r.Trainer()
			if c == nil || l.Program != "torchrun" || !slices.Contains([]string{"c10d", "etcd", "etcd-v2"}, l.Backend) || l.Has("rdzv-endpoint", "standalone") {
				continue
			}
			if nodes, known := facts.NodesOf(p.Job, r); !known || nodes < 2 || p.Job.MaxPods() < 2 || facts.Sets(c, "PET_RDZV_ENDPOINT", "PET_STANDALONE") {
				continue
			}
			p.Reportf(l.Path, "torchrun of %s runs with --rdzv-backend=%s but without an endpoint: each of the %s waits at its own localhost", r.Name, l.Backend, facts.Count(p.Job.MaxPods(), "pod"))
		}
	},
}
