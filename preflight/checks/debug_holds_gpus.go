package checks

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var debugHoldsGPUs = &check.Check{
	Name:     "debug-holds-gpus",
	Title:    "debug mode holds GPUs and trains nothing",
	Doc:      readme("debug-holds-gpus"),
	Remedy:   "Switch debug mode off when the environment is right, or debug without GPUs.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"ColossalAIJob"},
	Needs: check.Whole,
	Run: func(p *check.Pass) error {
		const at = job.Path("spec.runMode.debug.enabled")
		gpus := p.Job.GPUs()
		if on, _ := field(p.Job, at).(bool); on && gpus > 0 {
			p.Reportf(at, "debug mode is on: no training starts in %s, with %s among them", count(p.Job.MaxPods(), "pod"), count(gpus, "GPU"))
		}
		return nil
	},
}
