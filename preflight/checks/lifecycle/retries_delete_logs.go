package lifecycle

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var retriesDeleteLogs = &check.Check{
	Name:     "retries-delete-logs",
	Title:    "the last failed try deletes its pod and the log",
	Remedy:   "Write restartPolicy Never: every failed try then stays as a pod with its log.",
	Severity: finding.Note, Since: "0.1",
	Kinds: []string{"Job.batch"},
	Run: func(p *check.Pass) {
		r := p.Job.Role("pod")
		if r == nil || r.Pod.GPUs().N == 0 || r.Pod.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
			return
		}
		const at = job.Path("spec.backoffLimit")
		tries, written := facts.Number(p.Job, at)
		if !written {
			tries = 6 // the API's default, k8s.io/api batch/v1 JobSpec
		}
		p.Reportf(r.Pod.At("restartPolicy"), "restartPolicy is OnFailure and backoffLimit %d: after the last try the pod is deleted together with the log of the failure", tries)
	},
}
