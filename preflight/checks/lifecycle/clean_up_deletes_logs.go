package lifecycle

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var cleanUpDeletesLogs = &check.Check{
	Name:     "clean-up-deletes-logs",
	Title:    "pods and their logs are deleted when the job ends, also when it fails",
	Remedy:   "Leave the pods where they are, and let ttlSecondsAfterFinished remove them later.",
	Severity: finding.Note, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.CleanPods != nil || o.CleanWorkers != "" },
	Run: func(p *check.Pass) {
		for _, at := range p.Operator.CleanPods {
			if policy, _ := facts.Text(p.Job, at); policy == "All" {
				p.Reportf(at, "cleanPodPolicy is All: %s and their logs are deleted when the job ends, also when it fails", facts.Count(p.Job.MaxPods(), "pod"))
			}
		}
		at := p.Operator.CleanWorkers
		if clean, _ := p.Job.Field(at).(bool); clean && at != "" {
			if worker := p.Operator.Role(p.Job, kinds.Worker); worker != nil {
				p.ReportAs(finding.Finding{Path: at, Remedy: p.Operator.KeepsLogs},
					"cleanUpWorkers is true: %s and their logs are deleted when the job ends, also when it fails; only the launcher's log stays", facts.Count(worker.Replicas.Max, "worker"))
			}
		}
	},
}
