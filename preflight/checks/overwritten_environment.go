package checks

import (
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var overwrittenEnvironment = &check.Check{
	Name:     "overwritten-environment",
	Title:    "the operator overwrites a variable that the job sets",
	Doc:      readme("overwritten-environment"),
	Remedy:   "Remove the variable, or give it another name if the program needs its own value.",
	Severity: finding.Note, Since: "0.1",
	Kinds: []string{"PyTorchJob"},
	Run: func(p *check.Pass) error {
		if p.Job.Role("Master") == nil {
			return nil // without a master the operator sets none of these
		}
		for i := range p.Job.Roles {
			r := &p.Job.Roles[i]
			for k, c := range r.Pod.Spec.Containers {
				for n, e := range c.Env {
					if slices.Contains(setByTrainingOperator, e.Name) && e.ValueFrom == nil {
						p.Reportf(r.Pod.At(job.Path("containers").Index(k).Child("env").Index(n)), "sets %s to %q in %s; the operator appends its own value, which wins", e.Name, e.Value, r.Name)
					}
				}
			}
		}
		return nil
	},
}

// setByTrainingOperator is appended after the job's own environment; of two equal names the
// last wins (training-operator v1.9.3 pkg/controller.v1/pytorch/envvar.go).
var setByTrainingOperator = []string{"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"}
