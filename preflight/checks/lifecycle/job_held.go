package lifecycle

import (
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var jobHeld = &check.Check{
	Name:     "job-held",
	Title:    "the job is paused: no pods will start",
	Remedy:   "Switch pause off when the job is to run.",
	Severity: finding.Note, Since: "0.1",
	Stops: true,
	Kinds: []string{"ColossalAIJob.batch.tensorstack.dev"},
	Run: func(p *check.Pass) {
		hold := job.Path(kinds.Of(p.Job.Ref).Hold)
		if on, _ := p.Job.Field(hold).(bool); !on || !p.Job.Suspended || debugs(p.Job) {
			return // debug-holds-gpus says it there
		}
		p.Reportf(hold, "paused: no pods will start until %s is false", strings.TrimPrefix(string(hold), "spec.runMode."))
	},
}

// debugs says that the job is in debug mode and asks for GPUs.
func debugs(j *job.Job) bool {
	on, _ := j.Field("spec.runMode.debug.enabled").(bool)
	return on && j.GPUs() > 0
}
