package launch

import (
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var joinedArgument = &check.Check{
	Name:     "joined-argument",
	Title:    "a flag and its value are written as one word",
	Remedy:   "Write flag and value as two elements of the list, or join them by =.",
	Severity: finding.Error, Since: "0.1",
	Run: func(p *check.Pass) {
		for r := range p.Job.EachRole() {
			l := &r.Launch
			if len(l.Glued) == 0 {
				continue
			}
			first := l.Glued[0]
			flag := strings.Fields(first.Text)[0]
			p.Reportf(first.Path, "%s gets %s as one word, but its flag is %s%s", l.Program, facts.Quoted(first.Text), flag, facts.AndMore(len(l.Glued)))
		}
	},
}
