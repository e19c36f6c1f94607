package names

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var roleNameInvalid = &check.Check{
	Name:     "role-name-invalid",
	Title:    "a role has a name that its pods cannot carry",
	Remedy:   "Use lower-case letters and digits, and dashes where the kind takes them.",
	Severity: finding.Error, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.RoleNames != nil },
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		if r.Name == "" || job.Templated(r.Name) || r.Pod.Partial { // that it is missing is told where it is read
			return
		}
		if form := p.Operator.RoleNames; !form.Takes(r.Name) {
			p.Reportf(r.Path, "role name %q is not valid in a %s; it takes %s", r.Name, p.Job.Ref.Kind, form.Says)
		}
	}),
}
