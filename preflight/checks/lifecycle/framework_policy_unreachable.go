package lifecycle

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var frameworkPolicyUnreachable = &check.Check{
	Name:     "framework-policy-unreachable",
	Title:    "a completion policy asks for more tasks than the role has",
	Remedy:   "Write a count of at most taskNumber, or -1 where the role is not to end the job.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"Framework.frameworkcontroller.microsoft.com"},
	Needs: check.Whole,
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		policy := r.Path.Child("frameworkAttemptCompletionPolicy")
		for _, name := range []string{"minFailedTaskCount", "minSucceededTaskCount"} {
			if n, ok := facts.Number(p.Job, policy.Child(name)); ok && n > int64(r.Replicas.Max) && r.Replicas.Max > 0 {
				p.Reportf(policy.Child(name), "%s is %d; %s has %s, so the policy is never met", name, n, r.Name, facts.Count(r.Replicas.Max, "task"))
			}
		}
	}),
}
