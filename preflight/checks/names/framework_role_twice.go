package names

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var frameworkRoleTwice = &check.Check{
	Name:     "framework-role-twice",
	Title:    "two task roles have one name",
	Remedy:   "Give every task role a name of its own.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"Framework.frameworkcontroller.microsoft.com"},
	Run: func(p *check.Pass) {
		const roles = job.Path("spec.taskRoles")
		list, _ := p.Job.Field(roles).([]any)
		first := map[string]int{}
		for i := range list {
			at := roles.Index(i).Child("name")
			name, ok := facts.Text(p.Job, at)
			if !ok {
				continue
			}
			if other, twice := first[name]; twice {
				p.Reportf(at, "roles %d and %d are both called %q: their pods would have the same names", other, i, name)
				continue
			}
			first[name] = i
		}
	},
}
