package environment

import (
	"slices"
	"strconv"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var reservedEnvironment = &check.Check{
	Name:     "reserved-environment",
	Title:    "the job sets variables that its operator sets",
	Remedy:   "Remove the variable; numNodes and numProcPerNode say the same.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"TrainJob.trainer.kubeflow.org"},
	Run: func(p *check.Pass) {
		reserved, why := reservedByRuntime(p)
		torch := "v2.2 and later reject the job, and in v2.1 this value overrules it"
		if p.Job.Field("spec.trainer.numProcPerNode") != nil {
			torch = "every version rejects the job"
		}
		for at, e := range p.Job.Elements("spec.trainer.env") {
			e, _ := e.(map[string]any)
			name, _ := e["name"].(string)
			then := torch
			switch {
			case slices.Contains(reserved, name):
				then = why
			case !slices.Contains(reservedByTrainer, name):
				continue
			}
			value := "a value"
			if s, ok := e["value"].(string); ok {
				value = strconv.Quote(s)
			}
			p.Reportf(at, "%s is set to %s, but Trainer works it out itself: %s", name, value, then)
		}
	},
}

// reservedByTrainer is what Trainer sets for torch; v2.1.0 refuses them only where
// numProcPerNode is set, v2.2.0 and later wherever spec.trainer is (pkg/constants/constants.go,
// TorchRunReservedEnvNames; pkg/runtime/framework/plugins/torch/torch.go).
var reservedByTrainer = []string{"PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT"}

// reservedByRuntime is what Trainer sets for the other frameworks, where the runtime is
// known to be of one, and what comes of setting it (v2.1.0 pkg/constants/constants.go; v2.3.0 refuses
// them, plugins mpi and xgboost; plugin jax refuses nothing, and the job's own variables are applied last).
func reservedByRuntime(p *check.Pass) (names []string, then string) {
	const refused = "v2.3 rejects the job, and before it this value overrules it"
	policy, _ := facts.Runtime(p)
	switch {
	case policy == nil:
	case policy.Field("spec.mlPolicy.mpi") != nil:
		return []string{"OMPI_MCA_orte_default_hostfile", "OMPI_MCA_orte_keep_fqdn_hostnames", "OMPI_MCA_orte_set_default_slots", "OMPI_MCA_plm_rsh_args"}, refused
	case policy.Field("spec.mlPolicy.xgboost") != nil:
		return []string{"DMLC_TRACKER_URI", "DMLC_TRACKER_PORT", "DMLC_TASK_ID", "DMLC_NUM_WORKER"}, refused
	case policy.Field("spec.mlPolicy.jax") != nil:
		return []string{"JAX_NUM_PROCESSES", "JAX_PROCESS_ID", "JAX_COORDINATOR_ADDRESS"}, "no version rejects the job, and this value overrules it in every pod"
	}
	return nil, ""
}
