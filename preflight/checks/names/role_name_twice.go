package names

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var roleNameTwice = &check.Check{
	Name:     "role-name-twice",
	Title:    "two groups of pods have one name",
	Remedy:   "Give each of them a name of its own.",
	Severity: finding.Error, Refuses: true, Since: "0.2",
	Kinds: []string{"JobSet.jobset.x-k8s.io", "Job.batch.volcano.sh", "RayCluster.ray.io", "RayJob.ray.io"},
	Run: func(p *check.Pass) {
		first := map[string]job.Path{}
		for r := range p.Job.EachRole() {
			for _, field := range []string{"name", "groupName"} {
				at := r.Path.Child(field)
				name, written := facts.Text(p.Job, at)
				if !written {
					continue
				}
				if other, twice := first[name]; twice {
					p.Reportf(at, "%q is the name of %s, too: pods are found by the name of their role", name, other)
					continue
				}
				first[name] = r.Path
			}
		}
	},
}
