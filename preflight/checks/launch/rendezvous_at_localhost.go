package launch

import (
	"net/netip"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Each agent of torchrun takes localhost for itself and serves a store of its own there:
// https://github.com/pytorch/pytorch/blob/main/torch/distributed/elastic/rendezvous/utils.py
var rendezvousAtLocalhost = &check.Check{
	Name:     "rendezvous-at-localhost",
	Title:    "the pods are told to meet at localhost, and each has its own",
	Remedy:   "Write the name of the first pod, as the operator makes it, or leave the address out where the operator sets it.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Whole,
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		l := &r.Launch
		if l.RendezvousPath == "" || l.Has("standalone") || !loopback(l.Rendezvous) {
			return
		}
		if nodes, known := facts.NodesOf(p.Job, r); known && nodes > 1 && p.Job.MaxPods() > 1 {
			p.Reportf(l.RendezvousPath, "%s of %s waits for %d nodes at %s, which is another place in each of the %s",
				l.Program, r.Name, nodes, l.Rendezvous, facts.Count(p.Job.MaxPods(), "pod"))
		}
	}),
}

// loopback says that an address, with or without a port, is the pod's own.
func loopback(address string) bool {
	host := strings.TrimPrefix(address, "tcp://")
	if at, err := netip.ParseAddrPort(host); err == nil {
		return at.Addr().IsLoopback()
	}
	if at, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return at.IsLoopback()
	}
	name, _, _ := strings.Cut(host, ":")
	return name == "localhost"
}
