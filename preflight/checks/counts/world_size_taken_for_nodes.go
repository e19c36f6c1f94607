package counts

import (
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

var worldSizeTakenForNodes = &check.Check{
	Name:     "world-size-taken-for-nodes",
	Title:    "the launcher is told the number of processes where it asks for nodes",
	Remedy:   "Write $PET_NNODES, or leave --nnodes out: the operator sets it.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"PyTorchJob.kubeflow.org"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		said, _ := facts.Text(p.Job, "spec.nprocPerNode")
		procs, err := strconv.Atoi(said)
		if err != nil || procs < 2 || p.Operator.Role(p.Job, kinds.Leader) == nil || p.Job.Field("spec.elasticPolicy") != nil {
			return
		}
		for r := range p.Job.EachRole() {
			if r.Launch.Program != "torchrun" || r.Launch.Nodes.Said() {
				continue
			}
			for _, o := range facts.OptionsOf(p.Job, r) {
				if o.Name == "nnodes" && slices.Contains([]string{"$WORLD_SIZE", "${WORLD_SIZE}", "$(WORLD_SIZE)"}, strings.Trim(o.Value, `"'`)) {
					p.Reportf(o.At, "torchrun waits for $WORLD_SIZE nodes, which is %s: %d pods with %d processes each", saturate.Text(saturate.Mul(p.Job.MaxPods(), procs)), p.Job.MaxPods(), procs)
					break
				}
			}
		}
	},
}
