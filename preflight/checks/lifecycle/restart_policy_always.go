package lifecycle

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var restartPolicyAlways = &check.Check{
	Name:     "restart-policy-always",
	Title:    "pods that end well are started again",
	Remedy:   "Write restartPolicy OnFailure or Never.",
	Severity: finding.Warning, Refuses: true, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.Jobs != nil || o.RestartPolicies != nil },
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		if p.Operator.Jobs != nil {
			if r.Pod.Spec.RestartPolicy == corev1.RestartPolicyAlways {
				p.ReportAs(finding.Finding{Severity: finding.Error, Path: r.Pod.At("restartPolicy")},
					"restartPolicy of %s is Always; a Job takes only OnFailure and Never", r.Name)
			}
			return
		}
		at := r.Path.Child("restartPolicy")
		if policy, _ := facts.Text(p.Job, at); policy == "Always" && facts.EndDecides(p.Job, r) {
			p.Reportf(at, "restartPolicy of %s is Always: a container that ends well is started again, and the job never succeeds", r.Name)
		}
	}),
}
