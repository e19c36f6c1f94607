package launch

import (
	"cmp"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var trainsAlone = &check.Check{
	Name:     "trains-alone",
	Title:    "torchrun is told nothing about the other pods",
	Remedy:   "Write --nnodes and --rdzv-endpoint, or --standalone if each pod is meant to train alone.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.World == kinds.WorldOfPod },
	Needs: check.Whole,
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		c, k := r.Trainer()
		if c == nil || r.Replicas.Max < 2 || r.Launch.Program != "torchrun" || r.Launch.Has("nnodes", "standalone") {
			return
		}
		if facts.Sets(c, "PET_NNODES", "nnodes") || !meansToJoin(r, facts.Sets(c, "MASTER_ADDR", "WORLD_SIZE")) {
			return
		}
		at := cmp.Or(r.Launch.Path, r.Pod.At(job.Path("containers").Index(k)))
		p.Reportf(at, "torchrun runs without --nnodes, so each of the %s trains alone", facts.Count(r.Replicas.Max, "pod"))
	}),
}

// meansToJoin says whether the pods of a role are to find each other: they have a name of
// the network in common, or an address of the first. A row of pods without either may well
// be as many trainings.
func meansToJoin(r *job.Role, told bool) bool {
	return told || r.Launch.Rendezvous != "" || r.Pod.Spec.Subdomain != ""
}
