package operators

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var rayReplicasOutOfBounds = &check.Check{
	Name:     "ray-replicas-out-of-bounds",
	Title:    "a worker group asks for more or fewer pods than its own bounds allow",
	Remedy:   "Move the bound, or write the number that is meant.",
	Severity: finding.Warning, Since: "0.2",
	Kinds: []string{"RayJob.ray.io", "RayCluster.ray.io"},
	Needs: check.Whole,
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		asked, written := facts.Number(p.Job, r.Path.Child("replicas"))
		if suspended, _ := p.Job.Field(r.Path.Child("suspend")).(bool); !written || suspended {
			return
		}
		bound := func(field string, beyond func(n int64) bool) {
			if n, ok := facts.Number(p.Job, r.Path.Child(field)); ok && beyond(n) {
				p.ReportAs(finding.Finding{Path: r.Path.Child("replicas"), Facts: []finding.Fact{{Name: "replicas", Value: asked}, {Name: "bound", Value: n}}},
					"replicas of %s is %d, and %s is %d: KubeRay makes %[4]d", r.Name, asked, field, n)
			}
		}
		bound("maxReplicas", func(n int64) bool { return asked > n })
		bound("minReplicas", func(n int64) bool { return asked < n && asked > 0 }) // 0 leaves it to the minimum
	}),
}
