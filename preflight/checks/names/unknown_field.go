package names

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var unknownField = &check.Check{
	Name:     "unknown-field",
	Title:    "a field or role that the kind does not have",
	Remedy:   "Correct the name or move the field; as it is, it has no effect.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		for _, u := range p.Job.Unread {
			message := u.String()
			switch {
			case u.Kind == job.RuntimeFieldUnknown || u.Kind == job.RuntimeFieldNewer:
			// What the server once wrote into metadata is found in every dump and harms nobody.
			case u.NotAField() && u.Path != "metadata.clusterName":
				message = facts.LastStep(u.Path) + " is " + message
			default:
				continue
			}
			f := finding.Finding{Path: u.Path, Message: message, Named: u.NotAField()}
			switch u.Kind {
			case job.FieldMisspelt, job.RoleMisspelt:
				if len(u.Args) == 1 { // of several that are equally near, none is meant for sure
					f.Meant = u.Args[0]
				}
				if u.Kind == job.RoleMisspelt {
					f.Severity, f.Remedy = finding.Error, "Correct the name: no pod of a role of another name is made."
				}
			case job.FieldNewer, job.RuntimeFieldNewer:
				f.Remedy = "Correct the name or move the field, unless the version in the cluster is newer: every other one drops it."
			case job.RoleUnlisted:
				f.Remedy = "Correct the name if it is a slip: the operator makes the pods of this role all the same."
			default:
			}
			p.Report(f)
		}
	},
}
