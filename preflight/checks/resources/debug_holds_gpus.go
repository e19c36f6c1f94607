package resources

import (
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var debugHoldsGPUs = &check.Check{
	Name:     "debug-holds-gpus",
	Title:    "debug mode holds GPUs and trains nothing",
	Remedy:   "Switch debug mode off when the environment is right, or debug without GPUs.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"ColossalAIJob.batch.tensorstack.dev"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		const at = job.Path("spec.runMode.debug.enabled")
		gpus := p.Job.GPUs()
		switch on, _ := p.Job.Field(at).(bool); {
		case on && gpus > 0 && p.Job.Suspended:
			p.ReportAs(finding.Finding{Path: at, Severity: finding.Note, Remedy: "Switch pause off to debug, or debug mode off to train when the job resumes."},
				"debug mode is on, and so is pause: no pods start until %s is false", strings.TrimPrefix(p.Operator.Hold, "spec.runMode."))
		case on && gpus > 0:
			p.Reportf(at, "debug mode is on: no training starts, and %s hold %s", facts.Count(p.Job.MaxPods(), "pod"), facts.Count(gpus, "GPU"))
		}
	},
}
