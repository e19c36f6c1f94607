package checks

import (
	"slices"
	"strconv"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var reservedEnvironment = &check.Check{
	Name:     "reserved-environment",
	Title:    "the job sets variables that its operator sets",
	Doc:      readme("reserved-environment"),
	Remedy:   "Remove the variable; numNodes and numProcPerNode say the same.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"TrainJob"},
	Run: func(p *check.Pass) error {
		const env = job.Path("spec.trainer.env")
		list, _ := field(p.Job, env).([]any)
		for i, e := range list {
			e, _ := e.(map[string]any)
			name, _ := e["name"].(string)
			if !slices.Contains(reservedByTrainer, name) {
				continue
			}
			value := "a value"
			if s, ok := e["value"].(string); ok {
				value = strconv.Quote(s)
			}
			p.Reportf(env.Index(i), "sets %s to %s; Trainer works it out and either refuses the job or is overruled by this value", name, value)
		}
		return nil
	},
}

// reservedByTrainer is what Trainer sets for torch; v2.1.0 refuses them only where
// numProcPerNode is set (pkg/constants/constants.go, TorchRunReservedEnvNames).
var reservedByTrainer = []string{"PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT"}
