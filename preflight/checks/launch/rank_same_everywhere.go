package launch

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
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
		facts.EachVariable(p.Job, func(r *job.Role, c *corev1.Container, e *corev1.EnvVar, at job.Path) {
			rank, ok := facts.WholeNumber(e)
			if !ok || r.Replicas.Max < 2 || !slices.Contains(rankVariables, e.Name) || facts.Overwritten(p.Job, r, c, e.Name) || facts.Mentions(c, e.Name+"=") {
				return
			}
			if e.Name == "RANK" && slices.Contains([]string{"torchrun", "deepspeed", "accelerate", "composer", "mpirun"}, r.Launch.Program) {
				return // the launcher sets it for the processes that it starts
			}
			p.ReportAs(finding.Finding{Severity: finding.Warning, Path: at},
				"%s is %d in all %s, and must differ from pod to pod", e.Name, rank, facts.PodsOf(r))
		})
	},
}

// rankVariables tell a process or a pod which one it is: torch.distributed, torchrun,
// accelerate, JAX (jax.distributed.initialize), XGBoost's tracker.
var rankVariables = []string{"RANK", "NODE_RANK", "PET_NODE_RANK", "GROUP_RANK", "MACHINE_RANK", "PROCESS_ID", "JAX_PROCESS_ID", "DMLC_TASK_ID"}
