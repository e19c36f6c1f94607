package resources

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var launcherAsksForGPUs = &check.Check{
	Name:     "launcher-asks-for-gpus",
	Title:    "the launcher holds GPUs that it does not use",
	Remedy:   "Remove the GPUs from the launcher.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.Has(kinds.Launcher) },
	Run: func(p *check.Pass) {
		if works, _ := p.Job.Field("spec.runLauncherAsWorker").(bool); works {
			return
		}
		launcher, worker := p.Operator.Role(p.Job, kinds.Launcher), p.Operator.Role(p.Job, kinds.Worker)
		if launcher == nil || worker == nil || worker.Replicas.Max == 0 || worker.Pod.GPUs().N == 0 {
			return
		}
		if gpus := launcher.Pod.GPUs(); gpus.N > 0 {
			p.ReportAs(finding.Finding{Path: gpus.Path, Remedy: p.Operator.Launcher},
				"the launcher asks for %d %s; it only starts and watches the %s, which have their own", gpus.N, gpus.Resource, facts.Count(worker.Replicas.Max, "worker"))
		}
	},
}
