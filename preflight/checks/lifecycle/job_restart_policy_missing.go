package lifecycle

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var jobRestartPolicyMissing = &check.Check{
	Name:     "job-restart-policy-missing",
	Title:    "a Job says nothing about restarts, which the API does not take",
	Remedy:   "Write restartPolicy: Never, or OnFailure, in the pod template.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"Job.batch"},
	Needs: check.Whole,
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		if r.Pod.Spec.RestartPolicy == "" && len(r.Pod.Spec.Containers) > 0 {
			p.Reportf(r.Pod.At(""), "restartPolicy is missing and counts as Always; a Job takes only OnFailure and Never")
		}
	}),
}
