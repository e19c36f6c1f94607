package lifecycle

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var immutableFieldChanged = &check.Check{
	Name:     "immutable-field-changed",
	Title:    "the change is to a field that stays as it was created",
	Remedy:   "Put the old value back, or delete the job and create it with the new one.",
	Severity: finding.Error, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.Fixed != nil },
	Needs: check.Update,
	Run: func(p *check.Pass) {
		for _, f := range p.Operator.Fixed {
			if f.WhileRunning && (p.Old.Suspended || p.Job.Suspended) {
				continue
			}
			was, is := p.Old.Field(f.At), p.Job.Field(f.At)
			if was == nil && is == f.Default || is == nil && was == f.Default {
				continue // the default, written out
			}
			if where, was, is, changed := firstDifference(f.At, was, is); changed {
				p.Reportf(where, "%s %s, but may not change: %s", f.At, facts.Changed(where, was, is), f.Reason)
			}
		}
	},
}
