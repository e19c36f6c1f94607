package names

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var typeGivenTwice = &check.Check{
	Name:     "type-given-twice",
	Title:    "two elements say what replicas of one type run",
	Remedy:   "Keep one element for each type.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.TypeLists != nil },
	Run: func(p *check.Pass) {
		for _, list := range p.Operator.TypeLists {
			all, _ := p.Job.Field(list).([]any)
			first := map[string]int{}
			for k := range all {
				at := list.Index(k).Child("type")
				name, ok := facts.Text(p.Job, at)
				if !ok {
					continue
				}
				if other, twice := first[name]; twice {
					p.Reportf(at, "type %q stands in elements %d and %d; which of them counts, the manual does not say", name, other, k)
					continue
				}
				first[name] = k
			}
		}
	},
}
