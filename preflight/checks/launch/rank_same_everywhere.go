package launch

import (
	"slices"
	"strconv"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var rankSameEverywhere = &check.Check{
	Name:     "rank-same-everywhere",
	Title:    "all pods of a role are told the same rank",
	Remedy:   "Take the rank from the index of the pod, or let the operator set it.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		for r := range p.Job.EachRole() {
			l := &r.Launch
			rank, err := strconv.Atoi(l.NodeRank.Text)
			if err != nil || r.Replicas.Max < 2 || l.Nodes.Max < 2 || !slices.Contains([]string{"", "static"}, l.Backend) {
				continue
			}
			p.Reportf(l.NodeRank.Path, "%s runs with --node-rank=%d in all %s: they all join as that node", l.Program, rank, facts.PodsOf(r))
			return // the variable that it may come from is the same mistake
		}
		for r, e := range facts.EachVariable(p.Job) {
			rank, ok := facts.WholeNumber(e.EnvVar)
			if !ok || r.Replicas.Max < 2 || !slices.Contains(rankVariables, e.Name) || facts.Overwritten(p.Job, r, e.In, e.Name) || facts.Mentions(e.In, e.Name+"=") {
				continue
			}
			if e.Name == "RANK" && slices.Contains([]string{"torchrun", "deepspeed", "accelerate", "composer", "mpirun"}, r.Launch.Program) {
				continue // the launcher sets it for the processes that it starts
			}
			p.ReportAs(finding.Finding{Severity: finding.Warning, Path: e.At},
				"%s is %d in all %s, and must differ from pod to pod", e.Name, rank, facts.PodsOf(r))
		}
	},
}

// rankVariables tell a process or a pod which one it is: torch.distributed, torchrun,
// accelerate, JAX (jax.distributed.initialize), XGBoost's tracker.
var rankVariables = []string{"RANK", "NODE_RANK", "PET_NODE_RANK", "GROUP_RANK", "MACHINE_RANK", "PROCESS_ID", "JAX_PROCESS_ID", "DMLC_TASK_ID"}
