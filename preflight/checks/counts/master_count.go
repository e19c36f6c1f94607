package counts

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var masterCount = &check.Check{
	Name:     "master-count",
	Title:    "the job does not have exactly one master",
	Remedy:   "Declare one master, and put further pods into Worker.",
	Severity: finding.Error, Refuses: true, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.Masters != nil },
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		masters, last := 0, (*job.Role)(nil)
		for r := range p.Job.EachRole() {
			if p.Operator.Part(r.Name) == kinds.Leader {
				masters, last = masters+r.Replicas.Max, r
			}
		}
		switch want := p.Operator.Masters; {
		case last == nil && want.Required && len(p.Job.Roles) > 0:
			p.Reportf(p.Job.Roles[0].Path.Parent(), "the job has no Master; the operator requires exactly one")
		case last != nil && want.Least == want.Most && masters != want.Most:
			p.Reportf(last.ReplicasPath, "the job has %d Masters; the operator requires exactly one", masters)
		case last != nil && masters > want.Most:
			p.Reportf(last.ReplicasPath, "Chief and Master have %d pods together; the operator takes at most one", masters)
		}
	},
}
