package launch

import (
	"fmt"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var nodeRankMissing = &check.Check{
	Name:     "node-rank-missing",
	Title:    "every pod starts as node 0",
	Remedy:   "Write --rdzv-backend=c10d and --rdzv-endpoint, or give every pod its own --node-rank.",
	Severity: finding.Error, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.World == kinds.WorldOfJob || o.World == kinds.WorldOfPod },
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		if beside := p.Operator.EnvBeside; beside != "" && p.Job.Role(beside) != nil || p.Job.Field("spec.elasticPolicy") != nil {
			return // the operator sets PET_NODE_RANK, or PET_RDZV_BACKEND
		}
		for r := range p.Job.EachRole() {
			l := &r.Launch
			c, _ := r.Trainer()
			nodes, known := facts.NodesOf(p.Job, r)
			if c == nil || l.Program != "torchrun" || !known || nodes < 2 || r.Replicas.Max < 2 {
				continue
			}
			if l.Has("node-rank", "standalone") || !slices.Contains([]string{"", "static"}, l.Backend) || l.Has("rdzv-backend") && l.Backend == "" {
				continue
			}
			if facts.Sets(c, "PET_NODE_RANK", "PET_RDZV_BACKEND", "PET_STANDALONE") {
				continue
			}
			f := finding.Finding{Path: l.Path}
			told, beside := fmt.Sprintf("torchrun runs with --nnodes=%d but without --node-rank", nodes), p.Operator.EnvBeside
			if beside != "" && l.NodesPath == "" { // the number that is quoted is not written in the job
				told = fmt.Sprintf("the operator tells torchrun of %d nodes, and of a --node-rank only beside a %s", nodes, beside)
				f.Remedy = fmt.Sprintf("Make one of the pods a %s, or write --rdzv-backend=c10d and --rdzv-endpoint.", beside)
			}
			f.Message = fmt.Sprintf("%s: the %s all start as rank 0 and wait for each other", told, facts.Count(r.Replicas.Max, "pod"))
			p.Report(f)
		}
	},
}
