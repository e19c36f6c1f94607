package names

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var frameworkRoleTwice = &check.Check{
	Name:     "framework-role-twice",
	Title:    "two task roles have one name",
	Remedy:   "Give every task role a name of its own.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"Framework.frameworkcontroller.microsoft.com"},
	Run: func(p *check.Pass) {
		for _, t := range facts.Twins(p.Job, "spec.taskRoles", "name") {
			p.Reportf(t.At, "roles %d and %d are both called %q: their pods would have the same names", t.First, t.Second, t.Name)
		}
	},
}
