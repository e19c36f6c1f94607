package names

import (
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var roleMisspelt = &check.Check{
	Name:     "role-misspelt",
	Title:    "a role is written in another case than the operator takes",
	Remedy:   "Write the role as the operator spells it.",
	Severity: finding.Error, Since: "0.1",
	Run: check.EachUnread(func(p *check.Pass, u job.Unread) {
		p.Reportf(u.Path, "role %q must be written %q; the operator rejects any other case", strings.Trim(facts.LastStep(u.Path), `"`), u.Args[0])
	}, job.RoleSpelling),
}
