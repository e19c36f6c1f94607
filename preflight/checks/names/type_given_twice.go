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
			for _, t := range facts.Twins(p.Job, list, "type") {
				p.Reportf(t.At, "type %q stands in elements %d and %d; which of them counts, the manual does not say", t.Name, t.First, t.Second)
			}
		}
	},
}
