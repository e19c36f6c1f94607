package operators

import (
	"maps"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var operatorLabelOverwritten = &check.Check{
	Name:     "operator-label-overwritten",
	Title:    "the job sets labels that its operator writes itself",
	Remedy:   "Remove the label, or use one with a prefix of your own.",
	Severity: finding.Note, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.LabelsBy != "" },
	Run: func(p *check.Pass) {
		var places []job.Path
		var marks []job.Marks
		for r := range p.Job.EachRole() {
			places = append(places, r.Pod.Path.Parent().Child("metadata"))
			marks = append(marks, r.Pod.Marks)
		}
		own := len(places)
		if more := p.Operator.LabelsAt; more != nil {
			places = append(places, more(p.Job)...)
		}
		for i, at := range places {
			of := marks // of which role, an override does not say here
			if i < own {
				of = marks[i : i+1]
			}
			labels, _ := p.Job.Field(at.Child("labels")).(map[string]any)
			for _, key := range slices.Sorted(maps.Keys(labels)) {
				by := p.Operator.Labels[key]
				if slices.ContainsFunc(of, func(m job.Marks) bool { return writes(m, key) }) {
					by = p.Operator.LabelsBy
				}
				if by != "" {
					value, _ := labels[key].(string)
					p.Reportf(at.Child("labels").Key(key), "label %s is %s, but %s writes its own value there", key, facts.Quoted(value), by)
				}
			}
		}
	},
}

// writes says whether pods get a label from the controller that makes them.
func writes(m job.Marks, key string) bool {
	_, same := m.Labels[key]
	return same || slices.Contains(m.Varies, key) || slices.Contains(m.Some, key)
}
