package lifecycle

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var restartPolicyOverwritten = &check.Check{
	Name:     "restart-policy-overwritten",
	Title:    "the restart policy of the pod template is overwritten",
	Remedy:   "Write restartPolicy beside replicas, not inside the template.",
	Severity: finding.Note, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.RestartPolicies != nil },
	Run: check.EachUnread(func(p *check.Pass, u job.Unread) {
		p.Reportf(u.Path, "restartPolicy %s", u)
	}, job.RestartPolicyOverwritten),
}
